"""Which driver no eviction ends: one that a handover takes off its node. For plan.life; pure.

`kubectl drain` asks the API server, and the PodDisruptionBudget `<job>-driver` refuses for the pod that bears a label.
It is on a driver while another could take over from it, so a drain waits for that; it goes where none could, so no
drain waits for ever. The label is seen with the pod: whoever is the operator next knows where it is.
"""

from sluice import build
from sluice.plan import handover, orders, verdicts
from sluice.values import handoff, names, records, steps, views


def labelled(view: views.JobView, around: build.Surroundings, verdict: verdicts.Verdict) -> verdicts.Stages:
    """What puts the label where it belongs, and takes it from where it does not."""
    if verdict.phase != "Running":
        return ()
    kept = verdict.driver.pod if _is_kept(view, around, verdict) else ""
    there = (pod for pod in orders.living(view) if not pod.deleting)
    found = tuple(_patch(pod, pod.name == kept) for pod in there if _has(pod) != (pod.name == kept))
    return (found,) if found else ()


def _is_kept(view: views.JobView, around: build.Surroundings, verdict: verdicts.Verdict) -> bool:
    """Whether the verdict's driver leaves by a handover, now or once its node is cordoned."""
    now = verdict.handoff or handoff.read(view.job.status)
    if now.before or now.phase == handoff.TAKING:
        return True
    failed = verdict.handoff is not None and now.phase == handoff.CANCELLED and verdict.given_up is None
    driver = handover.pod(view, verdict.driver.pod)
    if driver is None or failed or handover.pause_s(view) or not handover.leaves_cordoned(view):
        return False
    return handover.possible(view, around, driver)


def _has(pod: records.Pod) -> bool:
    return names.LEAVES_BY in pod.labels


def _patch(pod: records.Pod, kept: bool) -> steps.PatchPod:
    patch = {"metadata": {"labels": {names.LEAVES_BY: names.HANDOVER if kept else None}}}
    return steps.PatchPod(pod.namespace, pod.name, pod.uid, pod.resource_version, patch)
