"""Which pods no eviction ends: those that the operator takes off their node itself. For plan.life; pure.

`kubectl drain` asks the API server, and the PodDisruptionBudgets `<job>-driver` and `<job>-executors` refuse for pods
that bear a label. It is on a driver while another could take over from it, and on executors while they are replaced
first, or leave with their driver; so a drain waits for that. It goes where that cannot be, so no drain waits for ever.
The label is seen with the pod: whoever is the operator next knows where it is.
"""

from sluice import build
from sluice.plan import crew, handover, orders, rolling, verdicts
from sluice.values import handoff, names, records, steps, views


def labelled(view: views.JobView, around: build.Surroundings, verdict: verdicts.Verdict) -> verdicts.Stages:
    """What puts the label where it belongs, and takes it from where it does not."""
    found = (*_of_drivers(view, around, verdict), *_of_executors(view, around, verdict))
    return (found,) if found else ()


def _of_drivers(view: views.JobView, around: build.Surroundings, verdict: verdicts.Verdict) -> list[steps.PatchPod]:
    if verdict.phase != "Running":
        return []
    kept = verdict.driver.pod if _is_kept(view, around, verdict, names.DRIVER) else ""
    there = [pod for pod in orders.living(view) if not pod.deleting and _has(pod) != (pod.name == kept)]
    return [_patch(pod, names.HANDOVER if pod.name == kept else None) for pod in there]


def _of_executors(view: views.JobView, around: build.Surroundings, verdict: verdicts.Verdict) -> list[steps.PatchPod]:
    """Those of the verdict's driver alone: what comes up beside them must not make them spare."""
    if verdict.phase != "Running" and not verdict.stuck:
        return []  # they go with their driver
    kept = not verdict.stuck and _is_kept(view, around, verdict, names.EXECUTOR)
    driver = handover.pod(view, verdict.driver.pod) if kept else None
    owner = driver.uid if driver else None
    there = [pod for pod in view.pods if pod.role == names.EXECUTOR and not pod.over and not pod.deleting]
    mine = [pod for pod in there if pod.owner_uid == owner]
    gone = [_patch(pod, None) for pod in there if _has(pod) and pod.owner_uid != owner]
    leaves_by = names.HANDOVER if view.job.spec.real_time else names.ROLL
    return [*gone, *(_patch(pod, leaves_by) for pod in _joining(mine, view.job.spec.executors.count))]


def _joining(mine: list[records.Pod], count: int) -> list[records.Pod]:
    """Once all work, as many as are to be kept: one look labels them all, and one too many would make another spare."""
    working = [pod for pod in mine if pod.phase == "Running" and pod.ready]
    more = count - sum(_has(pod) for pod in mine)
    if len(working) < count or more <= 0:
        return []
    return sorted((pod for pod in working if not _has(pod)), key=lambda pod: int(crew.number(pod)))[:more]


def _is_kept(view: views.JobView, around: build.Surroundings, verdict: verdicts.Verdict, role: str) -> bool:
    """Whether the verdict's driver, or its executors, are taken off their node, now or once that is cordoned."""
    now = verdict.handoff or handoff.read(view.job.status)
    if now.before or now.phase == handoff.TAKING:
        return True
    failed = verdict.handoff is not None and now.phase == handoff.CANCELLED and verdict.given_up is None
    driver = handover.pod(view, verdict.driver.pod)
    if driver is None or failed or handover.pause_s(view) or not handover.leaves_cordoned(view, role):
        return False
    if role == names.EXECUTOR and not view.job.spec.real_time:
        return rolling.obeys(view, driver)
    return handover.possible(view, around, driver)


def _has(pod: records.Pod) -> bool:
    return names.LEAVES_BY in pod.labels


def _patch(pod: records.Pod, leaves_by: str | None) -> steps.PatchPod:
    patch = {"metadata": {"labels": {names.LEAVES_BY: leaves_by}}}
    return steps.PatchPod(pod.namespace, pod.name, pod.uid, pod.resource_version, patch)
