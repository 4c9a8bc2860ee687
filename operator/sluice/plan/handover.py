"""One driver takes over from another, which goes on until that moment. Called by plan.life; pure.

Preparing: the new driver comes up beside the old, warms up and waits at its gate. Draining: the old one ends its batch.
Then the new one's gate opens (:mod:`sluice.plan.proving`). Until there the old one goes on as if nothing had been,
whatever becomes of the new one; from there on only the new one may write.
"""

import dataclasses

from sluice import build
from sluice.plan import (
    changes,
    crew,
    eligible,
    gathering,
    inside,
    leftovers,
    orders,
    proving,
    running,
    starts,
    verdicts,
)
from sluice.values import driver_state, handoff, names, records, streamjob, views
from sluice.values.handoff import Handoff
from sluice.values.streamjob import Body

_DRAIN_SLACK_S = 30.0  # beyond the time the old driver has to end its batch
_CALM_MS = 10_000  # for what the new driver's start has taken of a shared node's CPU to be made up for
_AGAIN_S = 600.0  # one that failed for no fault of the revision is not begun again before


def possible(view: views.JobView, around: build.Surroundings, old: records.Pod) -> bool:
    """Whether another driver may be started beside this one: it would wait, and this one would drain."""
    said = inside.heard(view, old)
    if view.job.spec.update.strategy != "Handover" or not around.plugged or said is None or not old.ready:
        return False
    reached = old.node not in view.lost_nodes and old.name in orders.told(view)
    guarded = said.phase == "Running" and not said.problem
    return reached and guarded and same_checkpoint(view) and not _had_no_room(view, old)


def same_checkpoint(view: views.JobView) -> bool:
    """A driver that writes elsewhere takes nothing over. What nobody knows any more is not the same."""
    if changes.revision(view.job) == view.job.status.get("revision"):
        return True
    return view.former is not None and view.former.checkpoint == view.job.spec.checkpoint


def is_fenced(view: views.JobView, driver: records.Pod) -> bool:
    """Whether a driver that can no longer be asked will stop writing once another has taken its checkpoint."""
    said = inside.heard(view, driver)
    if said is None or said.problem or driver.name not in orders.told(view):
        return False
    alive = [one for one in said.queries if one.phase != "ended"]
    return bool(alive) and all(one.epoch and not one.problem for one in alive)


def leaves_cordoned(view: views.JobView, role: str) -> bool:
    """Whether a cordon of its node moves a pod: where nodes are read, and unless its template says otherwise."""
    spec = view.job.spec
    return view.placing and eligible.leaves_cordoned((spec.driver if role == names.DRIVER else spec.executors).template)


def left_node(view: views.JobView, driver: records.Pod) -> str:
    """The cordoned node that is left by a handover, and whose it is; nothing if all may stay where they are.

    In Real-Time Mode executors come and go with their driver alone, for a query ends with any of them.
    """
    if driver.node in view.cordoned and leaves_cordoned(view, names.DRIVER):
        return f"node {driver.node} of {driver.name}"
    if not view.job.spec.real_time or not leaves_cordoned(view, names.EXECUTOR):
        return ""
    theirs = (one for one in view.pods if one.owner_uid == driver.uid and one.node in view.cordoned)
    return next(
        (f"node {one.node} of executor {crew.number(one)}" for one in theirs if not (one.over or one.deleting)), ""
    )


def pause_s(view: views.JobView) -> float:
    """How long one that failed for no fault of its revision is not begun again."""
    last = handoff.read(view.job.status)
    ends_first = last.degraded and not last.moves
    if last.phase != handoff.CANCELLED or last.revision != changes.revision(view.job) or ends_first:
        return 0.0
    return max(0.0, last.since_s + _AGAIN_S - view.now_s)


def paused(view: views.JobView, state: driver_state.DriverState, old: records.Pod) -> verdicts.Verdict | None:
    """The old driver alone, while one that failed for no fault of its revision is not to be tried again yet."""
    left_s = pause_s(view)
    if not left_s:
        return None
    found = running.judge(view, state, old)
    failed = handoff.read(view.job.status).message
    again = f"{failed}; tried again at {driver_state.timestamp(view.now_s + left_s)[11:19]} UTC"
    again_s = min(found.look_again_s or left_s, left_s)
    return dataclasses.replace(found, message=f"{found.message}; {again}", look_again_s=again_s)


