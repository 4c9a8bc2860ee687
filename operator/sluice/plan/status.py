"""A verdict as the patch of `status` and the events that tell of it. Called by the cycle after plan.life; pure.

Its size does not depend on how many executors came and went: counts, at most 32 nodes, the last ten decisions.
"""

import collections
from collections.abc import Sequence
from typing import Any

from sluice.plan import announced, balanced, changes, conditions, inside, orders, placed, retry_place, verdicts
from sluice.values import driver_state, fields, handoff, names, records, steps, streamjob, views
from sluice.values.streamjob import Body

_DECISIONS = 10
_NODES = 32
_EXACT = ("nodes", "drivers")


def record(view: views.JobView, verdict: verdicts.Verdict) -> tuple[steps.Step, ...]:
    """The step that writes the status down; nothing if it says so already."""
    patch = difference(view.job.status, wanted(view, verdict))
    if not patch:
        return ()
    return (steps.RecordStatus(view.job.namespace, view.job.name, view.job.uid, view.job.resource_version, patch),)


def tell(view: views.JobView, verdict: verdicts.Verdict) -> tuple[steps.Step, ...]:
    """An event for each condition that people wait for and whose reason changed."""
    conditions_before = {c["type"]: c for c in view.job.status.get("conditions", ())}
    before = {kind: c["reason"] for kind, c in conditions_before.items()}
    everything = conditions.all_of(view, verdict)
    told = [c for c in everything if c["type"] in ("Ready", "Placed")]
    stuck = verdict.stuck and not _was_stuck(view)
    new = [c for c in told if c["reason"] != before.get(c["type"]) or (stuck and c["type"] == "Ready")]
    changed = [c for c in new if c["reason"] not in conditions.QUIET or (verdict.stuck and c["type"] == "Ready")]
    conditions_told = tuple(_tell(view.job, condition, _is_warning(condition, verdict)) for condition in changed)
    return (
        *_taken_up(view.job),
        *_of_the_handover(view, verdict),
        *announced.tell(view, verdict),
        *conditions_told,
        *_of_the_balance(view.job, conditions_before.get("Balanced"), everything),
    )


def _of_the_balance(job: streamjob.StreamJob, before: Body | None, found: Sequence[Body]) -> tuple[steps.Step, ...]:
    """Events where the balance is another, and where another executor is slow."""
    now = next(c for c in found if c["type"] == "Balanced")
    is_new = now["reason"] != (before or {}).get("reason") and now["reason"] not in balanced.QUIET
    slow = balanced.slow(now["message"])
    told = [(f"Rebalance{now['reason']}", now["message"])] if is_new else []
    told += [("ExecutorSlow", slow)] if slow and slow != balanced.slow((before or {}).get("message", "")) else []
    return tuple(steps.Tell(job.namespace, job.name, job.uid, False, reason, message) for reason, message in told)


def _taken_up(job: streamjob.StreamJob) -> tuple[steps.Step, ...]:
    """An event for a changed spec that no condition tells of, as nothing restarts or stops for it."""
    found = changes.classify(job.before, job.spec) if job.before else ()
    if not found or any(change.asks != fields.Asks.NOTHING for change in found):
        return ()
    message = "; ".join(change.explain() for change in found)
    return (steps.Tell(job.namespace, job.name, job.uid, False, "SpecTakenUp", message),)


def _of_the_handover(view: views.JobView, verdict: verdicts.Verdict) -> tuple[steps.Step, ...]:
    """An event for each of its phases: before anything is done, and at its end."""
    now, job = verdict.handoff, view.job
    if now is None or now.phase == handoff.read(job.status).phase:
        return ()
    warning = verdict.given_up is not None or now.phase in (handoff.CANCELLED, handoff.ROLLED_BACK)
    return (steps.Tell(job.namespace, job.name, job.uid, warning, f"HandOver{now.phase}", now.message),)


def _was_stuck(view: views.JobView) -> bool:
    return any(c["type"] == "Progressing" and c["status"] == "False" for c in view.job.status.get("conditions", ()))


def _tell(job: streamjob.StreamJob, condition: Body, warning: bool) -> steps.Tell:
    return steps.Tell(job.namespace, job.name, job.uid, warning, condition["reason"], condition["message"])


def _is_warning(condition: Body, verdict: verdicts.Verdict) -> bool:
    failed = verdict.driver.last_failure is not None and verdict.reason == verdict.driver.last_failure.reason
    return bool(condition["type"] == "Ready" and (verdict.stuck or failed))


