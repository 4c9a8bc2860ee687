"""A driver that is there and wanted: is it up, are its executors, and if not, what do they wait for? For plan.life."""

import dataclasses

from sluice.plan import causes, inside, verdicts
from sluice.values import driver_state, names, records, views

HEALTHY_S = 600.0  # a driver that ran so long begins its backoff anew
START_DEADLINE_S = 600.0
_UNMADE_S = 60.0  # Spark asks for ten executors a second, and soon for one that was lost


def judge(view: views.JobView, state: driver_state.DriverState, driver: records.Pod) -> verdicts.Verdict:
    """Where the attempt stands; nothing is to be done about it."""
    lost = causes.waiting(driver, view.lost_nodes)
    if driver.phase != "Running":
        if lost:
            return _not_yet(view, state, "Starting", lost.reason, lost.message)
        return _not_yet(view, state, "Starting", "DriverStarting", _as_begun(view, driver))
    if lost:
        return verdicts.Verdict("Running", lost.reason, lost.message, state, stuck=True)
    mine = [pod for pod in view.pods if pod.owner_uid == driver.uid and pod.role == names.EXECUTOR and not pod.over]
    return _with_executors(view, state, driver, mine)


def _as_begun(view: views.JobView, driver: records.Pod) -> str:
    """What was said when it was begun: a status is not written anew for a pod that is merely on its way."""
    begun = view.job.status.get("phase") == "Starting" and driver.name in view.job.status.get("message", "")
    return str(view.job.status["message"]) if begun else f"{driver.name} is {driver.phase}"


def _with_executors(
    view: views.JobView, state: driver_state.DriverState, driver: records.Pod, executors: list[records.Pod]
) -> verdicts.Verdict:
    spec = view.job.spec.executors
    count = sum(pod.phase == "Running" and not pod.deleting for pod in executors)
    needed = spec.count if spec.minimum is None else min(spec.minimum, spec.count)
    if driver.ready and count >= needed:
        left_s = driver.ready_s + HEALTHY_S - view.now_s
        return verdicts.Verdict(
            phase="Running",
            reason="Running",
            message=f"{driver.name} runs with {count} of {spec.count} executors{inside.words(view, driver)}",
            driver=state,
            ready=True,
            look_again_s=left_s + 1 if left_s > 0 and state.restarts else None,
        )
    if count >= needed:
        unready = f"{driver.name} is not ready yet, {count} of {spec.count} executors run{inside.words(view, driver)}"
        return _not_yet(view, state, "Running", "DriverNotReady", unready)
    ready_s = driver.ready_s if driver.ready else view.now_s
    left_s = max(ready_s, _unready_since_s(view, state)) + _UNMADE_S - view.now_s
    waits_for = _waited_for(view, executors) or (_unmade(view, driver, executors) if left_s <= 0 else "")
    missing = f"{count} of {spec.count} executors run, {needed} are needed{waits_for}"
    verdict = _not_yet(view, state, "Running", "ExecutorsMissing", missing)
    return dataclasses.replace(verdict, look_again_s=left_s + 1) if left_s > 0 else verdict


def _waited_for(view: views.JobView, executors: list[records.Pod]) -> str:
    """What the first executor that is not there waits for."""
    for pod in executors:
        if cause := causes.waiting(pod, view.lost_nodes):
            return f": {cause.message}"
    gated = [pod.name for pod in executors if pod.gated]
    return f": {gated[0]} waits for its node" if gated else ""


def _unmade(view: views.JobView, driver: records.Pod, executors: list[records.Pod]) -> str:
    """Where to look when the driver does not come to make its executors: the API server tells it why, and not us."""
    made, wanted, where = len(executors), view.job.spec.executors.count, f"kubectl -n {driver.namespace}"
    if made >= wanted:
        return ""
    hint = f"if that stays so, look at quotas ({where} describe quota) and its log ({where} logs {driver.name})"
    return f": {driver.name} has made only {made} of {wanted} pods: {hint}"


def _not_yet(
    view: views.JobView, state: driver_state.DriverState, phase: str, reason: str, message: str
) -> verdicts.Verdict:
    """Not there yet, and whether that has been so for too long."""
    left_s = _unready_since_s(view, state) + START_DEADLINE_S - view.now_s
    if left_s <= 0:
        late = f"{message}; for more than {START_DEADLINE_S / 60:.0f} minutes"
        return verdicts.Verdict(phase, reason, late, state, stuck=True)
    return verdicts.Verdict(phase, reason, message, state, look_again_s=left_s + 1)


def _unready_since_s(view: views.JobView, state: driver_state.DriverState) -> float:
    """The attempt's begin, or when Ready turned False since."""
    ready = next((c for c in view.job.status.get("conditions", ()) if c["type"] == "Ready"), None)
    if ready is None:
        return state.since_s
    turned_s = view.now_s if ready["status"] == "True" else driver_state.seconds(ready["lastTransitionTime"])
    return max(state.since_s, turned_s)
