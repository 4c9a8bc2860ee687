"""Prometheus gone, slow, lying, and honest: what the latency loop makes of it on the cluster.

The operator asks :mod:`bench.rebalance_liar`, which asks the testbed's own. One of three nodes is slow all the time, so
there is a reason to shift input; no lie may give one. Honest at last, the same numbers do.
"""

import contextlib
import dataclasses
import json
import time
from collections.abc import Iterator
from typing import Any

from bench import ledger, outcome, rebalance_liar, rebalance_place, rebalance_stage
from demo import streamjobs
from house import paths
from sluice.observe import pages
from sluice.plan import balancing, weights
from sluice.values import names
from testbed import cluster, images

_LIAR = paths.ROOT / "tests" / "bench" / "rebalance_liar.py"
_REAL = "http://prometheus.testbed:9090"
_NAME = "prometheus"
_PORT = rebalance_liar.PORT
_URL = f"http://{_NAME}.{rebalance_place.NAMESPACE}:{_PORT}"
_SLOW = "15%"  # of a core
_ROWS = 200
_WAY = rebalance_stage.Way("watched", 3)  # of cutting and watching, where Sluice does neither
_ENDLESS = 1_000_000
_READY_S, _REFUSED_S, _HONEST_S = 300.0, 120.0, 600.0
_HELD_S = 3 * balancing.PERIOD_S
_MOVED = 0.9  # of an equal part
_GONE = "gone"


@dataclasses.dataclass(frozen=True)
class Lie:
    """As the liar knows it, for a reader, and a part of the sentence that is to be read in the status."""

    name: str
    about: str
    refusal: str


_LIES = (
    Lie(_GONE, "gone: nobody listens", "cannot be asked"),
    Lie("slow", "answers after 10 s", "does not answer within"),
    Lie("nonsense", "answers a web page", "makes no sense"),
    Lie("nothing", "knows nothing of the job", "has no task times of this job"),
    Lie("nan", "each number is NaN", "there is a number that is none"),
    Lie("reset", "counters are 0 again", "a count went backwards"),
    Lie("ahead", "its clock is an hour ahead", "is of the future"),
    Lie("behind", "its clock is an hour behind", "is older than"),
    Lie("job", "another job's labels", "which it was not asked for"),
    Lie("executor", "executors that nobody has", "which is none of the job's"),
)


def run(book: ledger.Ledger) -> outcome.Outcome:
    """All of it in one job, remembered."""
    found = book.once("prometheus", _measure)
    told, honest = found["lies"], found["honest"]
    rows = (
        *((lie.about, told[lie.name]["said"], "yes" if told[lie.name]["moved"] else "no") for lie in _LIES),
        ("the truth", honest["said"], f"yes, the slow one has {honest['part']:.0%} of an equal part"),
    )
    title = (
        f"One of three nodes has {_SLOW} of a core. Each lie holds for {_HELD_S:.0f} s after the loop has refused it"
    )
    bars = (
        outcome.Bar("prometheus-lies-that-shifted-input", sum(one["moved"] for one in told.values()), 0),
        outcome.Bar("prometheus-lies-refused", sum(one["refused"] for one in told.values()), len(_LIES), at_least=True),
        outcome.Bar("prometheus-truth-leaves-the-slow-one", honest["part"], _MOVED),
    )
    return outcome.Outcome((outcome.Table(title, ("Prometheus", "what status says", "shifted"), rows),), bars)


def _measure() -> dict[str, Any]:
    words = {
        "rows": _ROWS,
        "steps": rebalance_stage.STEPS,
        "root": "file:///checkpoints/watched",
        "phases": [_WAY.phase(_ENDLESS)],
    }
    latency_alone = {"mode": "Act", "lever": {"enabled": False}, "timeout": {"enabled": False}}
    with rebalance_place.stage(rebalance_stage.PROGRAM, prometheus={"url": _URL}) as stage:
        stage.apply(*_liar(stage.drivers))
        job = stage.start("watched", {"count": 3, "maxPerNode": 1}, words, rebalance=latency_alone)
        for what in (f"pod/{_NAME}", f"sj/{job.name}"):
            _kubectl(job, "wait", "--for=condition=Ready", what, f"--timeout={_READY_S:.0f}s")
        wishes = ("prometheus.io/scrape=true", f"prometheus.io/port={pages.PORT}")
        _kubectl(job, "annotate", "pod", job.status()["driver"]["pod"], *wishes)
        slow = _quiet(stage)
        with _slowed(slow):
            return {"lies": {lie.name: _lied(job, lie) for lie in _LIES}, "honest": _honest(job, slow)}


