"""No driver of a job lives: begin one, wait, or leave it at that. For plan.life; pure."""

import dataclasses

from sluice import build
from sluice.plan import causes, changes, leftovers, proving, replacing, running, starts, verdicts
from sluice.values import driver_state, handoff, names, records, views

LEFTOVERS_S = 10.0  # how long executors of a driver that ended may hold up the next


def judge(view: views.JobView, around: build.Surroundings, drivers: list[records.Pod]) -> verdicts.Verdict:
    """One is wanted, unless the last ended for good."""
    return replacing.unmade(view, _judge(view, around, drivers))


def _judge(view: views.JobView, around: build.Surroundings, drivers: list[records.Pod]) -> verdicts.Verdict:
    state = driver_state.read(view.job.status)
    phase = view.job.status.get("phase")
    last = next((pod for pod in drivers if leftovers.attempt(pod) == state.attempt), None)
    anew = dataclasses.replace(state, restarts=0, last_failure=None)
    later = leftovers.next_attempt(view, state)
    if state.attempt == 0:
        return start(view, around, anew, 1, "it is wanted")
    if state.revision != changes.revision(view.job):
        return _start_revision(view, around, anew, later)
    if phase in ("Suspended", "Stopping"):
        return start(view, around, anew, later, "spec.suspend is false again")
    if phase in ("Completed", "Failed"):
        return rests(view, phase, _last_reason(view), view.job.status["message"])
    if last is None:
        missing, attempt = (f"{state.pod} is gone", later) if state.uid else ("not made yet", state.attempt)
        return start(view, around, state, attempt, missing)
    return _over(view, around, state, last)


def _start_revision(
    view: views.JobView, around: build.Surroundings, state: driver_state.DriverState, later: int
) -> verdicts.Verdict:
    """The first attempt of another revision than the last."""
    attempt = replacing.attempt_of(view, later)
    why = f"revision {view.given_up.revision} is given up" if view.given_up else "the spec changed"
    begun = start(view, around, state, attempt, why)
    if begun.driver.attempt != attempt:
        return begun
    return dataclasses.replace(begun, handoff=replacing.started(view, attempt))


def _over(
    view: views.JobView, around: build.Surroundings, state: driver_state.DriverState, last: records.Pod
) -> verdicts.Verdict:
    """The last driver ended: for good, or until its backoff has passed."""
    policy = view.job.spec.restart.policy
    if last.phase == "Succeeded" and policy != "Always":
        return rests(view, "Completed", "Completed", f"{last.name} ended with exit code 0")
    if state.last_failure is None or state.last_failure.attempt != state.attempt:
        state = _failed(view, state, last)
    failure = state.last_failure
    assert failure is not None
    now = handoff.read(view.job.status)
    if now.on and now.pod == last.name and proving.is_at_fault(failure):
        ended = dataclasses.replace(rests(view, "Restarting", failure.reason, failure.sentence), driver=state)
        return proving.give_up(view, ended, now, failure.sentence)
    if policy == "Never":
        return dataclasses.replace(rests(view, "Failed", failure.reason, failure.sentence), driver=state, stuck=True)
    left_s = (state.retry_s or 0.0) - view.now_s
    if left_s <= 0:
        return start(view, around, state, leftovers.next_attempt(view, state), failure.sentence)
    return verdicts.Verdict(
        phase="Restarting",
        reason=failure.reason,
        message=f"{failure.sentence} Attempt {leftovers.next_attempt(view, state)} begins at {_clock(state)} UTC.",
        driver=state,
        stages=(leftovers.deletes(leftovers.left(view)),),
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


def start(
    view: views.JobView, around: build.Surroundings, state: driver_state.DriverState, attempt: int, why: str
) -> verdicts.Verdict:
    """Begins an attempt, once the executors of the last are gone or had their time to go."""
    ended_s = state.last_failure.at_s if state.last_failure else state.since_s
    running_still = [pod for pod in view.pods if pod.role == names.EXECUTOR and not pod.over]
    wait_s = ended_s + LEFTOVERS_S - view.now_s
    if running_still and wait_s > 0:
        message = f"{running_still[0].name} of the last attempt has to go first"
        return verdicts.Verdict(
            "Restarting",
            "ExecutorsLeft",
            message,
            state,
            stages=(leftovers.deletes(leftovers.left(view)),),
            look_again_s=wait_s,
        )
    revision = changes.revision(view.job)
    name = names.driver_pod(view.job.name, revision, attempt)
    again = attempt == state.attempt  # it was recorded, and could not be made
    since_s = state.since_s if again else view.now_s
    begun = dataclasses.replace(
        state,
        attempt=attempt,
        pod=name,
        uid="",
        revision=revision,
        rolled_to="",
        ordered_s=None,
        since_s=since_s,
        retry_s=None,
    )
    start = verdicts.Decision(view.now_s, "Start", name, f"attempt {attempt} of revision {revision}", why)
    try:
        made = starts.stages(view.job, revision, attempt, around)
    except ValueError as wrong:
        return waits(view, "InvalidSpec", f"{wrong}")
    said = f"{name} cannot be made: {view.refused}" if view.refused else f"{name} is started: {why}"
    return verdicts.Verdict(
        phase="Starting",
        reason="Refused" if view.refused else "DriverStarting",
        message=said,
        driver=begun,
        stuck=bool(view.refused),
        stages=(leftovers.deletes([*leftovers.left(view), *leftovers.forgotten(view)]), *made),
        look_again_s=running.START_DEADLINE_S,
        decisions=() if again else (start,),
        plugged=around.plugged,
    )


def waits(view: views.JobView, reason: str, message: str) -> verdicts.Verdict:
    """For a person: nothing can be begun."""
    return verdicts.Verdict("Pending", reason, message, driver_state.read(view.job.status), stuck=True)


def rests(view: views.JobView, phase: str, reason: str, message: str) -> verdicts.Verdict:
    """Nothing runs, and nothing is to."""
    state = dataclasses.replace(driver_state.read(view.job.status), retry_s=None)
    return verdicts.Verdict(phase, reason, message, state, stages=(leftovers.deletes(leftovers.left(view)),))


def _last_reason(view: views.JobView) -> str:
    ready = [c["reason"] for c in view.job.status.get("conditions", ()) if c["type"] == "Ready"]
    return str(ready[0] if ready else view.job.status["phase"])


def _clock(state: driver_state.DriverState) -> str:
    return driver_state.timestamp(state.retry_s or 0.0)[11:19]
