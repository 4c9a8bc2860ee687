"""Executors whose chosen node could not take them after all. Called by the cycle beside plan.life.

A pod past its gate cannot be sent elsewhere: it is deleted, Spark asks for another, and that one is planned without
the node. After the second node in a while, the next executors are left to the scheduler (plan.placement).
"""

from sluice.plan import placed, verdicts
from sluice.values import driver_state, names, records, steps, views
from sluice.values.streamjob import Body

FORGET_S = 600.0  # after this a node may be tried again
_REMEMBERED = 8


def deletes(view: views.JobView) -> tuple[steps.Step, ...]:
    """The executors to give up."""
    return tuple(steps.Delete("Pod", pod.namespace, pod.name, pod.uid) for pod, _ in turned_away(view))


def avoided(view: views.JobView) -> list[verdicts.Avoid]:
    """The nodes not to be tried again, with those of this view, the last found last."""
    known = read(view.job.status, view.now_s)
    new = {node for _, node in turned_away(view)} - {one.node for one in known}
    return [*known, *(verdicts.Avoid(node, view.now_s) for node in sorted(new))][-_REMEMBERED:]


def read(status: Body, now_s: float) -> list[verdicts.Avoid]:
    """What a status says of it, as far as it still counts."""
    listed = (status.get("placement") or {}).get("avoid", ())
    found = [verdicts.Avoid(one["node"], driver_state.seconds(one["at"])) for one in listed]
    return [one for one in found if now_s - one.at_s < FORGET_S]


def turned_away(view: views.JobView) -> list[tuple[records.Pod, str]]:
    """Executors whose node did not take them, and that node."""
    pods = [pod for pod in view.pods if pod.role == names.EXECUTOR and pod.unschedulable and not pod.deleting]
    places = [(pod, placed.read(pod)) for pod in pods if not pod.gated and not pod.node and not pod.over]
    return [(pod, place.node) for pod, place in places if place and place.node]
