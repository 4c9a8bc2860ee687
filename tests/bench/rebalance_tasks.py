"""What executors did in a phase of `rebalance`: sums as the agent has them, and each task as Spark's own pages tell it.

Asked as a phase ends (`follow` of :mod:`bench.rebalance_stage`): five minutes later the agent has forgotten its query.
The parts of the bench judge it.
"""

import datetime
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from prometheus_client import parser

from demo import streamjobs
from house import trouble
from sluice.values import names

_AGENT_PORT, _UI_PORT = 7080, 4040
RETAINED = {"spark.ui.retainedStages": "200", "spark.sql.ui.retainedExecutions": "50"}  # pages and heap stay small
Sums = Mapping[str, Any]  # of a query; JSON holds it
_BATCH = re.compile(r"^batch = (\d+)$", re.MULTILINE)
_SUMS = {
    "batches": "sluice_query_batches_total",
    "batch": "sluice_query_batch_id",
    "all_s": "sluice_query_batch_seconds_sum",
    "add_s": "sluice_query_part_seconds_total",  # of Spark's parts this one is enough
    "own_s": "sluice_query_measuring_seconds_total",
    "rows": "sluice_executor_input_rows_total",
    "run_s": "sluice_executor_run_seconds_total",
    "lost_s": "sluice_executor_lost_seconds_total",
    "cpu_s": "sluice_executor_cpu_seconds_total",
}
_FIELDS = {name: field for field, name in _SUMS.items()}
_TIME = "%Y-%m-%dT%H:%M:%S.%fGMT"


def nodes(job: streamjobs.Job) -> dict[str, str]:
    """Where each executor is, by Spark's number for it."""
    pods = job.running(names.EXECUTOR)
    return {pod["metadata"]["labels"]["spark-exec-id"]: pod["spec"]["nodeName"] for pod in pods}


def weights(status: Mapping[str, Any]) -> dict[str, float]:
    """What the operator's orders give each executor; none where it shifts nothing."""
    ordered = status["orders"]["drivers"][status["driver"]["pod"]]
    found: dict[str, float] = ordered.get("balance", {}).get("weights", {})
    return found


def sums(job: streamjobs.Job, query: str) -> Sums:
    """How many batches, the last one, seconds of all, in `addBatch` and of our own; by executor rows and seconds."""
    families = parser.text_string_to_metric_families(_page(job, _AGENT_PORT, "metrics"))
    mine = (one for family in families for one in family.samples if one.labels.get("query") == query)
    found: dict[str, Any] = {"executors": {}}
    for one in mine:
        if one.name in _FIELDS and one.labels.get("part", "addBatch") == "addBatch":
            executor = one.labels.get("executor")
            place = found["executors"].setdefault(executor, {}) if executor else found
            place[_FIELDS[one.name]] = one.value
    if "batches" not in found:
        raise trouble.Trouble(f"the agent tells nothing of {query}")
    return found


def cpu_s(found: Sums) -> float:
    """CPU time of a batch's tasks."""
    return total(found, "cpu_s") / float(found["batches"])


def own_share(found: Sums) -> float:
    """Which part of its batches' time measuring and cutting took."""
    return float(found["own_s"] / found["all_s"])


def idle(found: Sums, executor: str) -> float:
    """Which part of its batches an executor with one slot had no task."""
    part = found["executors"].get(executor, {"run_s": 0.0, "lost_s": 0.0})
    return float(max(0.0, 1 - (part["run_s"] + part["lost_s"]) / found["add_s"]))


def used(found: Sums) -> float:
    """Equation 10 of Lever's paper: time in tasks by cores and time of batches."""
    return total(found, "run_s") / len(found["executors"]) / float(found["add_s"])


def busy_cores(found: Sums) -> float:
    """CPU time of all tasks by time of batches."""
    return total(found, "cpu_s") / float(found["add_s"])


def ran_s(found: Sums) -> float:
    """A batch's tasks, all together, those that were beaten by another attempt among them."""
    return (total(found, "run_s") + total(found, "lost_s")) / float(found["batches"])


def total(found: Sums, field: str) -> float:
    """Of all executors together."""
    return float(sum(part[field] for part in found["executors"].values()))


def scans(job: streamjobs.Job, query: str) -> list[dict[str, Any]]:
    """The last batches' tasks that read the input: batch, executor, rows, seconds, place, and how long it waited."""
    (application,) = json.loads(_page(job, _UI_PORT, "api/v1/applications"))
    path = f"api/v1/applications/{application['id']}/stages?status=complete&details=true"
    found = list(read(json.loads(_page(job, _UI_PORT, path)), query))
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


def _page(job: streamjobs.Job, port: int, path: str) -> str:
    """What the driver's pod answers, through the API server."""
    pod = job.status()["driver"]["pod"]
    return job.kube.kubectl("get", "--raw", f"/api/v1/namespaces/{job.namespace}/pods/{pod}:{port}/proxy/{path}")


def _moment(text: str) -> datetime.datetime:
    return datetime.datetime.strptime(text, _TIME).replace(tzinfo=datetime.UTC)