@contextlib.contextmanager
def _slowed(node: str) -> Iterator[None]:
    cluster.Cluster().slow(node, _SLOW)
    try:
        yield
    finally:
        cluster.Cluster().slow(node, "full")


def _quiet(stage: rebalance_place.Stage) -> str:
    """A node on which nothing sits that has to answer while it is slow."""
    busy = rebalance_place.nodes_of(stage.kube, "prometheus-", "coredns-")
    return next(node for node in reversed(stage.nodes) if node not in busy)


def _lied(job: streamjobs.Job, lie: Lie) -> dict[str, Any]:
    before = _weights(job)
    _begin(job, lie.name)
    began_s = time.monotonic()
    rebalance_place.seen_within(_REFUSED_S, lambda: lie.refusal in job.condition("Balanced")["message"])
    took_s = time.monotonic() - began_s
    time.sleep(_HELD_S)  # for so long it has its chance
    found = job.condition("Balanced")
    refused = found["reason"] == "Refused" and lie.refusal in found["message"]
    moved = _weights(job) != before
    if lie.name == _GONE:
        _kubectl(job, "patch", f"service/{_NAME}", "-p", _selecting(_NAME))
    print(f"prometheus, {lie.about}: {found['reason']} after {took_s:.0f} s: {found['message']}", flush=True)
    return {"said": found["message"], "refused": refused, "moved": moved}


def _honest(job: streamjobs.Job, slow: str) -> dict[str, Any]:
    """Until the slow one has clearly less than an equal part."""
    (pod,) = (pod for pod in job.running(names.EXECUTOR) if pod["spec"]["nodeName"] == slow)
    number = pod["metadata"]["name"].rpartition("-")[2]

    def part() -> float:
        found = _weights(job)
        return len(found) * found[number] if found else 1.0

    _begin(job, "honest")
    rebalance_place.seen_within(_HONEST_S, lambda: part() <= _MOVED)
    return {"said": job.condition("Balanced")["message"], "part": part()}


def _begin(job: streamjobs.Job, lie: str) -> None:
    if lie == _GONE:
        _kubectl(job, "patch", f"service/{_NAME}", "-p", _selecting("nobody"))
    else:
        _kubectl(job, "get", "--raw", f"/api/v1/namespaces/{job.namespace}/pods/{_NAME}:{_PORT}/proxy/lie/{lie}")


def _weights(job: streamjobs.Job) -> dict[str, float]:
    """Those in the orders of its driver."""
    status = job.status()
    return dict(weights.in_force(status["orders"]["drivers"][status["driver"]["pod"]]))


def _kubectl(job: streamjobs.Job, *words: str) -> str:
    return job.kube.kubectl("-n", job.namespace, *words)


def _selecting(app: str) -> str:
    return json.dumps({"spec": {"selector": {"app": app}}})


def _liar(node: str) -> tuple[dict[str, Any], ...]:
    """Its program, its pod, and the name by which the operator knows it."""
    container = {
        "name": "liar",
        "image": images.PROMETHEUS.ref(),
        "command": ["python3", f"/program/{_LIAR.name}", _REAL],
        "readinessProbe": {"tcpSocket": {"port": _PORT}, "periodSeconds": 1},
        "volumeMounts": [{"name": "program", "mountPath": "/program"}],
    }
    spec = {
        "containers": [container],
        "nodeSelector": rebalance_place.on(node),
        "terminationGracePeriodSeconds": 0,
        "volumes": [{"name": "program", "configMap": {"name": "liar"}}],
    }
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": _NAME, "labels": {"app": _NAME}}, "spec": spec}
    ports = {"selector": {"app": _NAME}, "ports": [{"port": _PORT}]}
    service = {"apiVersion": "v1", "kind": "Service", "metadata": {"name": _NAME}, "spec": ports}
    return rebalance_place.config_map("liar", {_LIAR.name: _LIAR.read_text()}), pod, service
