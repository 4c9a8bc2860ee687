"""A handover and a roll of executors that are at half of what they can do.

The load of the other parts leaves executors idle; here each record costs CPU time, and an executor is allowed so much
of a core. How much a record has to cost depends on the machine, so it is found first; how near that is to half is
measured again with the handovers: CPU time of tasks over what is allowed.
"""

import functools
import time
from typing import Any

from bench import ledger, outcome, rebalance_tasks, redeploy_kinds, redeploy_pause, redeploy_rolling, redeploy_stage
from demo import flow, streamjobs
from sluice.values import names

_ROUNDS = 10
_HANDED, _ROLLED = 2, 4  # executors
_ALLOWED_M = 1_000  # millicores of all of them together
_WATCHED = 30 * redeploy_stage.RECORDS_S  # numbers sent meanwhile
_STEPS = 200_000  # of a record, to find how many are wanted: some 3 ms
_HALF, _LEAST, _MOST = 0.5, 0.4, 0.7  # of what is allowed; what a JVM does beside its tasks is not counted


def run(book: ledger.Ledger) -> outcome.Outcome:
    """Both, remembered."""
    working = _working(book.once("loaded steps", _steps))
    handed = book.once("loaded handover", functools.partial(_handed, working))
    rolled = book.once("loaded roll", functools.partial(redeploy_rolling.measure, working, _executors(_ROLLED)))
    least = min(rolled["shares"])
    rows = (
        ("CPU of tasks, of what executors are allowed", f"{handed['share']:.2f}"),
        ("ms between commits, by handover", ", ".join(map(str, handed["pause_ms"]))),
        ("ms a usual batch", f"{handed['batch_ms']:.0f}"),
        ("s until all executors are new", str(rolled["took_s"])),
        ("of the offered, by window of 10 s", ", ".join(f"{share:.2f}" for share in rolled["shares"])),
    )
    title = (
        f"{redeploy_stage.RECORDS_S} records a second, each of which costs CPU time: {_ROUNDS} handovers with {_HANDED}"
        f" executors, a roll of {_ROLLED}; all of them together are allowed {_ALLOWED_M} millicores"
    )
    wrong = sum(found[what] for found in (handed, rolled) for what in ("lost", "repeated"))
    bars = (
        outcome.Bar("loaded-share-of-capacity-at-least", handed["share"], _LEAST, at_least=True),
        outcome.Bar("loaded-share-of-capacity-at-most", handed["share"], _MOST),
        outcome.Bar("loaded-handover-pause-beyond-a-batch-median-s", redeploy_pause.beyond_s(handed), 0.6),
        outcome.Bar("loaded-rolling-least-share-of-offered", least, 0.7, at_least=True),
        outcome.Bar("loaded-rolling-failed-batches", rolled["failed"], 0),
        outcome.Bar("loaded-records-lost-or-repeated", wrong, 0),
    )
    return outcome.Outcome((outcome.Table(title, ("", "figure"), rows),), bars)


def _working(steps: int) -> redeploy_stage.Kind:
    return redeploy_kinds.of("working", steps=steps)


def _steps() -> int:
    """Of a record, so that tasks take half of what executors are allowed."""
    with redeploy_stage.running(_working(_STEPS), executors=_executors(_HANDED)) as (job, load):
        return round(_STEPS * _HALF / _share(job, load))


def _handed(working: redeploy_stage.Kind) -> dict[str, Any]:
    with redeploy_stage.running(working, executors=_executors(_HANDED)) as (job, load):
        share = _share(job, load)
        found = redeploy_pause.redeployed(job, load, _ROUNDS)
        arrived = flow.arrived(job.kube, load, redeploy_stage.SINK)
        return {"share": share, **found, **arrived.counted()}


def _share(job: streamjobs.Job, load: flow.Load) -> float:
    """Of the CPU time that executors are allowed, the part that tasks take once their code is compiled."""
    redeploy_pause.goes_on(load, _WATCHED)
    began_s, before_s = time.monotonic(), _cpu_s(job)
    redeploy_pause.goes_on(load, _WATCHED)
    used_s = _cpu_s(job) - before_s
    share = used_s / (time.monotonic() - began_s) / (_ALLOWED_M / 1000)
    print(f"{job.name}: at {share:.2f} of what its executors are allowed", flush=True)
    return share


def _cpu_s(job: streamjobs.Job) -> float:
    return rebalance_tasks.total(rebalance_tasks.sums(job, job.name), "cpu_s")


def _executors(count: int) -> dict[str, Any]:
    template = streamjobs.template(names.EXECUTOR_CONTAINER)
    (container,) = template["spec"]["containers"]
    container["resources"] = {**container["resources"], "limits": {"cpu": f"{_ALLOWED_M // count}m"}}
    return {"count": count, "template": template}
