"""What a driver that is to take over still lacks, and what is wrong with it. For plan.handover; pure."""

import dataclasses

from sluice.build import mounts
from sluice.plan import causes, inside
from sluice.values import handoff, names, records, reports, views
from sluice.values.handoff import Handoff

_DEADLINE_S = 600.0
_PATIENCE_S = 60.0  # with what may pass: a registry that does not answer, a node that is on its way
_LAST_QUERY_S = 10.0  # a program that starts fewer queries than the last one has no more to come
_ENDS_FIRST = "the old driver ends first, then the new one starts"
_FULL = "the cluster has no room for both"
_TAKEN = "both cannot have the same volumes"
_MAY_GO = "the old driver goes on, and may be evicted"


@dataclasses.dataclass(frozen=True)
class Trouble:
    """Why a driver will not take over."""

    sentence: str
    its_fault: bool = True  # whether the revision is to blame, so that it is not tried again
    no_room: bool = False  # without the old driver it might work


def trouble(view: views.JobView, now: Handoff, new: records.Pod | None) -> Trouble | None:
    """What is wrong, if something is."""
    if new is None:
        return _not_there(view, now)
    if new.over:
        return Trouble(causes.failure(new, now.attempt, view.now_s).sentence)
    if new.deleting:
        return Trouble(f"somebody deleted {new.name}", its_fault=False)
    if refused := _refused(inside.heard(view, new)):
        return refused
    if view.now_s - now.since_s <= _PATIENCE_S:
        return None
    return _held_up(view, now, new) or _overdue(view, now, new)


def missing(view: views.JobView, now: Handoff, new: records.Pod) -> str:
    """What it waits for, in words; nothing once it is ready."""
    said = inside.heard(view, new)
    waiting = _at_gate(said)
    expected = max(1, len(_alive(view.said.get(now.old_pod))))
    if new.phase != "Running" or not new.ready:
        return f"its pod is {new.phase}"
    if not inside.has_spark(said):
        return "its program has not started Spark"
    if len(waiting) < expected and (not waiting or view.now_s - now.waiting_s < _LAST_QUERY_S):
        return f"{len(waiting)} of {expected} queries are at its gate"
    if cold := [one for one in waiting if not one.warm]:
        return f"{cold[0].name} warms up"
    wanted = view.job.spec.executors.count
    running = sum(one.phase == "Running" and not one.deleting for one in _executors(view, new))
    return f"{running} of {wanted} executors run" if running < wanted else ""


def counted(view: views.JobView, now: Handoff, new: records.Pod) -> Handoff:
    """With the number of queries at its gate, and since when there are so many."""
    count = len(_at_gate(inside.heard(view, new)))
    return now if count == now.waiting else dataclasses.replace(now, waiting=count, waiting_s=view.now_s)


def _not_there(view: views.JobView, now: Handoff) -> Trouble | None:
    if now.uid:
        return Trouble(f"{now.pod} is gone", its_fault=False)
    if "quota" in view.refused:
        return _not_both(now, _FULL, view.refused)
    return Trouble(f"{now.pod} cannot be made: {view.refused}") if view.refused else None


def _refused(said: reports.Report | None) -> Trouble | None:
    """What the driver itself says: a query that was refused at the gate, or one that would not have waited."""
    if said is None:
        return None
    why = said.problem or inside.failed(said)
    return Trouble(why) if why else None


def _held_up(view: views.JobView, now: Handoff, new: records.Pod) -> Trouble | None:
    """What a driver or an executor has waited for too long."""
    executors = _executors(view, new)
    for one in (new, *executors):
        cause = causes.waiting(one, view.lost_nodes)
        if cause and cause.reason == "Unschedulable":
            return _not_both(now, _FULL, cause.message)
        if cause:
            return Trouble(cause.message, its_fault=cause.reason != "NodeLost")
        if claims := _held_claims(view, one):
            hint = "a claim that is ReadWriteOnce serves one node, ReadWriteMany serves both"
            return _not_both(now, _TAKEN, f"{one.name} cannot mount {' or '.join(claims)}: {hint}")
    if _asks_in_vain(view, now, new) and len(executors) < view.job.spec.executors.count:
        return _not_both(now, _FULL, f"only {len(executors)} executors could be made")
    return None


def _overdue(view: views.JobView, now: Handoff, new: records.Pod) -> Trouble | None:
    if now.phase != handoff.PREPARING or view.now_s - now.since_s <= _DEADLINE_S:
        return None
    return Trouble(f"after {_DEADLINE_S / 60:.0f} minutes: {missing(view, now, new)}")


def _asks_in_vain(view: views.JobView, now: Handoff, new: records.Pod) -> bool:
    """Whether Spark has had the time to make executors. Before, a program that hangs has asked for none."""
    at_gate_s = view.now_s - now.waiting_s if now.waiting else 0.0
    late = at_gate_s > 2 * _PATIENCE_S or view.now_s - now.since_s > _DEADLINE_S
    return late and inside.has_spark(inside.heard(view, new))


def _not_both(now: Handoff, what: str, why: str) -> Trouble:
    then = _MAY_GO if now.moves else _ENDS_FIRST
    return Trouble(f"{what}: {then}: {why}", its_fault=False, no_room=True)


def _held_claims(view: views.JobView, one: records.Pod) -> list[str]:
    """What a pod has waited for too long, though the old driver's pods mount just the same: they hold it."""
    late = one.bare_s and view.now_s - one.bare_s > _PATIENCE_S
    return mounts.claims(view.job, one.role) if late and _same_volumes(view, one.role) else []


def _same_volumes(view: views.JobView, role: str) -> bool:
    """Others may be missing, or wrong."""
    if view.former is None:
        return True
    was, now = (
        spec.driver.template if role == names.DRIVER else spec.executors.template
        for spec in (view.former, view.job.spec)
    )
    return (was.get("spec") or {}).get("volumes") == (now.get("spec") or {}).get("volumes")


def _executors(view: views.JobView, driver: records.Pod) -> list[records.Pod]:
    mine = (one for one in view.pods if one.role == names.EXECUTOR and one.owner_uid == driver.uid)
    return [one for one in mine if not one.over]


def _at_gate(said: reports.Report | None) -> list[reports.Query]:
    return [one for one in said.queries if one.phase == "gate"] if said else []


def _alive(said: reports.Report | None) -> list[reports.Query]:
    return [one for one in said.queries if one.phase != "ended"] if said else []
