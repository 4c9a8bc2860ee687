"""How long nothing is committed while a job is handed over, under load; beside it, what a redeploy takes without.

The pause is from the old driver's last commit to the new one's first, by the clock of the one machine both are on, less
a batch as it usually is. What arrives at the sink says how long a consumer sees nothing, for all contenders alike.
"""

import functools
import statistics
import time
from collections.abc import Mapping, Sequence
from typing import Any

from bench import ledger, outcome, redeploy_kinds, redeploy_seen, redeploy_stage
from demo import flow, plain_spark, streamjobs
from house import trouble
from sluice.values import handoff, names

_ROUNDS, _CONTROLS, _ROUNDS_OF_A_KIND = 10, 3, 3
_PATIENCE_S = 600
_BETWEEN = 20 * redeploy_stage.RECORDS_S  # numbers sent before the next round begins
_CONTENDERS: dict[str, dict[str, Any]] = {
    "handover": {"update": {"strategy": "Handover"}},
    "drain and restart (Recreate)": {"update": {"strategy": "Recreate"}},
    "killed and made anew, plain Spark": {"plain": True},
}


def run(book: ledger.Ledger) -> outcome.Outcome:
    """All contenders with `relay`, then handovers of the other kinds, each remembered."""
    relay = {
        name: book.once(f"pause {name}", functools.partial(_of_relay, _ROUNDS if n == 0 else _CONTROLS, spec))
        for n, (name, spec) in enumerate(_CONTENDERS.items())
    }
    state = book.once("pause state", functools.partial(_of_kind, redeploy_kinds.STATE, _ROUNDS))
    kinds = {"1,000,000 keys in RocksDB": state} | {
        kind.name: book.once(f"pause kind {kind.name}", functools.partial(_of_kind, kind, _ROUNDS_OF_A_KIND))
        for kind in redeploy_kinds.KINDS
    }
    exact = [found for name, found in relay.items() if name != "killed and made anew, plain Spark"] + [*kinds.values()]
    bars = (
        outcome.Bar("handover-pause-beyond-a-batch-median-s", beyond_s(relay["handover"]), 0.6),
        outcome.Bar("handover-pause-beyond-a-batch-median-with-1M-keys-s", beyond_s(state), 1.5),
        outcome.Bar("handover-records-lost", sum(found["lost"] for found in exact), 0),
        outcome.Bar("handover-records-repeated", sum(found["repeated"] for found in exact), 0),
    )
    return outcome.Outcome((_relay_table(relay), _kinds_table(kinds)), bars)


def beyond_s(found: Mapping[str, Any]) -> float:
    """The median pause, less a batch."""
    return float(statistics.median(found["pause_ms"]) - found["batch_ms"]) / 1000


def _relay_table(relay: dict[str, dict[str, Any]]) -> outcome.Table:
    rows = tuple(
        (name, str(len(found["gap_ms"])), *_shown(found["pause_ms"]), *_shown(found["gap_ms"]), *_usual_batch(found),
         *(str(found[word]) for word in ("records", "lost", "repeated")))
        for name, found in relay.items()
    )  # fmt: skip
    header = (
        "redeploy", "rounds", "ms between commits, median", "longest", "ms without a record at the sink, median",
        "longest", "ms a usual batch", "records", "lost", "repeated",
    )  # fmt: skip
    title = "`relay` (Kafka → Kafka, 200 records a second, two executors) changed under load, again and again"
    return outcome.Table(title, header, rows)


def _kinds_table(kinds: dict[str, dict[str, Any]]) -> outcome.Table:
    rows = tuple(
        (name, str(len(found["pause_ms"])), *_shown(found["pause_ms"]), *_usual_batch(found),
         *(str(found[word]) for word in ("records", "lost", "repeated")))
        for name, found in kinds.items()
    )  # fmt: skip
    header = (
        "job", "handovers", "ms between commits, median", "longest", "ms a usual batch", "records", "lost", "repeated",
    )  # fmt: skip
    return outcome.Table("Other jobs handed over under the same load", header, rows)


def _shown(values_ms: Sequence[float]) -> tuple[str, str]:
    return (f"{statistics.median(values_ms):.0f}", f"{max(values_ms):.0f}") if values_ms else ("-", "-")


def _usual_batch(found: dict[str, Any]) -> tuple[str]:
    return (f"{found['batch_ms']:.0f}" if found["batch_ms"] else "-",)


def _of_relay(rounds: int, spec: dict[str, Any]) -> dict[str, Any]:
    with redeploy_stage.running(redeploy_stage.RELAY, **spec) as (job, load):
        found = redeployed(job, load, rounds)
        spans_ms = found.pop("spans_ms")
        arrived = flow.arrived(job.kube, load, redeploy_stage.SINK)
        return {
            **found,
            **arrived.counted(),
            "gap_ms": [arrived.longest_gap_ms(*span) for span in spans_ms],
        }


def _of_kind(kind: redeploy_stage.Kind, rounds: int) -> dict[str, Any]:
    with redeploy_stage.running(kind) as (job, load):
        return {**redeployed(job, load, rounds), **redeploy_kinds.judge(job, load)}


def redeployed(job: streamjobs.Job, load: flow.Load, rounds: int) -> dict[str, Any]:
    """Changed again and again; when, with which pauses, and how long a batch is otherwise."""
    spans_ms, pauses_ms, batches_ms = [], [], []
    for number in range(rounds):
        goes_on(load)
        began_ms = time.time() * 1000
        batches_ms += redeploy_stage.batches_ms(job)
        pause_ms = _redeploy(job, number)
        pauses_ms += [] if pause_ms is None else [pause_ms]
        goes_on(load)
        spans_ms.append((began_ms, time.time() * 1000))
        print(f"{job.name} {number}: {pause_ms} ms between commits", flush=True)
    usual_ms = statistics.median(batches_ms) if batches_ms else None
    return {"pause_ms": pauses_ms, "batch_ms": usual_ms, "spans_ms": spans_ms}


def _redeploy(job: streamjobs.Job, number: int) -> int | None:
    """Changes a setting that pods notice, and waits until only the new driver is left; the pause if it was told."""
    with redeploy_seen.Watch(job) as watch:  # who asks again and again takes CPU from what is measured
        before = watch.last["revision"]
        job.change(sparkConf={"spark.sql.streaming.minBatchesToRetain": str(100 + number)})
        if watch.until(lambda status: _is_over(before, status), _PATIENCE_S) is None:
            raise trouble.Trouble(f"after {_PATIENCE_S} s still not: redeploy {number}")
    plain_spark.until("one driver alone", lambda: len(job.pods(names.DRIVER)) == 1, _PATIENCE_S)
    job.wait("condition=Ready")
    told = job.status().get("handoff", {})
    return told.get("pauseMs") if told.get("to", {}).get("pod") == job.status()["driver"]["pod"] else None


def _is_over(before: str, status: Mapping[str, Any]) -> bool:
    begins = status.get("handoff", {}).get("phase") in (handoff.TAKING, handoff.REPLACING)
    return status["revision"] != before and not begins


def goes_on(load: flow.Load, numbers: int = _BETWEEN // 2) -> None:
    """Until so many more have been sent."""
    enough = load.sent + numbers
    plain_spark.until("more numbers", lambda: load.sent >= enough, _PATIENCE_S)
