"""A handover and a roll of executors at half of what the job can do.

The load of the other parts leaves executors idle; here each record costs CPU time. What the job can do is measured: so
many records a second come out while it works off a heap of them. How much a record has to cost for that to be twice the
load depends on the machine, so it is found first, and measured again before the handovers.
"""

import functools
import time
from typing import Any

from bench import ledger, outcome, redeploy_kinds, redeploy_pause, redeploy_rolling, redeploy_stage
from demo import flow, plain_spark, streamjobs, topics
from sluice.values import names

_ROUNDS = 10
_HANDED, _ROLLED = 2, 4  # executors
_STEPS = 200_000  # of a record, to find how many are wanted: some 2 ms
_HALF, _LEAST, _MOST = 0.5, 0.4, 0.65
_BETWEEN = 15 * redeploy_stage.RECORDS_S  # numbers sent before a heap is made
_HEAP = 20 * redeploy_stage.RECORDS_S
_PATIENCE_S = 300


def run(book: ledger.Ledger) -> outcome.Outcome:
    """All of it, remembered."""
    working = _working(book.once("loaded steps", _steps))
    handed = book.once("loaded handover", functools.partial(_handed, working))
    rolled = book.once("loaded roll", functools.partial(redeploy_rolling.measure, working, _executors(_ROLLED)))
    share = redeploy_stage.RECORDS_S / handed["capacity"]
    rows = (
        ("records a second while it works off a heap", f"{handed['capacity']:.0f}"),
        ("ms between commits, by handover", ", ".join(map(str, handed["pause_ms"]))),
        ("ms a usual batch", f"{handed['batch_ms']:.0f}"),
        ("s until all executors are new", str(rolled["took_s"])),
        ("of the offered, by window of 10 s", ", ".join(f"{one:.2f}" for one in rolled["shares"])),
    )
    title = (
        f"{redeploy_stage.RECORDS_S} records a second, each of which costs CPU time: {_ROUNDS} handovers with {_HANDED}"
        f" executors, a roll of {_ROLLED}; old and new share this machine's cores"
    )
    wrong = sum(found[what] for found in (handed, rolled) for what in ("lost", "repeated"))
    bars = (
        outcome.Bar("loaded-share-of-capacity-at-least", share, _LEAST, at_least=True),
        outcome.Bar("loaded-share-of-capacity-at-most", share, _MOST),
        outcome.Bar("loaded-handover-pause-beyond-a-batch-median-s", redeploy_pause.beyond_s(handed), 0.6),
        outcome.Bar("loaded-rolling-least-share-of-offered", min(rolled["shares"]), 0.7, at_least=True),
        outcome.Bar("loaded-rolling-failed-batches", rolled["failed"], 0),
        outcome.Bar("loaded-records-lost-or-repeated", wrong, 0),
    )
    return outcome.Outcome((outcome.Table(title, ("", "figure"), rows),), bars)


def _working(steps: int) -> redeploy_stage.Kind:
    return redeploy_kinds.of("working", steps=steps)


def _executors(count: int) -> dict[str, Any]:
    return {"count": count, "template": streamjobs.template(names.EXECUTOR_CONTAINER)}


def _steps() -> int:
    """Of a record, so that the job could do twice the load."""
    with redeploy_stage.running(_working(_STEPS), executors=_executors(_HANDED)) as (job, load):
        return round(_STEPS * _HALF * _capacity(job, load) / redeploy_stage.RECORDS_S)


def _handed(working: redeploy_stage.Kind) -> dict[str, Any]:
    with redeploy_stage.running(working, executors=_executors(_HANDED)) as (job, load):
        capacity = _capacity(job, load)
        found = redeploy_pause.redeployed(job, load, _ROUNDS)
        arrived = flow.arrived(job.kube, load, redeploy_stage.SINK)
        return {"capacity": capacity, **found, **arrived.counted()}


def _capacity(job: streamjobs.Job, load: flow.Load) -> float:
    """Records a second that come out while there are more than it can do, once its code is compiled."""
    _rate(job, load)
    capacity = _rate(job, load)
    print(f"{job.name}: {capacity:.0f} records a second while it works off a heap", flush=True)
    return capacity


def _rate(job: streamjobs.Job, load: flow.Load) -> float:
    redeploy_pause.goes_on(load, _BETWEEN)
    before, began_s = topics.count(job.kube, redeploy_stage.SINK), time.monotonic()
    load.heap += _HEAP

    def done() -> int:
        count = topics.count(job.kube, redeploy_stage.SINK)
        return count - before if count - before >= _HEAP else 0

    came = plain_spark.until("the heap is worked off", done, _PATIENCE_S)
    return came / (time.monotonic() - began_s)
