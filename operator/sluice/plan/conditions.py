"""The conditions of a StreamJob, each with a reason and a sentence. Called by plan.status.

`kubectl wait --for=condition=Ready` and kstatus read them; a moment changes only with the status it belongs to.
"""

from typing import Any

from sluice.plan import balanced, inside, measured, orders, placed, verdicts
from sluice.values import driver_state, handoff, names, records, views

# A moment on the way: nobody needs an event.
QUIET = ("NoExecutors", "Waiting", "DriverStarting", "DriverNotReady", "ExecutorsMissing", "Preparing")
_LONGEST = 1024  # of a message, like a driver's last words


def all_of(view: views.JobView, verdict: verdicts.Verdict) -> list[dict[str, Any]]:
    """Every condition, in one order."""
    seen = inside.look(view, verdict, orders.wanted(view, verdict))
    return [
        _condition(view, "Ready", verdict.ready, verdict.reason, verdict.message),
        _condition(view, "Progressing", *_progressing(view, verdict)),
        _condition(view, "Protected", *measured.protected(seen)),
        _condition(view, "Placed", *_placed(view)),
        _condition(view, "Balanced", *balanced.balanced(view, seen)),
        _condition(view, "SLOMet", *measured.slo_met(seen, view.job.spec.slo)),
        _condition(view, "CheckpointHealthy", *measured.checkpoint_healthy(seen)),
    ]


def _condition(view: views.JobView, kind: str, holds: bool | None, reason: str, message: str) -> dict[str, Any]:
    status = "Unknown" if holds is None else str(holds)
    before = next((c for c in view.job.status.get("conditions", ()) if c["type"] == kind), None)
    since = before["lastTransitionTime"] if before and before["status"] == status else None
    return {
        "type": kind,
        "status": status,
        "reason": reason,
        "message": shortened(message),
        "observedGeneration": view.job.generation,
        "lastTransitionTime": since or driver_state.timestamp(view.now_s),
    }


def _progressing(view: views.JobView, verdict: verdicts.Verdict) -> tuple[bool, str, str]:
    """Whether it is on its way to what the spec wants, or is there."""
    now, given_up = verdict.handoff or handoff.read(view.job.status), verdict.given_up or view.given_up
    if now.on:
        return True, "HandingOver", now.message
    if given_up and verdict.ready:
        return False, "GivenUp", f"revision {given_up.revision} is not tried any more: {given_up.why}"
    rests = verdict.phase in ("Suspended", "Completed", "Failed")
    settled = (verdict.ready and not verdict.moves) or verdict.stuck or rests
    return not settled, verdict.reason, verdict.message


def _placed(view: views.JobView) -> tuple[bool, str, str]:
    """Whether every executor sits where Sluice decided."""
    mode = view.job.spec.placement.mode
    executors = [pod for pod in view.pods if pod.role == names.EXECUTOR and not pod.over and not pod.deleting]
    if mode == "Off":
        return False, "Off", "placement.mode is Off: the scheduler places"
    if not view.placing:
        return False, "Off", "this operator places nothing (the chart's value placement is off): the scheduler places"
    if not executors:
        return False, "NoExecutors", "there is no executor to place"
    waiting = sum(pod.gated for pod in executors)
    if waiting:
        return False, "Waiting", f"{waiting} executors wait for their node"
    return _opened(mode, executors) or (True, "Placed", _where(executors))


def _opened(mode: str, executors: list[records.Pod]) -> tuple[bool, str, str] | None:
    """The first executor that the scheduler placed by itself."""
    for pod in executors:
        place = placed.read(pod)
        if place is None or not place.node:
            why = place.why if place else "its gate was not opened by the operator"
            return False, "Observed" if mode == "Observe" else "Open", f"{pod.name} was placed by the scheduler: {why}"
    return None


def _where(executors: list[records.Pod]) -> str:
    nodes = sorted({pod.node or "not bound yet" for pod in executors})
    return "executors on " + ", ".join(nodes)


def shortened(text: str, longest: int = _LONGEST) -> str:
    """What fits a field of the status."""
    return text if len(text) <= longest else text[: longest - 1] + "…"
