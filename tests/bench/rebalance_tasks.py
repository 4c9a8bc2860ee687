"""What executors did in a phase of `rebalance`: sums as the agent has them, and each task as Spark's own pages tell it.

Read at the end of a phase (`look` of :mod:`bench.rebalance_stage`); the parts that compare with Lever's paper judge it.
"""

import datetime
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from bench import rebalance_stage
from demo import streamjobs
from house import trouble
from sluice.values import names

UI_PORT = 4040
RETAINED = {"spark.ui.retainedStages": "200", "spark.sql.ui.retainedExecutions": "50"}  # pages and heap stay small
_BATCH = re.compile(r"^batch = (\d+)$", re.MULTILINE)
_SUMS = {
    "rows": "sluice_executor_input_rows_total",
    "run_s": "sluice_executor_run_seconds_total",
    "lost_s": "sluice_executor_lost_seconds_total",
    "cpu_s": "sluice_executor_cpu_seconds_total",
}
_TIME = "%Y-%m-%dT%H:%M:%S.%fGMT"


def nodes(job: streamjobs.Job) -> dict[str, str]:
    """Where each executor is, by its number."""
    return {pod["metadata"]["name"].rsplit("-", 1)[1]: pod["spec"]["nodeName"] for pod in job.running(names.EXECUTOR)}


def sums(job: streamjobs.Job, query: str) -> dict[str, Any]:
    """How many batches, seconds in `addBatch`, and by executor its rows, its time in tasks and its CPU time."""
    fields = {name: field for field, name in _SUMS.items()}
    found: dict[str, Any] = {"batches": 0, "add_s": 0.0, "executors": {}}
    for sample in rebalance_stage.samples_of(job, query):
        if sample.name == "sluice_query_batches_total":
            found["batches"] = sample.value
        elif sample.name == "sluice_query_part_seconds_total" and sample.labels["part"] == "addBatch":
            found["add_s"] = sample.value
        elif sample.name in fields:
            found["executors"].setdefault(sample.labels["executor"], {})[fields[sample.name]] = sample.value
    return found


def idle(found: Mapping[str, Any], executor: str) -> float:
    """Which part of its batches an executor with one slot had no task."""
    part = found["executors"].get(executor, {"run_s": 0.0, "lost_s": 0.0})
    return float(max(0.0, 1 - (part["run_s"] + part["lost_s"]) / found["add_s"]))


def used(found: Mapping[str, Any]) -> float:
    """Equation 10 of Lever's paper: time in tasks by cores and time of batches."""
    return _sum(found, "run_s") / len(found["executors"]) / float(found["add_s"])


def busy_cores(found: Mapping[str, Any]) -> float:
    """CPU time of all tasks by time of batches."""
    return _sum(found, "cpu_s") / float(found["add_s"])


def ran_s(found: Mapping[str, Any]) -> float:
    """A batch's tasks, all together, those that were beaten by another attempt among them."""
    return (_sum(found, "run_s") + _sum(found, "lost_s")) / float(found["batches"])


def _sum(found: Mapping[str, Any], field: str) -> float:
    return float(sum(part[field] for part in found["executors"].values()))


def scans(job: streamjobs.Job, query: str) -> list[dict[str, Any]]:
    """The last batches' tasks that read the input: batch, executor, rows, seconds, place, and how long it waited."""
    (application,) = json.loads(rebalance_stage.page(job, UI_PORT, "api/v1/applications"))
    path = f"api/v1/applications/{application['id']}/stages?status=complete&details=true"
    found = list(read(json.loads(rebalance_stage.page(job, UI_PORT, path)), query))
    if not found:
        raise trouble.Trouble(f"Spark's pages tell of no task of {query} that has read rows")
    return found


def read(stages: Sequence[Mapping[str, Any]], query: str) -> Iterator[dict[str, Any]]:
    """Those tasks, of stages as Spark's REST interface has them."""
    for stage in stages:
        said = stage.get("description") or ""
        batch = _BATCH.search(said)
        if batch is None or said.splitlines()[0] != query:
            continue
        begun = _moment(stage["submissionTime"])
        for task in stage["tasks"].values():
            metrics = task.get("taskMetrics") or {}
            rows = metrics.get("inputMetrics", {}).get("recordsRead", 0)
            if task["status"] == "SUCCESS" and rows:
                yield {
                    "batch": int(batch[1]), "executor": task["executorId"], "rows": rows,
                    "run_s": metrics["executorRunTime"] / 1000, "locality": task["taskLocality"],
                    "waited_s": (_moment(task["launchTime"]) - begun).total_seconds(),
                }  # fmt: skip


def _moment(text: str) -> datetime.datetime:
    return datetime.datetime.strptime(text, _TIME).replace(tzinfo=datetime.UTC)
