"""Two operators, 200 jobs: the leader is killed, or stands still and goes on. Who works then, and no job may notice.

A takeover is over when a StreamJob made at the moment of the leader's end has its driver's pod. The leader that stood
still asks through a server that keeps a list (:mod:`bench.operator_audit`).
"""

import asyncio
import functools
import math
import signal
import time

from bench import ledger, operator_api, operator_audit, operator_jobs, operator_process, operator_stage, outcome
from bench.operator_api import Body

JOBS = 200
_NODES = 15
_READY_S = 240.0
_DEADLINE_S = 60.0
_CALM_S = 20.0  # what a new leader would do to jobs that run, it has done by then
_LATER_S = 30.0  # how long the old leader is watched after it goes on
_TOUCHED = 10  # jobs of each kind of change that the old leader does not see
_QUEUED = 40  # jobs made just before it stands still, so that it stops in the middle of its work


def run(book: ledger.Ledger) -> outcome.Outcome:
    """Both ends of a leader."""
    killed = book.once("takeover killed", functools.partial(operator_stage.play, _NODES, _killed))
    frozen = book.once("takeover frozen", functools.partial(operator_stage.play, _NODES, _frozen))
    return _outcome(killed, frozen)


async def _killed(stage: operator_stage.Stage) -> Body:
    async with operator_process.running(stage.start(1)) as first:
        await _furnish(stage)
        async with operator_process.running(stage.start(2), "waits"):
            before = _bodies(stage)
            first.send(signal.SIGKILL)
            took_s = await _taken_over(stage, time.monotonic())
            await asyncio.sleep(_CALM_S)
            return {"took_s": took_s, "jobs": len(before), **_changed(stage, before)}


async def _frozen(stage: operator_stage.Stage) -> Body:
    async with operator_audit.before(stage.kubeconfig) as audit:
        watched = stage.start(1, KUBECONFIG=str(operator_process.plain_kubeconfig(audit.server, "audit")))
        async with operator_process.running(watched) as first:
            await _furnish(stage)
            async with operator_process.running(stage.start(2), "waits"):
                before = _bodies(stage)
                await stage.create(operator_jobs.streamjob(f"queued-{number:02d}") for number in range(_QUEUED))
                first.send(signal.SIGSTOP)
                took_s = await _taken_over(stage, time.monotonic())
                await _change(stage)
                await asyncio.sleep(_CALM_S)
                first.send(signal.SIGCONT)
                goes_on_s = time.monotonic()
                await asyncio.sleep(_LATER_S)
                late = audit.since(goes_on_s)
                earlier = len(audit.writes) - len(late)
                found = {"took_s": took_s, "jobs": len(before), **_changed(stage, before)}
    written = [f"{call.method} {call.path} {call.status}" for call in late]
    accepted = sum(call.status < 300 for call in late)
    return {
        **found,
        "written": accepted,
        "refused": len(late) - accepted,
        "examples": written[:5],
        "written_before": earlier,
    }


async def _furnish(stage: operator_stage.Stage) -> None:
    """All jobs run, each with its executor."""
    stage.spark()
    await stage.create(operator_jobs.streamjob(_name(number)) for number in range(JOBS))
    await operator_api.until(f"{JOBS} jobs are Ready", lambda: _ready(stage) >= JOBS, _READY_S)


def _name(number: int) -> str:
    return f"steady-{number:03d}"


def _ready(stage: operator_stage.Stage) -> int:
    return sum(map(stage.seen.is_ready, stage.seen.jobs))


async def _taken_over(stage: operator_stage.Stage, ended_s: float) -> float:
    """Seconds until somebody makes the driver of a new job."""
    await stage.create([operator_jobs.streamjob("probe")])
    if not await operator_api.within(lambda: bool(stage.seen.of("probe", "driver")), _DEADLINE_S):
        return math.inf
    return stage.seen.of("probe", "driver")[0].added_s - ended_s


async def _change(stage: operator_stage.Stage) -> None:
    """What the leader that stands still does not hear of: it must not act on what it remembers."""
    last = [_name(number) for number in range(JOBS - 2 * _TOUCHED, JOBS)]
    await stage.delete(last[:_TOUCHED])
    for name in last[_TOUCHED:]:
        await stage.patch(name, {"spec": {"suspend": True}})


def _bodies(stage: operator_stage.Stage) -> dict[str, set[str]]:
    """By job that nobody touches: the uids of its pods."""
    steady = [_name(number) for number in range(JOBS - 2 * _TOUCHED)]
    return {job: {pod.uid for role in ("driver", "executor") for pod in stage.seen.of(job, role)} for job in steady}


def _changed(stage: operator_stage.Stage, before: dict[str, set[str]]) -> Body:
    """Jobs with a pod that was not there before, or that is there no more; jobs that ever had two drivers at once."""
    pods = stage.seen.pods
    lost = [job for job, uids in before.items() if any(pods[uid].gone_s or pods[uid].deleting for uid in uids)]
    new = [job for job, uids in _bodies(stage).items() if uids != before[job]]
    doubled = [job for job in stage.seen.since_s if stage.seen.had_two_drivers(job)]
    return {"restarted": len({*lost, *new}), "two_drivers": len(doubled)}


def _outcome(killed: Body, frozen: Body) -> outcome.Outcome:
    header = ("leader", "takeover s", "jobs watched", "of them with another pod", "jobs with two drivers at once")
    keys = ("jobs", "restarted", "two_drivers")
    rows = tuple(
        (name, f"{found['took_s']:.1f}", *(str(found[key]) for key in keys))
        for name, found in (("killed", killed), ("stood still", frozen))
    )
    title = (
        f"Takeover with {JOBS} jobs: from the leader's end to the driver of a job made just then. The one that stood"
        f" still had written {frozen['written_before']} times; when it went on, after jobs were deleted and suspended,"
        f" {frozen['written']} writes of its were taken and {frozen['refused']} refused in {_LATER_S:.0f} s"
    )
    both = (killed, frozen)
    bars = (
        outcome.Bar("operator-takeover-killed-s", killed["took_s"], 15),
        outcome.Bar("operator-takeover-frozen-s", frozen["took_s"], 15),
        outcome.Bar("operator-takeover-jobs-restarted", sum(f["restarted"] + f["two_drivers"] for f in both), 0),
        outcome.Bar("operator-old-leader-writes", frozen["written"], 0),
    )
    return outcome.Outcome((outcome.Table(title, header, rows),), bars)
