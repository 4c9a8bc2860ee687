"""The life of a job: what its driver needs next. Called by the cycle with a view; plan.status writes the verdict down.

Never two drivers: an attempt is recorded (with the status' resourceVersion) before its pod is made, its name follows
from the record, and a next one begins only on facts that cannot be undone: the last pod has ended, or exactly that pod
(its uid was recorded) is gone. A view that is out of date can therefore delay, not double.
"""

import dataclasses

from sluice import build
from sluice.plan import (
    causes,
    changes,
    ended,
    eviction,
    handover,
    inside,
    leftovers,
    moving,
    proving,
    replacing,
    rolling,
    running,
    sizing,
    verdicts,
)
from sluice.values import driver_state, fields, handoff, names, records, views

_STOP_SLACK_S = 90.0  # beyond the time a driver has to drain
_TOLD = 4  # changes in one sentence


def judge(view: views.JobView, around: build.Surroundings) -> verdicts.Verdict:
    """Where the job stands and what to do."""
    verdict = _judge(view, around)
    now = handoff.read(view.job.status)
    if now.on and verdict.handoff is None:
        verdict = _outlived(view, verdict, now)
    verdict = sizing.advised(view, moving.follow(view, verdict))
    return dataclasses.replace(verdict, stages=(*eviction.kept(view, around, verdict), *verdict.stages))


def _outlived(view: views.JobView, verdict: verdicts.Verdict, now: handoff.Handoff) -> verdicts.Verdict:
    """A handover is over, too, once others run the job, or nobody does."""
    driver = verdict.driver.pod
    why = f"{driver} came after it" if driver not in (now.old_pod, now.pod) else verdict.message
    over = driver not in (now.old_pod, now.pod) or verdict.phase in ("Suspended", "Completed", "Failed")
    return dataclasses.replace(verdict, handoff=handover.outlived(view, now, why)) if over else verdict


def _judge(view: views.JobView, around: build.Surroundings) -> verdicts.Verdict:
    drivers = [pod for pod in view.pods if pod.role == names.DRIVER]
    alive = [pod for pod in drivers if not pod.over]
    strangers = [pod for pod in alive if pod.owner_uid != view.job.uid]
    if strangers:
        return ended.waits(view, "PredecessorStopping", f"{strangers[0].name} of an earlier {names.KIND} still runs")
    if alive:
        return _alive(view, around, alive)
    if view.job.unreadable:
        return ended.waits(view, "InvalidSpec", view.job.unreadable)
    if view.job.spec.suspend:
        return ended.rests(view, "Suspended", "Suspended", "spec.suspend is true: nothing runs, the checkpoint stays")
    if view.rival:
        hint = "one of the two needs a checkpoint.location of its own"
        return ended.waits(view, "CheckpointInUse", f"{view.rival} writes {view.job.spec.checkpoint.location}: {hint}")
    return ended.judge(view, around, [pod for pod in drivers if pod.owner_uid == view.job.uid])


def _alive(view: views.JobView, around: build.Surroundings, alive: list[records.Pod]) -> verdicts.Verdict:
    now = handoff.read(view.job.status)
    if now.before and not view.job.spec.suspend and any(pod.name in (now.old_pod, now.pod) for pod in alive):
        return _before_it_takes_over(view, around, alive, now)
    driver = _current(view, alive)
    state = _seen(view, driver)
    if view.job.spec.suspend:
        stopped = _stop(view, state, alive, "Suspending", "spec.suspend is true")
        given_up = handover.cancelled(view, now, "the job is suspended") if now.on else None
        return dataclasses.replace(stopped, handoff=given_up)
    if driver.node in view.lost_nodes and handover.is_fenced(view, driver):
        return _follow(view, around, state, driver)
    waits_in_vain = now.phase == handoff.CANCELLED and driver.name == now.pod
    if driver.deleting or waits_in_vain:
        why = "somebody deleted it" if driver.deleting else "it waits at a gate that nobody will open"
        return _stop(view, state, alive, "Stopping", why)
    return _lives(view, around, state, alive, now)


def _lives(
    view: views.JobView,
    around: build.Surroundings,
    state: driver_state.DriverState,
    alive: list[records.Pod],
    now: handoff.Handoff,
) -> verdicts.Verdict:
    """A driver that is to go on, or to be followed by another."""
    driver = _current(view, alive)
    wanted = changes.revision(view.job)
    if state.revision != wanted and not rolling.carries(view, driver):
        beside = handover.possible(view, around, driver)
        return _renew(view, around, state, alive, f"revision {wanted} takes its place{_changes(view, beside=beside)}")
    left = handover.left_node(view, driver)
    proves = now.on and not (now.phase == handoff.PROVING and now.moves)
    if left and not proves and handover.possible(view, around, driver):
        return _renew(view, around, state, alive, f"{left} is cordoned, a drain of it waits for this")
    moved = moving.by_handover(view, driver)
    if moved and not proves and handover.possible(view, around, driver):
        return _renew(view, around, state, alive, moved)
    verdict = rolling.judge(view, around, driver, running.judge(view, state, driver))
    relieved = handover.pod(view, now.old_pod) if now.on else None
    if now.on and now.pod == driver.name:
        replaces = now.phase == handoff.REPLACING
        watched = replacing.watch(view, verdict, driver, now) if replaces else None
        verdict = watched or proving.watch(view, verdict, driver, relieved, now)
        verdict = _put_off(verdict, left) if left else verdict
    others = [pod for pod in alive if pod not in (driver, relieved)]
    spared = {pod.uid for pod in (driver, relieved) if pod}
    gone = leftovers.deletes([*others, *leftovers.left(view, spared)])
    return dataclasses.replace(verdict, stages=(gone, *verdict.stages))