def wanted(view: views.JobView, verdict: verdicts.Verdict) -> dict[str, Any]:
    """The status as it should read, but for what others may have put there."""
    executors = [pod for pod in view.pods if pod.role == names.EXECUTOR and not pod.over and not pod.deleting]
    counts = collections.Counter(pod.node for pod in executors if pod.node)
    most = sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))[:_NODES]
    return {
        "observedGeneration": view.job.generation,
        "phase": verdict.phase,
        "message": conditions.shortened(verdict.message),
        "revision": verdict.driver.revision,
        "driver": verdict.driver.write() if verdict.driver.attempt else {},
        "executors": {
            "wanted": view.job.spec.executors.count,
            "running": sum(pod.phase == "Running" for pod in executors if _serves(pod, verdict)),
            "waiting": sum(pod.gated for pod in executors),
        },
        "selector": f"{names.JOB}={view.job.name},{names.ROLE}={names.EXECUTOR}",
        "conditions": conditions.all_of(view, verdict),
        "decisions": _decisions(view, verdict, executors),
        "placement": {
            "policy": view.job.spec.placement.policy,
            "nodes": dict(sorted(most)),
            "avoid": [{"node": one.node, "at": driver_state.timestamp(one.at_s)} for one in retry_place.avoided(view)],
            **(verdict.moved.write() if verdict.moved else {}),
        },
        **({"sizing": verdict.sizing} if verdict.sizing is not None else {}),
        **_of_the_plugin(view, verdict),
        **_of_the_handoff(view, verdict),
    }


def _serves(executor: records.Pod, verdict: verdicts.Verdict) -> bool:
    """Not one of a driver that is made beside the one that runs the job."""
    return executor.labels.get(names.ATTEMPT) == str(verdict.driver.attempt)


def _of_the_handoff(view: views.JobView, verdict: verdicts.Verdict) -> dict[str, Any]:
    """The last one, and the revision that is not tried any more; nothing where there never was one."""
    given_up = verdict.given_up or view.given_up
    found: dict[str, Any] = {"handoff": verdict.handoff.write()} if verdict.handoff else {}
    if given_up or view.job.status.get("givenUp"):
        found["givenUp"] = given_up.write() if given_up else None
    return found


def _of_the_plugin(view: views.JobView, verdict: verdicts.Verdict) -> dict[str, Any]:
    """Nothing where there is none, nor was."""
    ordered = orders.wanted(view, verdict)
    if ordered is None:
        return {}
    said = inside.look(view, verdict, ordered).said
    return {"queries": inside.queries(said) if said else [], "orders": ordered}


def _decisions(view: views.JobView, verdict: verdicts.Verdict, executors: Sequence[records.Pod]) -> list[Body]:
    """The last ten: those told before, the verdict's, and what stands on the executors."""
    standing = [place.decision(pod) for pod in executors if (place := placed.read(pod))]
    found = [_written(decision) for decision in (*standing, *verdict.decisions, *balanced.decision(view))]
    known = list(view.job.status.get("decisions", ()))
    oldest = known[0]["at"] if len(known) == _DECISIONS else ""
    told = [_subject(decision) for decision in known]  # what is carried out again is told once
    fresh = [decision for decision in found if _subject(decision) not in told and decision["at"] >= oldest]
    everything = sorted([*known, *fresh], key=lambda decision: str(decision["at"]))
    return balanced.few(everything)[-_DECISIONS:]


def _subject(decision: Body) -> tuple[str, str, str]:
    return decision["kind"], decision["subject"], decision["what"]


def _written(decision: verdicts.Decision) -> Body:
    return {
        "at": driver_state.timestamp(decision.at_s),
        "kind": decision.kind,
        "subject": decision.subject,
        "what": decision.what,
        "why": conditions.shortened(decision.why, 256),
    }


def difference(old: Body, new: Body, *, exact: bool = False) -> dict[str, Any]:
    """The merge patch that brings the new one's fields into the old; lists are taken whole.

    Exact: what the new one does not have goes. So it is below a field whose names are those of nodes or drivers.
    """
    patch: dict[str, Any] = dict.fromkeys(sorted(old.keys() - new.keys())) if exact else {}
    for field, value in new.items():
        before = old.get(field)
        if isinstance(value, dict) and isinstance(before, dict):
            if inner := difference(before, value, exact=exact or field in _EXACT):
                patch[field] = inner
        elif value != before:
            patch[field] = value
    return patch