def begin(
    view: views.JobView, around: build.Surroundings, state: driver_state.DriverState, old: records.Pod, why: str
) -> verdicts.Verdict:
    """Makes the new driver, behind a closed gate."""
    revision = changes.revision(view.job)
    attempt = leftovers.next_attempt(view, state)
    name = names.driver_pod(view.job.name, revision, attempt)
    now = Handoff(
        phase=handoff.PREPARING, why=why, old_pod=old.name, old_revision=state.revision,
        pod=name, revision=revision, attempt=attempt, since_s=view.now_s,
    )  # fmt: skip
    decision = verdicts.Decision(view.now_s, "HandOver", name, f"is started beside {old.name}", why)
    try:
        made = starts.stages(view.job, revision, attempt, around, beside=True)
    except ValueError as wrong:
        return _over(view, state, old, now, str(wrong), is_its_fault=True)
    found = _on(view, state, old, now, f"{name} is started beside it: {why}")
    return dataclasses.replace(found, told={name: _waiting(view.job)}, stages=made, decisions=(decision,))


def go_on(
    view: views.JobView, around: build.Surroundings, state: driver_state.DriverState, old: records.Pod, now: Handoff
) -> verdicts.Verdict:
    """A step further, as long as the old driver lives."""
    new = pod(view, now.pod)
    if new is not None and new.phase == "Running":
        now = dataclasses.replace(now, uid=new.uid)
    if changes.revision(view.job) != now.revision:
        return _over(view, state, old, now, "the spec was changed again", is_its_fault=False)
    if new is not None and old.node in view.lost_nodes:
        return take(view, now, None)
    if wrong := gathering.trouble(view, now, new):
        if wrong.no_room:
            now = dataclasses.replace(now, degraded=True)
        return _over(view, state, old, now, wrong.sentence, is_its_fault=wrong.its_fault)
    if now.phase == handoff.DRAINING:
        return _drain(view, state, old, now)
    if new is None:
        made = starts.stages(view.job, now.revision, now.attempt, around, beside=True)
        found = _on(view, state, old, now, f"{now.pod} is started beside it: {now.why}")
        return dataclasses.replace(found, told={now.pod: _waiting(view.job)}, stages=made)
    return _gather(view, state, old, new, now)


def take(view: views.JobView, now: Handoff, old: records.Pod | None) -> verdicts.Verdict:
    """Opens the new driver's gate: the old one is quiet, or no more."""
    new = pod(view, now.pod)
    assert new is not None
    begun = driver_state.DriverState(now.attempt, now.pod, new.uid, now.revision, since_s=view.now_s)
    now = dataclasses.replace(now, phase=handoff.TAKING, since_s=view.now_s, uid=new.uid)
    # The old one is not told to end yet: what that costs a node would be missing for the new one's first batch.
    told: dict[str, Body] = {now.pod: {"gate": {"open": True}}}
    why = f"{now.old_pod} is quiet" if old else f"{now.old_pod} is no more"
    decision = verdicts.Decision(view.now_s, "HandOver", now.pod, "its gate opens", why)
    verdict = running.judge(view, begun, new)
    message = f"{now.pod} takes over from {now.old_pod}: {now.why}"
    now = dataclasses.replace(now, message=message)
    return dataclasses.replace(
        verdict, message=message, told=told, handoff=now, look_again_s=proving.LOOK_S, decisions=(decision,)
    )


def cancelled(view: views.JobView, now: Handoff, why: str) -> Handoff:
    """As it ended, with nothing taken over."""
    message = f"{now.pod} did not take over: {why}"
    return dataclasses.replace(now, phase=handoff.CANCELLED, since_s=view.now_s, message=message)


def outlived(view: views.JobView, now: Handoff, why: str) -> Handoff:
    """Neither of its drivers runs the job any more."""
    if now.before:
        return cancelled(view, now, "both drivers ended")
    message = f"{now.message}; {why}"
    return dataclasses.replace(now, phase=handoff.DONE, since_s=view.now_s, message=message)


def pod(view: views.JobView, name: str) -> records.Pod | None:
    """One of the job's, by its name."""
    return next((one for one in view.pods if one.name == name), None)


