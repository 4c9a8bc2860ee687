"""One driver ends, and one of a new revision starts after it. For plan.life, plan.ended; pure.

So it goes with Recreate, and where there is no room for both. What ran until then is remembered, as in a handover: a
revision that fails at its start, or never commits, is given up, and the one before runs again (as in plan.proving).
"""

import dataclasses

from sluice.plan import causes, changes, handover, inside, leftovers, proving, running, verdicts
from sluice.values import driver_state, handoff, names, records, reports, views
from sluice.values.handoff import Handoff

_PATIENCE_S = 60.0  # with what may pass: a registry, or a webhook, that does not answer
_ITS_OWN = ("ImagePull", "ContainerConfig")  # of what keeps a driver from running, what its revision asked for


def begin(view: views.JobView, state: driver_state.DriverState, old: records.Pod, why: str) -> Handoff | None:
    """What is to be remembered of a driver that is about to end; None where it is no better than what comes."""
    last = handoff.read(view.job.status)
    wanted = changes.revision(view.job)
    if last.phase == handoff.REPLACING and (last.old_pod, last.revision) == (old.name, wanted):
        return last
    works = old.ready and not state.restarts and handover.same_checkpoint(view)
    if not works or view.given_up or state.revision == wanted:
        return None
    unproved = last.on and not last.before and last.pod == old.name
    now = Handoff(
        phase=handoff.REPLACING, why=why, old_pod=old.name,
        old_revision=last.old_revision if unproved else state.revision,
        slo_met=not proving.missed_slo(view, inside.heard(view, old)),
        degraded=last.degraded and last.old_pod == old.name,
    )  # fmt: skip
    return _of(view, now, wanted, leftovers.next_attempt(view, state))


def started(view: views.JobView, attempt: int) -> Handoff | None:
    """As it stands once the attempt is begun: of what is wanted by then."""
    now = handoff.read(view.job.status)
    wanted = changes.revision(view.job)
    if now.phase != handoff.REPLACING or wanted == now.old_revision:
        return None
    return _of(view, now, wanted, attempt)


def attempt_of(view: views.JobView, otherwise: int) -> int:
    """The number that was set aside for the driver that starts now."""
    now = handoff.read(view.job.status)
    is_this = now.phase == handoff.REPLACING and now.revision == changes.revision(view.job)
    return now.attempt if is_this else otherwise


def unmade(view: views.JobView, verdict: verdicts.Verdict) -> verdicts.Verdict:
    """The verdict on a driver that is not there; given up if no pod can be made of its revision."""
    now = verdict.handoff or handoff.read(view.job.status)
    late = view.now_s - now.since_s > _PATIENCE_S
    refused = verdict.reason == "Refused" and late and "quota" not in view.refused
    if now.phase != handoff.REPLACING or not (refused or verdict.reason == "InvalidSpec"):
        return verdict
    return proving.give_up(view, dataclasses.replace(verdict, stages=()), now, verdict.message)


def watch(view: views.JobView, verdict: verdicts.Verdict, new: records.Pod, now: Handoff) -> verdicts.Verdict:
    """The verdict on the driver that started, until its first commit; one that nobody hears, until it is healthy."""
    said = inside.heard(view, new)
    if why := _fault(view, verdict, new, said, now):
        return proving.give_up(view, verdict, now, why)
    first = _firsts(said)
    is_late = view.now_s - now.since_s > running.START_DEADLINE_S
    if first or (_speaks(said) and is_late and verdict.ready):
        return proving.begins(view, verdict, first, None, now)
    if new.ready and view.now_s - new.ready_s > running.HEALTHY_S and not _speaks(said):
        return dataclasses.replace(verdict, handoff=proving.ended(view, now, handoff.DONE, now.message))
    again_s = min(verdict.look_again_s or proving.LOOK_S, proving.LOOK_S)
    return dataclasses.replace(verdict, handoff=now, look_again_s=again_s)


def _fault(
    view: views.JobView, verdict: verdicts.Verdict, new: records.Pod, said: reports.Report | None, now: Handoff
) -> str:
    """Why it will not come to anything; nothing as long as it may, or while others are to blame."""
    if said and (why := inside.failed(said)):
        return why
    cause, waited_s = causes.waiting(new, view.lost_nodes), view.now_s - now.since_s
    if cause:
        return cause.message if cause.reason in _ITS_OWN and waited_s > _PATIENCE_S else ""
    if waited_s <= running.START_DEADLINE_S:
        return ""
    late = f"{running.START_DEADLINE_S / 60:.0f} minutes after its start"
    if not new.ready:
        return f"{new.name} is not ready {late}"
    if _speaks(said) and not inside.has_spark(said):
        return f"{new.name} has not started Spark {late}"
    idle = said is not None and bool(said.queries) and not proving.has_work(said)
    hangs = _speaks(said) and verdict.ready and not _firsts(said) and not idle
    return f"{new.name} has committed nothing {late}" if hangs else ""


def _speaks(said: reports.Report | None) -> bool:
    """Whether its plugin tells of its queries."""
    return said is not None and said.phase != "Unmanaged"


def _firsts(said: reports.Report | None) -> list[reports.Query]:
    """The queries that have committed."""
    return [one for one in said.queries if one.first_commit_at_ms] if said else []


def _of(view: views.JobView, now: Handoff, revision: str, attempt: int) -> Handoff:
    name = names.driver_pod(view.job.name, revision, attempt)
    message = f"{name} starts after {now.old_pod} has ended: {now.why}"
    return dataclasses.replace(now, pod=name, revision=revision, attempt=attempt, since_s=view.now_s, message=message)
