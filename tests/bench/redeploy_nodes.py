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
    node, others = _spare()
    with redeploy_stage.running(redeploy_stage.RELAY, operator_on=others, driver={"template": _rather(node)}) as (
        job,
        load,
    ):
        (driver,) = job.pods(names.DRIVER)
        broken_ms = time.time() * 1000
        getattr(testbed, breaks)(node)
        try:
            plain_spark.until(f"{node} is not Ready", functools.partial(_is_lost, job, node), _PATIENCE_S)
            known_ms = time.time() * 1000
            plain_spark.until("another driver", functools.partial(_is_followed, job, driver), _PATIENCE_S)
            job.wait("condition=Ready")
            plain_spark.until("its batches", functools.partial(_has_batches, job), _PATIENCE_S)
        finally:
            getattr(testbed, mends)(node)
        back_ms = time.time() * 1000
        time.sleep(_BACK_S)
        found = flow.arrived(job.kube, load, redeploy_stage.SINK)
    return {
        "known_s": (known_ms - broken_ms) / 1000,
        "writes_s": (found.first_after_ms(known_ms) - known_ms) / 1000,
        "lost": found.lost, "repeated": found.repeated(), "late": found.repeated(back_ms),
    }  # fmt: skip


def _spare() -> tuple[str, str]:
    """A node without what the job itself needs, and another one, for the operator."""
    kube = target.connect()
    listed = json.loads(kube.kubectl("-n", "testbed", "get", "pods", "-o", "json"))["items"]
    busy = {pod["spec"].get("nodeName") for pod in listed}
    nodes = kube.kubectl("get", "nodes", "-o", "jsonpath={.items[*].metadata.name}").split()
    free = [name for name in nodes if name not in busy]
    if not free:
        raise trouble.Trouble(
            f"each node has something that the job needs ({', '.join(sorted(busy))}): `make down` first"
        )
    return free[0], next(name for name in nodes if name != free[0])


def _rather(node: str) -> dict[str, Any]:
    """A driver's template: there if it can be."""
    field = {"key": "metadata.name", "operator": "In", "values": [node]}
    rule = "preferredDuringSchedulingIgnoredDuringExecution"
    prefers = {"nodeAffinity": {rule: [{"weight": 100, "preference": {"matchFields": [field]}}]}}
    template = streamjobs.template(names.DRIVER_CONTAINER)
    return {"spec": {**template["spec"], "affinity": prefers}}


def _is_lost(job: streamjobs.Job, node: str) -> bool:
    found = json.loads(job.kube.kubectl("get", "node", node, "-o", "json"))["status"]["conditions"]
    return any(one["type"] == "Ready" and one["status"] != "True" for one in found)


def _is_followed(job: streamjobs.Job, old: dict[str, Any]) -> bool:
    return bool(job.status()["driver"]["pod"] != old["metadata"]["name"])


def _has_batches(job: streamjobs.Job) -> bool:
    return any(one.get("batch", -1) >= 0 and one["phase"] == "running" for one in job.status().get("queries", ()))
