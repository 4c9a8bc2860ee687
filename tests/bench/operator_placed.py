"""Whether executors sit where the plan said, read back from the API; and that a full cluster keeps none at its gate.

The plan is the annotation of the pod, written with the gate's removal; the truth is the node that it is bound to.
"""

import functools
import math
from typing import Any

from bench import (
    ledger,
    operator_api,
    operator_jobs,
    operator_latency,
    operator_process,
    operator_seen,
    operator_stage,
    outcome,
)
from bench.operator_api import Body

_JOBS, _EACH = 60, 8
_NODES = 12  # of 32 cores: 89 % of them are asked for
_CPU = "700m"
_MOST_PER_NODE = 3
_POLICIES = ("consolidate", "stromax", "turbostream")
_DEADLINE_S = 120.0
_FULL_NODES, _FULL_EXECUTORS, _FULL_CPU = 5, 20, "20"  # one fits on each node
_FULL_DEADLINE_S = 90.0


def run(book: ledger.Ledger) -> outcome.Outcome:
    """A crowd that just fits, and one that does not."""
    crowd = book.once("placed", functools.partial(operator_stage.play, _NODES, _crowd))
    full = book.once("full", functools.partial(operator_stage.play, _FULL_NODES, _full))
    return _outcome(operator_latency.measured(book), crowd, full)


async def _crowd(stage: operator_stage.Stage) -> Body:
    async with operator_process.running(stage.start()):
        stage.spark()
        await stage.create(_crowded(number) for number in range(_JOBS))
        seen = stage.seen
        await operator_api.within(lambda: sum(pod.running for pod in seen.executors()) == _JOBS * _EACH, _DEADLINE_S)
        return seen.compared()


def _crowded(number: int) -> Body:
    more: dict[str, Any] = {"maxPerNode": _MOST_PER_NODE} if number % 2 else {}
    job = operator_jobs.streamjob(f"crowd-{number:02d}", _EACH, _CPU, **more)
    return operator_jobs.with_policy(job, _POLICIES[number % len(_POLICIES)])


async def _full(stage: operator_stage.Stage) -> Body:
    """More executors than there is room for: those that find none leave their gate all the same."""
    async with operator_process.running(stage.start()):
        stage.spark()
        await stage.create([operator_jobs.streamjob("full", _FULL_EXECUTORS, _FULL_CPU)])
        seen = stage.seen
        await operator_api.within(lambda: _open(seen) == _FULL_EXECUTORS, _FULL_DEADLINE_S)
        waits_s = [pod.open_s - pod.added_s for pod in seen.executors() if pod.open_s is not None]
        whole = len(waits_s) >= _FULL_EXECUTORS and _open(seen) == len(seen.executors())
        return {"longest_s": max(waits_s) if whole else math.inf, **seen.compared()}


def _open(seen: operator_seen.Seen) -> int:
    return sum(not pod.gated for pod in seen.executors())


def _outcome(early: Body, crowd: Body, full: Body) -> outcome.Outcome:
    header = ("", "executors", "sent to a node", "are there", "gate opened without a node, for instance")
    runs = {"one job a second": early, "60 jobs at once, 89 % of the CPU": crowd, "no room for 15 of 20": full}
    rows = tuple(
        (name, str(f["executors"]), str(f["sent"]), str(f["as_planned"]), "; ".join(f["opened"][:1]))
        for name, f in runs.items()
    )
    wanted = early["executors"] + crowd["executors"]
    there = early["as_planned"] + crowd["as_planned"]
    expected = crowd["executors"] == _JOBS * _EACH
    bars = (
        outcome.Bar("operator-executors-as-planned-pct", 100 * there / wanted if expected else 0, 100, at_least=True),
        outcome.Bar("operator-cluster-full-gate-s", full["longest_s"], 45),
    )
    return outcome.Outcome((outcome.Table("Executors where the plan said", header, rows),), bars)
