"""The life of a job: what its driver needs next. Called by the cycle with a view; plan.status writes the verdict down.

Never two drivers: an attempt is recorded (with the status' resourceVersion) before its pod is made, its name follows
from the record, and a next one begins only on facts that cannot be undone: the last pod has ended, or exactly that pod
(its uid was recorded) is gone. A view that is out of date can therefore delay, not double.
"""

import dataclasses

from sluice import build
from sluice.build import samples
from sluice.plan import causes, changes, inside, rolling, running, verdicts
from sluice.values import driver_state, names, records, steps, streamjob, views

LEFTOVERS_S = 10.0  # how long executors of a driver that ended may hold up the next
_STOP_SLACK_S = 90.0  # beyond the time a driver has to drain
_TOLD = 4  # changes in one sentence
_AS_THEY_WERE = ("ConfigMap", "Lease")  # immutable, or written by others since


def judge(view: views.JobView, around: build.Surroundings) -> verdicts.Verdict:
    """Where the job stands and what to do."""
    drivers = [pod for pod in view.pods if pod.role == names.DRIVER]
    alive = [pod for pod in drivers if not pod.over]
    strangers = [pod for pod in alive if pod.owner_uid != view.job.uid]
    if strangers:
        return _waits(view, "PredecessorStopping", f"{strangers[0].name} of an earlier {names.KIND} still runs")
    if alive:
        return _alive(view, around, max(alive, key=_attempt), alive)
    if view.job.unreadable:
        return _waits(view, "InvalidSpec", view.job.unreadable)
    if view.job.spec.suspend:
        return _rests(view, "Suspended", "Suspended", "spec.suspend is true: nothing runs, the checkpoint stays")
    if view.rival:
        hint = "one of the two needs a checkpoint.location of its own"
        return _waits(view, "CheckpointInUse", f"{view.rival} writes {view.job.spec.checkpoint.location}: {hint}")
    return _dead(view, around, [pod for pod in drivers if pod.owner_uid == view.job.uid])


def _alive(
    view: views.JobView, around: build.Surroundings, driver: records.Pod, alive: list[records.Pod]
) -> verdicts.Verdict:
    state = _seen(view, driver)
    others = [pod for pod in alive if pod is not driver]
    wanted = changes.revision(view.job)
    if view.job.spec.suspend:
        return _stop(view, state, alive, "Suspending", "spec.suspend is true")
    if driver.deleting:
        return _stop(view, state, alive, "Stopping", "somebody deleted it")
    if state.revision != wanted and not rolling.carries(view, driver):
        return _stop(view, state, alive, "SpecChanged", f"revision {wanted} takes its place{_changes(view)}")
    verdict = rolling.judge(view, around, driver, running.judge(view, state, driver))
    return dataclasses.replace(verdict, stages=(_deletes([*others, *_left(view, driver.uid)]), *verdict.stages))


def _changes(view: views.JobView) -> str:
    """What the new revision asks for, in words, as `sluice plan -f` says it."""
    if view.former is None:
        return ""
    found = changes.classify(view.former, view.job.spec)
    if not found:
        return ": a restart was asked for"
    return f": {changes.verdict(found, view.job.spec)}: {'; '.join(change.explain() for change in found[:_TOLD])}"


def _seen(view: views.JobView, driver: records.Pod) -> driver_state.DriverState:
    """The recorded state, with what the pod tells: its uid, and that it has been healthy for a while.

    The uid is recorded once the pod runs: one that went before that did nothing, and is made again by its name.
    """
    state = driver_state.read(view.job.status)
    healthy = driver.ready and view.now_s - driver.ready_s > running.HEALTHY_S
    return dataclasses.replace(
        state,
        attempt=max(state.attempt, _attempt(driver)),
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
    since_s = view.now_s if stopping else state.since_s
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
        stages=(_deletes(stopping),),
        look_again_s=None if late else since_s + deadline_s - view.now_s + 1,
        decisions=tuple(verdicts.Decision(view.now_s, "Stop", pod.name, "ended", why) for pod in stopping),
    )


def _dead(view: views.JobView, around: build.Surroundings, drivers: list[records.Pod]) -> verdicts.Verdict:
    """No driver lives and one is wanted, unless the last ended for good."""
    state = driver_state.read(view.job.status)
    phase = view.job.status.get("phase")
    last = next((pod for pod in drivers if _attempt(pod) == state.attempt), None)
    anew = dataclasses.replace(state, restarts=0, last_failure=None)
    if state.attempt == 0:
        return _start(view, around, anew, 1, "it is wanted")
    if state.revision != changes.revision(view.job):
        return _start(view, around, anew, state.attempt + 1, "the spec changed")
    if phase in ("Suspended", "Stopping"):
        return _start(view, around, anew, state.attempt + 1, "spec.suspend is false again")
    if phase in ("Completed", "Failed"):
        return _rests(view, phase, _last_reason(view), view.job.status["message"])
    if last is None:
        missing, attempt = (f"{state.pod} is gone", state.attempt + 1) if state.uid else ("not made yet", state.attempt)
        return _start(view, around, state, attempt, missing)
    return _over(view, around, state, last)


