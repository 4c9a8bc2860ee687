"""What one user waits for, at a moderate rate: their driver's pod, and each executor's gate. Read off one watch.

The executors of these jobs and those of a full house (:mod:`bench.operator_placed`) are also compared with the plan.
"""

import asyncio
import functools
import time

from bench import ledger, operator_api, operator_jobs, operator_process, operator_seen, operator_stage, outcome
from bench.operator_api import Body

JOBS, EXECUTORS = 200, 4
_NODES = 40
_EACH_S = 1.0  # a job a second: four executors a second
_DEADLINE_S = 60.0


def run(book: ledger.Ledger) -> outcome.Outcome:
    """One run."""
    return _outcome(measured(book))


def measured(book: ledger.Ledger) -> Body:
    """The run, made once."""
    found: Body = book.once("latency", functools.partial(operator_stage.play, _NODES, _measure))
    return found


async def _measure(stage: operator_stage.Stage) -> Body:
    asked_s: dict[str, float] = {}
    async with operator_process.running(stage.start()):
        stage.spark()
        async with asyncio.TaskGroup() as tasks:
            for number in range(JOBS):
                job = operator_jobs.streamjob(f"user-{number:03d}", EXECUTORS)
                asked_s[job["metadata"]["name"]] = time.monotonic()
                tasks.create_task(stage.kubectl_apply([job]))
                await asyncio.sleep(_EACH_S)
        seen = stage.seen
        await operator_api.within(lambda: _running(seen) == JOBS * EXECUTORS, _DEADLINE_S)
        return {**_waits(seen, asked_s), **seen.compared()}


def _running(seen: operator_seen.Seen) -> int:
    return sum(pod.running for pod in seen.executors())


def _waits(seen: operator_seen.Seen, asked_s: dict[str, float]) -> Body:
    return {
        "asked": [pod.added_s - asked_s[pod.job] for pod in seen.drivers()],
        "stored": [pod.added_s - seen.since_s[pod.job] for pod in seen.drivers()],
        "gate": [pod.open_s - pod.added_s for pod in seen.executors() if pod.open_s is not None],
    }


_WORDS = {
    "asked": "kubectl apply typed → driver pod made",
    "stored": "StreamJob in the API → driver pod made",
    "gate": "executor appears → gate lifted",
}


def _outcome(found: Body) -> outcome.Outcome:
    rows = tuple(
        (words, str(len(found[key])), *(f"{1e3 * operator_seen.percentile(found[key], q):.0f}" for q in (0.5, 0.99, 1)))
        for key, words in _WORDS.items()
    )
    title = f"One user's wait, ms: {JOBS} jobs of {EXECUTORS} executors, one kubectl apply a second, one CPU"
    table = outcome.Table(title, ("", "samples", "median", "p99", "longest"), rows)
    driver_s = operator_seen.percentile(found["asked"], 0.99) if len(found["asked"]) == JOBS else float("inf")
    gate_s = operator_seen.percentile(found["gate"], 0.99) if len(found["gate"]) == JOBS * EXECUTORS else float("inf")
    bars = (
        outcome.Bar("operator-apply-to-driver-pod-p99-s", driver_s, 1),
        outcome.Bar("operator-gate-lifted-p99-s", gate_s, 1),
    )
    return outcome.Outcome((table,), bars)