def _gather(
    view: views.JobView, state: driver_state.DriverState, old: records.Pod, new: records.Pod, now: Handoff
) -> verdicts.Verdict:
    now = gathering.counted(view, now, new)
    if missing := gathering.missing(view, now, new):
        return _on(view, state, old, now, f"{new.name} comes up beside it: {missing}")
    now = dataclasses.replace(now, phase=handoff.DRAINING, since_s=view.now_s)
    told = {**orders.told(view)[old.name], "drain": _drain_order(view.job, now)}
    found = _on(view, state, old, now, f"it ends its batch, {new.name} is ready to take over")
    return dataclasses.replace(found, told={old.name: told})


def _drain(view: views.JobView, state: driver_state.DriverState, old: records.Pod, now: Handoff) -> verdicts.Verdict:
    said = inside.heard(view, old)
    is_ours = said is not None and said.drain_id == _drain_id(now)
    if said is not None and is_ours and said.is_drained:
        return take(view, dataclasses.replace(now, slo_met=not proving.missed_slo(view, said)), old)
    late_s = view.job.spec.update.drain_timeout_s + _DRAIN_SLACK_S
    if said is not None and is_ours and said.drain == "timed-out":
        why = f"the batch of {old.name} did not end within update.drainTimeout: {said.drain_problem}"
        return _over(view, state, old, now, why, is_its_fault=False)
    if view.now_s - now.since_s > late_s:
        why = f"{old.name} did not say for {late_s:.0f} s that it is quiet"
        return _over(view, state, old, now, why, is_its_fault=False)
    return _on(view, state, old, now, f"it ends its batch, {now.pod} is ready to take over")


def _over(
    view: views.JobView,
    state: driver_state.DriverState,
    old: records.Pod,
    now: Handoff,
    why: str,
    *,
    is_its_fault: bool,
) -> verdicts.Verdict:
    """The old driver goes on; what was started beside it goes."""
    now = cancelled(view, now, why)
    given_up = handoff.GivenUp(now.revision, now.old_revision, why, view.now_s)
    told = {key: value for key, value in orders.told(view).get(old.name, {}).items() if key != "drain"}
    gone = leftovers.deletes(one for one in view.pods if _is_of(view, one, now))
    decision = verdicts.Decision(view.now_s, "HandOver", now.pod, "was cancelled", why)
    at_fault = is_its_fault and not now.moves
    return dataclasses.replace(
        _on(view, state, old, now, now.message),
        told={old.name: told},
        stages=(gone,),
        decisions=(decision,),
        given_up=given_up if at_fault else None,
    )


def _is_of(view: views.JobView, one: records.Pod, now: Handoff) -> bool:
    """Of the new driver: itself, unless it ended, for its words are worth a look; and its executors."""
    new = pod(view, now.pod)
    if one.name == now.pod:
        return not one.over
    return new is not None and one.owner_uid == new.uid


def _on(
    view: views.JobView, state: driver_state.DriverState, old: records.Pod, now: Handoff, said: str
) -> verdicts.Verdict:
    """What is to be said of the old driver, which runs the job, and of what is prepared."""
    found = running.judge(view, state, old)
    now = dataclasses.replace(now, message=said)
    again_s = min(found.look_again_s or proving.LOOK_S, proving.LOOK_S)
    return dataclasses.replace(found, message=f"{found.message}; {said}", handoff=now, look_again_s=again_s)


def _waiting(job: streamjob.StreamJob) -> Body:
    return {"gate": {"open": False}, "warmUp": job.spec.update.warm_up, "preload": True}


def _drain_order(job: streamjob.StreamJob, now: Handoff) -> Body:
    timeout_ms = round(job.spec.update.drain_timeout_s * 1000)
    return {"id": _drain_id(now), "timeoutMs": timeout_ms, "calmMs": _CALM_MS, "stop": False}


def _drain_id(now: Handoff) -> str:
    return f"handover-{now.attempt}"


def _had_no_room(view: views.JobView, old: records.Pod) -> bool:
    """Then the old driver ends first; one that need not end, as nothing was changed, is only left alone for a while."""
    last = handoff.read(view.job.status)
    of_this = last.old_pod == old.name and last.revision == changes.revision(view.job)
    return last.degraded and of_this and not last.moves
