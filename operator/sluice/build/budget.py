"""The PodDisruptionBudgets: a drain of nodes waits for the operator where that moves driver or executors by itself.

How many they keep is :mod:`sluice.plan.eviction`'s to say; here is what they keep of a driver that was just begun.
"""

from sluice.build import owner
from sluice.values import names
from sluice.values.streamjob import Body, StreamJob


def one_goes(count: int) -> int:
    """So many of that many executors stay where a drain takes one at a time."""
    return max(0, count - 1)


def of_executors(job: StreamJob, least: int) -> Body:
    """The manifest. Which driver's they are, it cannot tell."""
    return _budget(job, names.disruption_budget(job.name), least, {names.ROLE: names.EXECUTOR})


def of_driver(job: StreamJob, *, kept: bool) -> Body:
    """The manifest. Only the driver that bears the label counts; without one it wants none, or alerts would fire."""
    labels = {names.ROLE: names.DRIVER, names.LEAVES_BY: names.HANDOVER}
    return _budget(job, names.driver_budget(job.name), int(kept), labels)


def _budget(job: StreamJob, name: str, least: int, labels: Body) -> Body:
    """A whole number: of pods whose owner cannot be scaled, Kubernetes knows no percentage."""
    return {
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": owner.metadata(job, name),
        "spec": {
            "minAvailable": least,
            "selector": {"matchLabels": {names.JOB: job.name, **labels}},
            "unhealthyPodEvictionPolicy": "AlwaysAllow",
        },
    }
