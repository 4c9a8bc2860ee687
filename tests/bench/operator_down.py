"""No operator at all: the agent beside a real driver opens the gates of its executors. A real job on the real nodes.

The operator is killed as soon as it has made the driver's pod: Spark needs seconds until its first executor.
"""

import math
import signal
from typing import Any

import yaml

from bench import ledger, operator_api, operator_process, operator_stage, outcome
from bench.operator_api import Body
from house import paths, shell
from testbed import binaries, cluster, images, versions

_EXAMPLE = paths.ROOT / "crds" / "examples" / "wordcount.yaml"
_CHART = paths.ROOT / "charts" / "sluice"
_ROLE_NAME = "bench-driver"  # one called as the chart has it would keep helm from installing
_ROLE = (
    *("template", "sluice", _CHART, "--kube-version", versions.KUBERNETES),
    *("--set", f"image.repository=none,driverRole.name={_ROLE_NAME}", "--show-only", "templates/driver-role.yaml"),
)
_DRIVER_S, _EXECUTORS_S, _OPEN_S = 60.0, 180.0, 120.0


def run(book: ledger.Ledger) -> outcome.Outcome:
    """One run."""
    found = book.once("down", _played)
    bar = outcome.Bar("operator-down-gate-s", found["longest_s"], 45)
    row = (str(found["executors"]), f"{found['longest_s']:.1f}", str(found["running"]))
    header = ("executors", "longest at the gate, s", "running at the end")
    title = f"The operator is dead before {_EXAMPLE.stem} has its executors: its agent opens the gates"
    return outcome.Outcome((outcome.Table(title, header, (row,)),), (bar,))


def _played() -> Body:
    """A process has no chart beside it, but a real driver needs what the chart allows it."""
    testbed = cluster.Cluster()
    role = shell.read(binaries.OTHERS.directory / "helm", *_ROLE)
    testbed.kubectl("apply", "-f", "-", text=role)
    try:
        return operator_stage.play(0, _measure)
    finally:
        testbed.kubectl("delete", "-f", "-", text=role)


async def _measure(stage: operator_stage.Stage) -> Body:
    testbed = cluster.Cluster()
    job, claim = _example()
    start = stage.start(SLUICE_AGENT_IMAGE=images.AGENT.ref(), SLUICE_DRIVER_ROLE=_ROLE_NAME)
    async with operator_process.running(start) as operator:
        testbed.kubectl("-n", operator_stage.NAMESPACE, "apply", "-f", "-", text=yaml.safe_dump_all([job, claim]))
        await operator_api.until("the driver's pod is made", lambda: bool(stage.seen.drivers()), _DRIVER_S)
        operator.send(signal.SIGKILL)
    wanted = job["spec"]["executors"]["count"]
    seen = stage.seen
    await operator_api.until("executors appear", lambda: len(seen.executors()) >= wanted, _EXECUTORS_S)
    opened = await operator_api.within(lambda: all(not pod.gated for pod in seen.executors()), _OPEN_S)
    waits_s = [pod.open_s - pod.added_s for pod in seen.executors() if pod.open_s is not None]
    await operator_api.within(lambda: all(pod.running for pod in seen.executors()), _OPEN_S)
    return {
        "executors": len(seen.executors()),
        "longest_s": max(waits_s) if opened else math.inf,
        "running": sum(pod.running for pod in seen.executors()),
    }


def _example() -> tuple[Any, Any]:
    """The StreamJob of a file of examples, and its volume claim."""
    found = {body["kind"]: body for body in yaml.safe_load_all(_EXAMPLE.read_text())}
    return found["StreamJob"], found["PersistentVolumeClaim"]
