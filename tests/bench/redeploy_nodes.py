"""The driver's node dies, stands still, or is cut off, and comes back: who writes, from when, and what is repeated.

A batch in flight is done again by Spark, so records of it may arrive twice; what the returned driver writes would, too.
"""

import functools
import json
import time
from typing import Any

from bench import ledger, outcome, redeploy_stage
from demo import flow, plain_spark, streamjobs
from house import trouble
from sluice.values import names
from testbed import cluster, target

_WAYS = {"killed": ("kill", "start"), "stands still": ("freeze", "thaw"), "cut off": ("cut", "heal")}
_PATIENCE_S = 300
_BACK_S = 60  # so long the returned one is watched
# A volume of the testbed is a folder of this machine: it would be in reach of a node that is cut off.
_ON_S3 = {"location": f"s3a://{plain_spark.BUCKET}/{redeploy_stage.NAMESPACE}/relay"}
_NEEDED = ("kafka", "s3")  # of what runs on the testbed; names are moved away, Prometheus nobody asks here


def run(book: ledger.Ledger) -> outcome.Outcome:
    """Each of them, remembered."""
    found = {name: book.once(f"node {name}", functools.partial(_measure, *verbs)) for name, verbs in _WAYS.items()}
    rows = tuple(
        (
            name,
            f"{one['known_s']:.1f}",
            f"{one['writes_s']:.1f}",
            str(one["lost"]),
            str(one["repeated"]),
            str(one["late"]),
        )
        for name, one in found.items()
    )
    header = (
        "its node", "s until the cluster knows", "s from then to the next record", "lost", "repeated",
        "repeated after it came back",
    )  # fmt: skip
    bars = (
        outcome.Bar("lost-driver-writing-after-s", max(one["writes_s"] for one in found.values()), 60),
        outcome.Bar("lost-driver-records-lost", sum(one["lost"] for one in found.values()), 0),
        outcome.Bar("returned-driver-records", sum(one["late"] for one in found.values()), 0),
    )
    return outcome.Outcome((outcome.Table("A driver's node is lost under load, and comes back", header, rows),), bars)


def _measure(breaks: str, mends: str) -> dict[str, Any]:
    testbed = cluster.Cluster()
    node, other = _spare(testbed)
    spec: dict[str, Any] = {"driver": {"template": redeploy_stage.rather(node)}, "checkpoint": _ON_S3}
    with redeploy_stage.running(redeploy_stage.RELAY, operator_on=other, **spec) as (job, load):
        driver = _driver_on(job, node)
        broken_ms = time.time() * 1000
        getattr(testbed, breaks)(node)
        try:
            plain_spark.until(f"{node} is not Ready", functools.partial(_is_lost, job, node), _PATIENCE_S)
            known_ms = time.time() * 1000
            plain_spark.until("another driver", functools.partial(_is_followed, job, driver), _PATIENCE_S)
            job.wait("condition=Ready")
            plain_spark.until("its batches", functools.partial(_has_batches, job), _PATIENCE_S)
        finally:
            back_ms = time.time() * 1000
            getattr(testbed, mends)(node)
        plain_spark.until(f"{node} is Ready", lambda: not _is_lost(job, node), _PATIENCE_S)
        time.sleep(_BACK_S)
        found = flow.arrived(job.kube, load, redeploy_stage.SINK)
    return {
        "known_s": (known_ms - broken_ms) / 1000,
        "writes_s": (found.first_after_ms(known_ms) - known_ms) / 1000,
        "lost": found.lost, "repeated": found.repeated(), "late": found.repeated(back_ms),
    }  # fmt: skip


def _spare(testbed: cluster.Cluster) -> tuple[str, str]:
    """A node without what the job itself needs, and another one, for the operator."""
    kube = target.connect()
    listed = json.loads(kube.kubectl("-n", "testbed", "get", "pods", "-o", "json"))["items"]
    busy = {pod["spec"].get("nodeName") for pod in listed if pod["metadata"]["labels"].get("app") in _NEEDED}
    free = [name for name in testbed.nodes if name not in busy]
    if not free or len(testbed.nodes) < 2:
        raise trouble.Trouble(f"each of {', '.join(testbed.nodes)} has something that the job needs: `make down` first")
    _move_names(kube, free[0])
    return free[0], next(name for name in testbed.nodes if name != free[0])


def _move_names(kube: target.Target, node: str) -> None:
    """Without CoreDNS, which there is once, nobody would find Kafka or the API server."""
    of_names = ("-n", "kube-system")
    where = "jsonpath={.items[*].spec.nodeName}"
    if node not in kube.kubectl(*of_names, "get", "pods", "-l", "app=coredns", "-o", where).split():
        return
    kube.kubectl("cordon", node)
    try:
        kube.kubectl(*of_names, "rollout", "restart", "deployment/coredns")
        kube.kubectl(*of_names, "rollout", "status", "deployment/coredns", f"--timeout={_PATIENCE_S}s")
    finally:
        kube.kubectl("uncordon", node)


def _driver_on(job: streamjobs.Job, node: str) -> dict[str, Any]:
    (driver,) = job.pods(names.DRIVER)
    if driver["spec"]["nodeName"] != node:
        raise trouble.Trouble(f"{driver['metadata']['name']} went to {driver['spec']['nodeName']}, not to {node}")
    return driver


def _is_lost(job: streamjobs.Job, node: str) -> bool:
    found = json.loads(job.kube.kubectl("get", "node", node, "-o", "json"))["status"]["conditions"]
    return any(one["type"] == "Ready" and one["status"] != "True" for one in found)


def _is_followed(job: streamjobs.Job, old: dict[str, Any]) -> bool:
    return bool(job.status()["driver"]["pod"] != old["metadata"]["name"])


def _has_batches(job: streamjobs.Job) -> bool:
    return any(one.get("batch", -1) >= 0 and one["phase"] == "running" for one in job.status().get("queries", ()))