def _put_off(verdict: verdicts.Verdict, left: str) -> verdicts.Verdict:
    """A driver that is to leave a node, and has taken over from another only just now."""
    later = f"{left} is cordoned, which it leaves once it has proved itself"
    again_s = min(verdict.look_again_s or proving.LOOK_S, proving.LOOK_S)
    return dataclasses.replace(verdict, message=f"{verdict.message}; {later}", look_again_s=again_s)


def _follow(
    view: views.JobView, around: build.Surroundings, state: driver_state.DriverState, lost: records.Pod
) -> verdicts.Verdict:
    """Another driver in place of one that nobody can reach: it takes a higher epoch, so the old one writes no more."""
    attempt = leftovers.next_attempt(view, state)
    why = f"node {lost.node} of {lost.name} does not answer"
    verdict = ended.start(view, around, dataclasses.replace(state, restarts=0), attempt, why)
    return dataclasses.replace(verdict, stages=(leftovers.deletes([lost]), *verdict.stages))


def _current(view: views.JobView, alive: list[records.Pod]) -> records.Pod:
    """The driver that runs the job: as recorded, and not one that was made beside it."""
    recorded = driver_state.read(view.job.status).pod
    return next((pod for pod in alive if pod.name == recorded), max(alive, key=leftovers.attempt))


def _before_it_takes_over(
    view: views.JobView, around: build.Surroundings, alive: list[records.Pod], now: handoff.Handoff
) -> verdicts.Verdict:
    """Two drivers: one that runs the job, or did until just now, and one that waits."""
    old = next((pod for pod in alive if pod.name == now.old_pod), None)
    spared = {pod.uid for pod in alive if pod.name in (now.old_pod, now.pod)}
    verdict = handover.go_on(view, around, _seen(view, old), old, now) if old else handover.take(view, now, None)
    gone = leftovers.deletes(leftovers.left(view, spared))
    return dataclasses.replace(verdict, stages=(gone, *verdict.stages))


def _renew(
    view: views.JobView,
    around: build.Surroundings,
    state: driver_state.DriverState,
    alive: list[records.Pod],
    why: str,
) -> verdicts.Verdict:
    """Another driver is wanted than the one that runs: beside it if that can be, after it if not."""
    driver = _current(view, alive)
    goes_on = handover.paused(view, state, driver)
    if goes_on is None and handover.possible(view, around, driver):
        goes_on = handover.begin(view, around, state, driver, why)
    if goes_on is None:
        stopped = _stop(view, state, alive, "SpecChanged", why)
        return dataclasses.replace(stopped, handoff=replacing.begin(view, state, driver, why))
    others = [pod for pod in alive if pod is not driver]
    gone = leftovers.deletes([*others, *leftovers.left(view, {driver.uid})])
    return dataclasses.replace(goes_on, stages=(gone, *goes_on.stages))


def _changes(view: views.JobView, *, beside: bool) -> str:
    """What the new revision asks for, in words, as `sluice plan -f` says it."""
    if view.former is None:
        return ""
    found = [one for one in changes.classify(view.former, view.job.spec) if one.asks >= fields.Asks.SCALE]
    if not found:
        return ": a restart was asked for"
    asked = changes.verdict(found, view.job.spec, plugged=beside)
    return f": {asked}: {'; '.join(change.explain() for change in found[:_TOLD])}"


def _seen(view: views.JobView, driver: records.Pod) -> driver_state.DriverState:
    """The recorded state, with what the pod tells: its uid, and that it has been healthy for a while.

    The uid is recorded once the pod runs: one that went before that did nothing, and is made again by its name.
    """
    state = driver_state.read(view.job.status)
    healthy = driver.ready and view.now_s - driver.ready_s > running.HEALTHY_S
    return dataclasses.replace(
        state,
        attempt=max(state.attempt, leftovers.attempt(driver)),
        pod=driver.name,
        uid=driver.uid if driver.phase == "Running" else state.uid,
        revision=state.rolled_to or driver.labels.get(names.REVISION, ""),
        restarts=0 if healthy else state.restarts,
        since_s=state.since_s or driver.created_s,
        retry_s=None,
    )


def _stop(
    view: views.JobView, state: driver_state.DriverState, alive: list[records.Pod], reason: str, why: str
) -> verdicts.Verdict:
    """Ends drivers; a later look finds out when they are gone."""
    stopping = [pod for pod in alive if not pod.deleting]
    since_s = view.now_s if stopping else max(state.since_s, *(pod.deleted_s for pod in alive))
    deadline_s = view.job.spec.update.drain_timeout_s + _STOP_SLACK_S
    late = view.now_s - since_s > deadline_s
    causes_found = (causes.waiting(pod, view.lost_nodes) for pod in alive)
    lost = next((cause for cause in causes_found if cause and cause.reason == "NodeLost"), None)
    drained = "".join(inside.words(view, pod) for pod in alive)
    message = lost.message if lost else f"{', '.join(pod.name for pod in alive)} stops: {why}{drained}"
    return verdicts.Verdict(
        phase="Stopping" if view.job.spec.suspend else "Restarting",
        reason=lost.reason if lost else reason,
        message=message + (f"; for more than {deadline_s:.0f} s" if late else ""),
        driver=dataclasses.replace(state, since_s=since_s),
        stuck=late or lost is not None,
        stages=(leftovers.deletes(stopping),),
        look_again_s=None if late else since_s + deadline_s - view.now_s + 1,
        decisions=tuple(verdicts.Decision(view.now_s, "Stop", pod.name, "ended", why) for pod in stopping),
    )
