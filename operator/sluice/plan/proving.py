"""A driver that took over: has it begun, is it as good as the one before? For plan.life; pure.

Taking: its gate is open and nobody else may write; the pause ends with its first commit. Proving: it is watched for
`update.rollback.batches` batches. A revision that fails here is given up, and what ran before it runs again.
"""

import dataclasses

from sluice.plan import inside, leftovers, measured, verdicts
from sluice.values import driver_state, handoff, records, reports, views
from sluice.values.handoff import Handoff

LOOK_S = 5.0  # between two looks while something is under way, should nothing wake the cycle
_LEFT_ALONE_S = 10.0  # the old one's end takes CPU that the first batch needs
_BEGIN_S = 120.0  # to its first commit, if it has anything to do
_LONGEST_S = 3600.0  # a stream with few batches has proved itself by then


def watch(
    view: views.JobView, verdict: verdicts.Verdict, new: records.Pod, old: records.Pod | None, now: Handoff
) -> verdicts.Verdict:
    """The verdict about the driver that took over, with what is to be said and done because it has just done so."""
    said = inside.heard(view, new)
    if said and (why := inside.failed(said)):
        return give_up(view, verdict, now, why)
    if now.phase == handoff.TAKING:
        return _taking(view, verdict, said, old, now)
    proving = _proving(view, verdict, said, now)
    return dataclasses.replace(proving, stages=(*proving.stages, *_end(view, old, at_once=True)))


def give_up(view: views.JobView, verdict: verdicts.Verdict, now: Handoff, why: str) -> verdicts.Verdict:
    """Back to the revision before; with the same revision there is nothing to go back to."""
    if now.moves:
        return dataclasses.replace(verdict, handoff=ended(view, now, handoff.DONE, why))
    message = f"revision {now.revision} is given up, {now.old_revision} runs again: {why}"
    decision = verdicts.Decision(view.now_s, "RollBack", now.pod, f"back to revision {now.old_revision}", why)
    return dataclasses.replace(
        verdict,
        message=message,
        handoff=ended(view, now, handoff.ROLLED_BACK, message),
        given_up=handoff.GivenUp(now.revision, now.old_revision, why, view.now_s),
        decisions=(*verdict.decisions, decision),
        look_again_s=0.0,
    )


def is_at_fault(failure: driver_state.Failure) -> bool:
    """Whether a driver's end is its own doing: not one from outside."""
    return failure.reason not in ("Evicted", "NodeLost", "Killed", "Rejected")


def missed_slo(view: views.JobView, said: reports.Report | None) -> str:
    """What of the SLO a driver misses, in words."""
    seen = inside.Inside(driver="", begins=False, lives=True, plugged=True, ever=True, said=said)
    holds, _, message = measured.slo_met(seen, view.job.spec.slo)
    return message if holds is False else ""


def _taking(
    view: views.JobView, verdict: verdicts.Verdict, said: reports.Report | None, old: records.Pod | None, now: Handoff
) -> verdicts.Verdict:
    late = view.now_s - now.since_s > _BEGIN_S
    first = [one for one in said.queries if one.first_commit_at_ms] if said else []
    if late and not first and has_work(said):
        return give_up(view, verdict, now, f"{now.pod} has committed nothing {_BEGIN_S:.0f} s after it took over")
    if not first and not late:
        waits = dataclasses.replace(verdict, message=f"{verdict.message}; {now.message}", handoff=now)
        # A stream with nothing to commit would hold up who waits for the old one's end, such as a drain of its node.
        alone = view.now_s - now.since_s > _LEFT_ALONE_S
        return dataclasses.replace(
            waits, stages=(*verdict.stages, *_end(view, old, at_once=alone)), look_again_s=LOOK_S
        )
    return begins(view, verdict, first, old, now)


def begins(
    view: views.JobView,
    verdict: verdicts.Verdict,
    first: list[reports.Query],
    old: records.Pod | None,
    now: Handoff,
) -> verdicts.Verdict:
    """It has committed, or has nothing to commit: from here on it is watched."""
    now = _measured(now, view.said.get(now.old_pod), first)
    message = f"{now.pod} took over from {now.old_pod}{_in_figures(now)}: {now.why}"
    now = dataclasses.replace(now, phase=handoff.PROVING, since_s=view.now_s, message=message)
    decision = verdicts.Decision(view.now_s, "HandOver", now.pod, f"took over{_in_figures(now)}", now.why)
    stages, decisions = (*verdict.stages, *_end(view, old, at_once=True)), (*verdict.decisions, decision)
    return dataclasses.replace(verdict, handoff=now, stages=stages, decisions=decisions, look_again_s=LOOK_S)


def _proving(
    view: views.JobView, verdict: verdicts.Verdict, said: reports.Report | None, now: Handoff
) -> verdicts.Verdict:
    needed = view.job.spec.update.rollback_batches
    since = now.to_batch or 0
    last = max((one.batch for one in said.queries if one.batch is not None), default=since) if said else since
    missed = missed_slo(view, said)
    now = dataclasses.replace(now, late_from=(last if now.late_from is None else now.late_from) if missed else None)
    if missed and needed and now.slo_met and now.late_from is not None and last - now.late_from >= needed:
        return give_up(view, verdict, now, f"for {last - now.late_from} batches {missed}")
    enough = not missed and last - since >= needed
    if enough or view.now_s - now.since_s > _LONGEST_S:
        return dataclasses.replace(verdict, handoff=ended(view, now, handoff.DONE, now.message))
    again_s = verdict.look_again_s or 60.0
    return dataclasses.replace(verdict, handoff=now, look_again_s=min(again_s, 60.0))


def has_work(said: reports.Report | None) -> bool:
    """A query that waits for data commits nothing, and nothing is wrong with it."""
    return said is None or any(one.in_flight >= 0 or one.phase == "gate" for one in said.queries)


def _measured(now: Handoff, old: reports.Report | None, first: list[reports.Query]) -> Handoff:
    """With the longest pause of any query, from the old driver's last commit to the new one's first."""
    # One that was killed has told of its last commit long before it, or not at all.
    told = old.queries if old and old.is_drained else ()
    ended = {one.id: one for one in told if one.committed_at_ms}
    both = [(ended[one.id], one) for one in first if one.id in ended]
    if not both:
        return dataclasses.replace(now, to_batch=max((one.committed for one in first), default=None))
    last, new = max(both, key=lambda pair: pair[1].first_commit_at_ms - pair[0].committed_at_ms)
    pause_ms = max(0, new.first_commit_at_ms - last.committed_at_ms)
    return dataclasses.replace(now, from_batch=last.committed, to_batch=last.committed + 1, pause_ms=pause_ms)


def _in_figures(now: Handoff) -> str:
    return "" if now.pause_ms is None else f" at batch {now.to_batch} after a pause of {now.pause_ms} ms"


def _end(view: views.JobView, old: records.Pod | None, *, at_once: bool = False) -> verdicts.Stages:
    """The old driver's pod, once it has nothing left to do."""
    said = inside.heard(view, old) if old else None
    stopped = at_once or (said is not None and said.drain == "stopped")
    gone = leftovers.deletes([old]) if old and stopped else ()
    return (gone,) if gone else ()


def ended(view: views.JobView, now: Handoff, phase: str, message: str) -> Handoff:
    """As it ended."""
    return dataclasses.replace(now, phase=phase, since_s=view.now_s, message=message)