def _over(
    view: views.JobView, around: build.Surroundings, state: driver_state.DriverState, last: records.Pod
) -> verdicts.Verdict:
    """The last driver ended: for good, or until its backoff has passed."""
    policy = view.job.spec.restart.policy
    if last.phase == "Succeeded" and policy != "Always":
        return _rests(view, "Completed", "Completed", f"{last.name} ended with exit code 0")
    if state.last_failure is None or state.last_failure.attempt != state.attempt:
        state = _failed(view, state, last)
    failure = state.last_failure
    assert failure is not None
    if policy == "Never":
        return dataclasses.replace(_rests(view, "Failed", failure.reason, failure.sentence), driver=state, stuck=True)
    left_s = (state.retry_s or 0.0) - view.now_s
    if left_s <= 0:
        return _start(view, around, state, state.attempt + 1, failure.sentence)
    return verdicts.Verdict(
        phase="Restarting",
        reason=failure.reason,
        message=f"{failure.sentence} Attempt {state.attempt + 1} begins at {_clock(state)} UTC.",
        driver=state,
        stages=(_deletes(_left(view)),),
        look_again_s=left_s,
    )


def _failed(view: views.JobView, state: driver_state.DriverState, last: records.Pod) -> driver_state.DriverState:
    """The state with the new failure counted, and when to try again."""
    failure = causes.failure(last, state.attempt, view.now_s)
    was_healthy = last.ready_s > 0 and failure.at_s - last.ready_s > running.HEALTHY_S
    restarts = 1 if was_healthy else state.restarts + 1
    restart = view.job.spec.restart
    retry_s = failure.at_s + backoff_s(restart.initial_s, restart.longest_s, restarts)
    return dataclasses.replace(
        state, restarts=restarts, retry_s=retry_s, last_failure=failure, uid=last.uid, pod=last.name
    )


def backoff_s(initial_s: float, longest_s: float, restarts: int) -> float:
    """Twice as long every time, up to the longest."""
    return min(longest_s, initial_s * 2.0 ** min(restarts - 1, 30))


def _start(
    view: views.JobView, around: build.Surroundings, state: driver_state.DriverState, attempt: int, why: str
) -> verdicts.Verdict:
    """Begins an attempt, once the executors of the last are gone or had their time to go."""
    ended_s = state.last_failure.at_s if state.last_failure else state.since_s
    running_still = [pod for pod in view.pods if pod.role == names.EXECUTOR and not pod.over]
    wait_s = ended_s + LEFTOVERS_S - view.now_s
    if running_still and wait_s > 0:
        message = f"{running_still[0].name} of the last attempt has to go first"
        return verdicts.Verdict(
            "Restarting", "ExecutorsLeft", message, state, stages=(_deletes(_left(view)),), look_again_s=wait_s
        )
    revision = changes.revision(view.job)
    name = names.driver_pod(view.job.name, revision, attempt)
    again = attempt == state.attempt  # it was recorded, and could not be made
    since_s = state.since_s if again else view.now_s
    begun = dataclasses.replace(
        state, attempt=attempt, pod=name, uid="", revision=revision, since_s=since_s, retry_s=None
    )
    begun = dataclasses.replace(begun, rolled_to="", ordered_s=None)
    start = verdicts.Decision(view.now_s, "Start", name, f"attempt {attempt} of revision {revision}", why)
    try:
        made = _made(view.job, revision, attempt, around)
    except ValueError as wrong:
        return _waits(view, "InvalidSpec", f"{wrong}")
    said = f"{name} cannot be made: {view.refused}" if view.refused else f"{name} is started: {why}"
    return verdicts.Verdict(
        phase="Starting",
        reason="Refused" if view.refused else "DriverStarting",
        message=said,
        driver=begun,
        stuck=bool(view.refused),
        stages=(_deletes([*_left(view), *_forgotten(view)]), *made),
        look_again_s=running.START_DEADLINE_S,
        decisions=() if again else (start,),
        plugged=around.plugged,
    )


def _made(
    job: streamjob.StreamJob, revision: str, attempt: int, around: build.Surroundings
) -> tuple[tuple[steps.Step, ...], ...]:
    """The driver after all it needs; before that, whether its executors' template makes a pod at all."""
    *before, driver = build.objects(job, revision, attempt, around)
    needs = tuple(steps.Create(manifest, renew=manifest["kind"] not in _AS_THEY_WERE) for manifest in before)
    sample = samples.pods(job, revision, around)[1] if job.spec.executors.template else None
    return (steps.Try(sample),) if sample else (), needs, (steps.Create(driver),)


def _left(view: views.JobView, driver_uid: str = "") -> list[records.Pod]:
    """Executors of drivers that are no more."""
    return [pod for pod in view.pods if pod.role == names.EXECUTOR and pod.owner_uid != driver_uid]


def _forgotten(view: views.JobView) -> list[records.Pod]:
    """Drivers that ended before the last one: the last is kept, to be looked at."""
    ended = [pod for pod in view.pods if pod.role == names.DRIVER and pod.over]
    return sorted(ended, key=_attempt)[:-1]


def _deletes(pods: list[records.Pod]) -> tuple[steps.Step, ...]:
    return tuple(steps.Delete("Pod", pod.namespace, pod.name, pod.uid) for pod in pods if not pod.deleting)


def _waits(view: views.JobView, reason: str, message: str) -> verdicts.Verdict:
    return verdicts.Verdict("Pending", reason, message, driver_state.read(view.job.status), stuck=True)


def _rests(view: views.JobView, phase: str, reason: str, message: str) -> verdicts.Verdict:
    state = dataclasses.replace(driver_state.read(view.job.status), retry_s=None)
    return verdicts.Verdict(phase, reason, message, state, stages=(_deletes(_left(view)),))


def _last_reason(view: views.JobView) -> str:
    ready = [c["reason"] for c in view.job.status.get("conditions", ()) if c["type"] == "Ready"]
    return str(ready[0] if ready else view.job.status["phase"])


def _clock(state: driver_state.DriverState) -> str:
    return driver_state.timestamp(state.retry_s or 0.0)[11:19]


def _attempt(pod: records.Pod) -> int:
    text = pod.labels.get(names.ATTEMPT, "")
    return int(text) if text.isdecimal() else 0
