"""Two drivers of one job, what both say and are told: for the tests of plan.handover and plan.eviction."""

import dataclasses
from typing import Any

from plan import made
from sluice import build
from sluice.plan import changes, life, status, verdicts
from sluice.values import handoff, names, records, reports, steps, views

Body = dict[str, Any]
AROUND = build.Surroundings(agent_image="agent:1", plugin_image="plugin:1")
OLD = made.driver()
OLD_REVISION = changes.revision(made.job())
REVISION = changes.revision(made.job(image="clicks:2"))
NEW_NAME = names.driver_pod("clicks", REVISION, 2)
OPEN: Body = {"gate": {"open": True}, **made.BALANCE}
WAITS: Body = {"gate": {"open": False}, "warmUp": True, "preload": True, **made.BALANCE}
QUERY = reports.Query("q-1", "clicks", "MicroBatch", "running", epoch=1, committed=41, committed_at_ms=1_000)
GATED = reports.Query("q-1", "clicks", "MicroBatch", "gate", warm=True)
RUNS = reports.Report(made.NOW_S, "Running", queries=(QUERY,))
READY = reports.Report(made.NOW_S, "Waiting", queries=(GATED,))


def new(**change: Any) -> records.Pod:
    """The driver that is to take over."""
    labels = {**OLD.labels, names.REVISION: REVISION, names.ATTEMPT: "2"}
    usual: Body = {"name": NEW_NAME, "uid": "uid-2", "labels": labels}
    return made.driver(2, **(usual | change))


def its_executor(**change: Any) -> records.Pod:
    """Of the driver that is to take over."""
    return made.executor(1, 2, name=f"{NEW_NAME}-exec-1", uid="uid-2-exec-1", owner_uid="uid-2", **change)


BOTH = (OLD, made.executor(), new(), its_executor())


def begun(phase: str = handoff.PREPARING, since_s: float = 10.0, **more: Any) -> handoff.Handoff:
    """It stands like this since so long."""
    return handoff.Handoff(
        phase=phase, why="why", old_pod=OLD.name, old_revision=OLD_REVISION, pod=NEW_NAME, revision=REVISION,
        attempt=2, uid="uid-2", since_s=made.NOW_S - since_s, **more,
    )  # fmt: skip


def written(now: handoff.Handoff) -> Body:
    """As it stands in the status."""
    return {key: value for key, value in now.write().items() if value is not None}


def view(
    *pods: records.Pod,
    now: handoff.Handoff | None = None,
    said: dict[str, reports.Report] | None = None,
    told: Body | None = None,
    current: Body | None = None,
    **more: Any,
) -> views.JobView:
    """Both drivers are there, and what they say."""
    told = told if told is not None else {OLD.name: OPEN, NEW_NAME: WAITS}
    found = {**(current or made.begun()), "orders": {"version": 1, "serial": 5, "drivers": told}}
    if now:
        found["handoff"] = written(now)
    job = made.job(status=found, image="clicks:2")
    heard = {OLD.name: RUNS} if said is None else said
    return made.view(job, *pods, said=heard, former=made.spec(), **more)


def draining(**old: Any) -> views.JobView:
    """The old one was asked to end its batch, and says so much of it."""
    heard = dataclasses.replace(RUNS, **({"drain_id": "handover-2"} | old))
    drain = {"id": "handover-2", "timeoutMs": 60_000, "calmMs": 10_000, "stop": False}
    orders = {OLD.name: {**OPEN, "drain": drain}, NEW_NAME: WAITS}
    return view(*BOTH, now=begun(handoff.DRAINING), said={OLD.name: heard, NEW_NAME: READY}, told=orders)


def taking(said: reports.Report, since_s: float = 5.0, phase: str = handoff.TAKING, **more: Any) -> views.JobView:
    """The new one's gate is open since so long."""
    current = {**made.begun(2), "revision": REVISION}
    current["driver"] = {**current["driver"], "pod": NEW_NAME, "uid": "uid-2"}
    heard = {OLD.name: dataclasses.replace(RUNS, drain_id="handover-2", drain="quiet"), NEW_NAME: said}
    orders = {OLD.name: OPEN, NEW_NAME: OPEN}
    return view(*BOTH, now=begun(phase, since_s, **more), said=heard, told=orders, current=current)


def running(**query: Any) -> reports.Report:
    """What the new one says once its gate is open."""
    one = dataclasses.replace(QUERY, **({"epoch": 2} | query))
    return reports.Report(made.NOW_S, "Running", queries=(one,))


def judge(seen: views.JobView) -> verdicts.Verdict:
    """Where the job stands, with a plugin for its drivers."""
    return life.judge(seen, AROUND)


def told(seen: views.JobView) -> Body:
    """The orders of all drivers afterwards."""
    found: Body = status.wanted(seen, judge(seen))["orders"]["drivers"]
    return found


def deleted(verdict: verdicts.Verdict) -> set[str]:
    """Names of pods."""
    return {step.name for stage in verdict.stages for step in stage if isinstance(step, steps.Delete)}


def created(verdict: verdicts.Verdict) -> list[Any]:
    """Manifests."""
    return [step.manifest for stage in verdict.stages for step in stage if isinstance(step, steps.Create)]
