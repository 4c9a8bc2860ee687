"""Executors are replaced one by one under load: how much still comes through meanwhile."""

import functools
import time
from collections.abc import Mapping
from typing import Any

from bench import ledger, outcome, redeploy_stage
from demo import flow, plain_spark, streamjobs
from sluice.values import names

_EXECUTORS = 4
_WINDOW_S = 10
_PATIENCE_S = 900


def run(book: ledger.Ledger) -> outcome.Outcome:
    """One roll of all executors, remembered."""
    executors = {"count": _EXECUTORS, "template": streamjobs.template(names.EXECUTOR_CONTAINER)}
    found = book.once("rolling", functools.partial(measure, redeploy_stage.RELAY, executors))
    shares = sorted(found["shares"])
    rows = (
        (
            str(found["took_s"]),
            str(len(shares)),
            f"{shares[0]:.2f}",
            f"{shares[len(shares) // 2]:.2f}",
            *(str(found[word]) for word in ("failed", "records", "lost", "repeated")),
        ),
    )
    header = (
        "s until all are new", "windows of 10 s", "least share of the offered that arrived", "median", "failed batches",
        "records", "lost", "repeated",
    )  # fmt: skip
    bars = (
        outcome.Bar("rolling-least-share-of-offered", shares[0], 0.7, at_least=True),
        outcome.Bar("rolling-failed-batches", found["failed"], 0),
        outcome.Bar("rolling-records-lost-or-repeated", found["lost"] + found["repeated"], 0),
    )
    title = (
        f"`relay` under {redeploy_stage.RECORDS_S} records a second, its {_EXECUTORS} executors given another template"
    )
    return outcome.Outcome((outcome.Table(title, header, rows),), bars)


def measure(kind: redeploy_stage.Kind, executors: Mapping[str, Any]) -> dict[str, Any]:
    """One roll of all of them, as the job's spec has them."""
    with redeploy_stage.running(kind, executors=executors) as (job, load):
        drivers = job.uids(names.DRIVER)
        blue = {**executors["template"], "metadata": {"labels": {"colour": "blue"}}}
        began_s = time.time()
        job.change(executors={"template": blue})
        plain_spark.until("all are blue", lambda: _are_blue(job, executors["count"]), _PATIENCE_S)
        ended_s = time.time()
        failed = len(job.uids(names.DRIVER) ^ drivers) + sum(
            one["phase"] != "running" for one in job.status()["queries"]
        )
        arrived = flow.arrived(job.kube, load, redeploy_stage.SINK)
        return {
            "took_s": round(ended_s - began_s),
            "shares": _shares(arrived, began_s, ended_s),
            "failed": failed,
            **arrived.counted(),
        }


def _are_blue(job: streamjobs.Job, count: int) -> bool:
    pods = job.running(names.EXECUTOR)
    return len(pods) == count and all(pod["metadata"]["labels"].get("colour") == "blue" for pod in pods)


def _shares(arrived: flow.Arrived, began_s: float, ended_s: float) -> list[float]:
    """Of each whole window of the roll."""
    offered = _WINDOW_S * redeploy_stage.RECORDS_S
    starts = [began_s + n * _WINDOW_S for n in range(int((ended_s - began_s) // _WINDOW_S))]
    moments_s = [at_ms / 1000 for at_ms, _ in arrived.records]
    return [sum(start <= at_s < start + _WINDOW_S for at_s in moments_s) / offered for start in starts]
