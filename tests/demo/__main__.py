"""``make demo``: a plain Spark job on a real cluster, watched. Until there is an operator, this places its executors.

It shows what an operator has to do: executors wait behind a gate, someone decides where each goes, and an executor that
is lost comes back behind the gate.
"""

import sys
import time
from collections.abc import Callable

from demo import plain_spark
from house import trouble
from testbed import target

_NAMESPACE = "demo"
_BATCHES = 8
_JOB = plain_spark.Job("clicks", plain_spark.RATE, conf=plain_spark.S3)


def main() -> int:
    """Runs the demo; trouble is one sentence."""
    try:
        _show(target.connect())
    except trouble.Trouble as why:
        print(f"demo: {why}", file=sys.stderr)
        return 1
    return 0


def _show(kube: target.Target) -> None:
    began_s = time.monotonic()

    def say(text: str) -> None:
        print(f"{time.monotonic() - began_s:6.1f} s  {text}", flush=True)

    nodes = _real_nodes(kube)
    say("a Spark job is submitted: a driver pod, and two executors behind a gate")
    kube.kubectl("delete", "namespace", _NAMESPACE, "--ignore-not-found")
    kube.kubectl("create", "namespace", _NAMESPACE)
    plain_spark.empty_bucket(kube)
    plain_spark.submit(kube, _NAMESPACE, _JOB)
    _place(kube, nodes[:2], say)
    _watch(kube, -1, say)
    lost = _names(kube)[0]
    say(f"executor {lost} is deleted, as a lost node would do it")
    kube.kubectl("-n", _NAMESPACE, "delete", "pod", lost)
    _place(kube, nodes[2:] or nodes[:1], say)
    _watch(kube, plain_spark.progress(kube, _NAMESPACE, _JOB)[-1]["batch"], say)
    say(f"it runs on; `kubectl -n {_NAMESPACE} logs -f {_JOB.driver()}` watches it")
    if not kube.own:
        print("\nNext: `PYTHONPATH=tests python3 -m testbed slow node2 20%` slows a node; watch the batches grow.")
        print("Then: `make down` ends all of it.")


def _place(kube: target.Target, nodes: list[str], say: Callable[[str], None]) -> None:
    def gated() -> list[str] | None:
        found = [p for p in plain_spark.executors(kube, _NAMESPACE, _JOB) if plain_spark.is_gated(p)]
        return [_name(pod) for pod in found] if len(found) >= len(nodes) else None

    waiting = plain_spark.until(f"{len(nodes)} executors at the gate", gated)
    for pod, node in zip(waiting, nodes, strict=True):
        say(f"{pod} waits at the gate; it goes to {node}")
        plain_spark.lift(kube, _NAMESPACE, pod, node)


def _watch(kube: target.Target, told: int, say: Callable[[str], None]) -> None:
    """Says batches as they come, until enough of them ran on both executors."""
    full = 0
    end_s = time.monotonic() + 180
    while full < _BATCHES:
        for batch in plain_spark.progress(kube, _NAMESPACE, _JOB):
            number = batch["batch"]
            if number > told:
                told = number
                full += batch["executors"] == 2
                rows, took_ms, on = batch["rows"], batch["ms"], batch["executors"]
                say(f"batch {number:>3}: {rows:>6} rows in {took_ms:>5} ms on {on} executors")
        if time.monotonic() > end_s:
            raise trouble.Trouble(f"no batches for long: `kubectl -n {_NAMESPACE} logs {_JOB.driver()}` tells why")
        time.sleep(0.5)


def _names(kube: target.Target) -> list[str]:
    return [_name(pod) for pod in plain_spark.executors(kube, _NAMESPACE, _JOB)]


def _name(pod: dict[str, object]) -> str:
    meta = pod["metadata"]
    assert isinstance(meta, dict)
    return str(meta["name"])


def _real_nodes(kube: target.Target) -> list[str]:
    listed = kube.kubectl("get", "nodes", "-l", "type!=kwok", "-o", "jsonpath={.items[*].metadata.name}")
    return listed.split()


if __name__ == "__main__":
    sys.exit(main())
