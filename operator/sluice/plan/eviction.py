"""What no eviction ends: driver and executors that the operator takes off their node itself. For plan.life; pure.

`kubectl drain` asks the API server, and the PodDisruptionBudgets `<job>-driver` and `<job>` refuse: for a driver while
another could take over from it, for executors while they are replaced first, or leave with their driver. Where that
cannot be, none or one may go, so no drain waits for ever. What the budgets keep now is remembered by labels of the
driver and seen with its pod: they are written after the budgets, so that whoever is the operator next makes it good.
"""

from collections.abc import Mapping

from sluice import build
from sluice.build import budget
from sluice.plan import changes, handover, orders, rolling, verdicts
from sluice.values import handoff, names, records, steps, views

_AT_REST = ("Stopping", "Suspended", "Completed", "Failed")  # for good, or until somebody wants it to run again
_Labels = Mapping[str, str | None]


def kept(view: views.JobView, around: build.Surroundings, verdict: verdicts.Verdict) -> verdicts.Stages:
    """What makes the budgets keep who is to stay, and the labels say so."""
    driver = handover.pod(view, verdict.driver.pod)
    rests = verdict.phase in _AT_REST
    if driver is None or not (rests or (not driver.over and (verdict.phase == "Running" or verdict.stuck))):
        return ()
    stays = verdict.phase == "Running" and _is_kept(view, around, verdict, names.DRIVER)
    least = 0 if rests else _least(view, around, verdict)
    wanted: _Labels = {names.LEAVES_BY: names.HANDOVER if stays else None, names.EXECUTORS_KEPT: str(least)}
    others = [pod for pod in orders.living(view) if pod is not driver and not pod.deleting]
    found = [(driver, _differing(driver, wanted))]
    found += [(pod, _differing(pod, dict.fromkeys(wanted))) for pod in others]
    budgets = {
        names.EXECUTORS_KEPT: budget.of_executors(view.job, least),
        names.LEAVES_BY: budget.of_driver(view.job, kept=stays),
    }
    due = [manifest for label, manifest in budgets.items() if any(label in labels for _, labels in found)]
    renewed = tuple(steps.Create(manifest, renew=True) for manifest in due)
    return (renewed, tuple(_patch(pod, labels) for pod, labels in found if labels)) if due else ()


def _least(view: views.JobView, around: build.Surroundings, verdict: verdicts.Verdict) -> int:
    """So many are to stay: of both drivers while another comes up, and none is spare when one more comes for a roll."""
    spec = view.job.spec
    brought = spec if verdict.driver.revision == changes.revision(view.job) else view.former or spec
    count = brought.executors.count
    if verdict.phase != "Running" or verdict.stuck or not _is_kept(view, around, verdict, names.EXECUTOR):
        return budget.one_goes(count)
    return count + (spec.executors.count if _handoff(view, verdict).before else verdict.moves)


def _is_kept(view: views.JobView, around: build.Surroundings, verdict: verdicts.Verdict, role: str) -> bool:
    """Whether the verdict's driver, or its executors, are taken off their node, now or once that is cordoned."""
    now = _handoff(view, verdict)
    if now.before or now.phase == handoff.TAKING:
        return True
    failed = verdict.handoff is not None and now.phase == handoff.CANCELLED and verdict.given_up is None
    driver = handover.pod(view, verdict.driver.pod)
    if driver is None or failed or handover.pause_s(view) or not handover.leaves_cordoned(view, role):
        return False
    if role == names.EXECUTOR and not view.job.spec.real_time:
        return rolling.obeys(view, driver)
    return handover.possible(view, around, driver)


def _handoff(view: views.JobView, verdict: verdicts.Verdict) -> handoff.Handoff:
    return verdict.handoff or handoff.read(view.job.status)


def _differing(pod: records.Pod, wanted: _Labels) -> _Labels:
    return {label: value for label, value in wanted.items() if pod.labels.get(label) != value}


def _patch(pod: records.Pod, labels: _Labels) -> steps.PatchPod:
    return steps.PatchPod(pod.namespace, pod.name, pod.uid, pod.resource_version, {"metadata": {"labels": labels}})
