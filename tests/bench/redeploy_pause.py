"""How long nothing is committed while a job is handed over, under load; beside it, what a redeploy takes without.

The pause is from the old driver's last commit to the new one's first, by the clock of the one machine both are on, less
a batch as it usually is. What arrives at the sink says how long a consumer sees nothing, for all contenders alike.
"""

import functools
import statistics
import time
from typing import Any

from bench import ledger, outcome, redeploy_stage
from demo import plain_spark, streamjobs
from sluice.values import names

_ROUNDS, _CONTROLS = 10, 3
_PATIENCE_S = 600
_AFTER_S = 20  # between two rounds


def run(book: ledger.Ledger) -> outcome.Outcome:
    """Both contenders, each remembered."""
    handed = book.once("pause handover", functools.partial(_measure, "Handover", _ROUNDS))
    control = book.once("pause recreate", functools.partial(_measure, "Recreate", _CONTROLS))
    over_ms = [ms - handed["batch_ms"] for ms in handed["pause_ms"]]
    rows = tuple(
        (name, str(len(found["gap_ms"])), *_shown(found["pause_ms"]), *_shown(found["gap_ms"]),
         f"{found['batch_ms']:.0f}", str(found["records"]), str(found["lost"]), str(found["repeated"]))
        for name, found in (("handover", handed), ("drain and restart (Recreate)", control))
    )  # fmt: skip
    header = (
        "redeploy", "rounds", "ms between commits, median", "longest", "ms without a record at the sink, median",
        "longest", "ms a usual batch", "records", "lost", "repeated",
    )  # fmt: skip
    title = "`relay` (Kafka → Kafka, 200 records a second, two executors) changed under load, again and again"
    bars = (
        outcome.Bar("handover-pause-beyond-a-batch-median-s", statistics.median(over_ms) / 1000, 0.6),
        outcome.Bar("handover-records-lost", handed["lost"] + control["lost"], 0),
        outcome.Bar("handover-records-repeated", handed["repeated"] + control["repeated"], 0),
    )
    return outcome.Outcome((outcome.Table(title, header, rows),), bars)


def _shown(values_ms: list[float]) -> tuple[str, str]:
    return (f"{statistics.median(values_ms):.0f}", f"{max(values_ms):.0f}") if values_ms else ("-", "-")


def _measure(strategy: str, rounds: int) -> dict[str, Any]:
    with redeploy_stage.relay(update={"strategy": strategy}) as (job, load):
        spans_ms, pauses_ms, batches_ms = [], [], []
        for number in range(rounds):
            began_ms = time.time() * 1000
            batches_ms += [query["batchMs"] for query in job.status().get("queries", ()) if "batchMs" in query]
            pause_ms = _redeploy(job, number)
            pauses_ms += [] if pause_ms is None else [pause_ms]
            _flows(job)
            spans_ms.append((began_ms, time.time() * 1000))
            print(f"{strategy} {number}: {pause_ms} ms between commits", flush=True)
        found = redeploy_stage.arrived(job, load)
    return {
        "pause_ms": pauses_ms, "batch_ms": statistics.median(batches_ms),
        "gap_ms": [found.longest_gap_ms(*span) for span in spans_ms],
        "records": len(found.records), "lost": found.lost, "repeated": found.repeated(),
    }  # fmt: skip


def _redeploy(job: streamjobs.Job, number: int) -> int | None:
    """Changes a setting that pods notice, and waits until only the new driver is left; the pause if it was told."""
    before = job.status()["revision"]
    job.change(sparkConf={"spark.sql.streaming.minBatchesToRetain": str(100 + number)})

    def is_done() -> bool:
        status = job.status()
        taking = status.get("handoff", {}).get("phase") == "Taking"
        return status["revision"] != before and not taking and len(job.pods(names.DRIVER)) == 1

    plain_spark.until(f"redeploy {number}", is_done, _PATIENCE_S)
    job.wait("condition=Ready")
    handoff = job.status().get("handoff", {})
    return handoff.get("pauseMs") if handoff.get("to", {}).get("pod") == job.status()["driver"]["pod"] else None


def _flows(job: streamjobs.Job) -> None:
    """The next round begins from a steady state."""
    reached = redeploy_stage.count(job) + redeploy_stage.RECORDS_S * _AFTER_S
    plain_spark.until("more records", lambda: redeploy_stage.count(job) >= reached, _PATIENCE_S)
