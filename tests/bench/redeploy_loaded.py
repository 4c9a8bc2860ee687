"""A handover and a roll of executors that are at half of what they can do.

The load of the other parts leaves executors idle; here each record costs CPU time, and an executor is allowed so much
of a core. How near that is to half is measured in the same run: CPU time of tasks over what is allowed.
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
_WORKING = redeploy_kinds.of("working")
_LEAST, _MOST = 0.4, 0.7  # of what is allowed: half, and what a JVM does beside its tasks is not counted


def run(book: ledger.Ledger) -> outcome.Outcome:
    """Both, remembered."""
    handed = book.once("loaded handover", _handed)
    rolled = book.once("loaded roll", functools.partial(redeploy_rolling.measure, _WORKING, _executors(_ROLLED)))
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


def _handed() -> dict[str, Any]:
    with redeploy_stage.running(_WORKING, executors=_executors(_HANDED)) as (job, load):
        share = _share(job, load)
        print(f"{job.name}: at {share:.2f} of what its executors are allowed", flush=True)
        found = redeploy_pause.redeployed(job, load, _ROUNDS)
        arrived = flow.arrived(job.kube, load, redeploy_stage.SINK)
        return {"share": share, **found, **arrived.counted()}


def _share(job: streamjobs.Job, load: flow.Load) -> float:
    """Of the CPU time that executors are allowed, the part that tasks take."""
    began_s, before_s = time.monotonic(), _cpu_s(job)
    redeploy_pause.goes_on(load, _WATCHED)
    used_s = _cpu_s(job) - before_s
    return used_s / (time.monotonic() - began_s) / (_ALLOWED_M / 1000)


def _cpu_s(job: streamjobs.Job) -> float:
    return rebalance_tasks.total(rebalance_tasks.sums(job, job.name), "cpu_s")


def _executors(count: int) -> dict[str, Any]:
    template = streamjobs.template(names.EXECUTOR_CONTAINER)
    (container,) = template["spec"]["containers"]
    container["resources"] = {**container["resources"], "limits": {"cpu": f"{_ALLOWED_M // count}m"}}
    return {"count": count, "template": template}
