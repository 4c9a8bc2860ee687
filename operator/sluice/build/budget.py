"""The PodDisruptionBudget: a drain of nodes takes one executor at a time."""

from sluice.build import owner
from sluice.values import names
from sluice.values.streamjob import Body, StreamJob


def budget(job: StreamJob) -> Body:
    """The manifest. A whole number: of pods whose owner cannot be scaled, Kubernetes knows no percentage."""
    return {
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": owner.metadata(job, names.disruption_budget(job.name)),
        "spec": {
            "minAvailable": max(0, job.spec.executors.count - 1),
            "selector": {"matchLabels": {names.JOB: job.name, names.ROLE: names.EXECUTOR}},
            "unhealthyPodEvictionPolicy": "AlwaysAllow",
        },
    }
