"""What is left of a StreamJob that is no more: its driver is asked to end, its executors follow. Called by the cycle.

The garbage collector would do it, too, at a pace of its own. A driver needs its executors to finish its batch, and its
Lease as long as it runs: that goes last, and has no owner, so that it goes only here.
"""

from collections.abc import Sequence

from sluice.values import names, records, steps

_AGAIN_S = 30.0


def plan(pods: Sequence[records.Pod], lease: records.Lease | None = None) -> steps.Steps:
    """Deletes drivers, and executors without one; the Lease once no pod is left."""
    if not pods:
        return steps.Steps(((steps.Delete("Lease", lease.namespace, lease.name, lease.uid),),) if lease else ())
    drivers = {pod.uid for pod in pods if pod.role == names.DRIVER and not pod.over}
    going = [pod for pod in pods if not pod.deleting and pod.owner_uid not in drivers]
    deletes = tuple(steps.Delete("Pod", pod.namespace, pod.name, pod.uid) for pod in going)
    return steps.Steps((deletes,) if deletes else (), _AGAIN_S)
