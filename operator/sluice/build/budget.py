"""The PodDisruptionBudgets: a drain of nodes takes one executor at a time, and waits for the driver's handover."""

from collections.abc import Mapping

from sluice.build import owner
from sluice.values import names
from sluice.values.streamjob import Body, StreamJob


def of_executors(job: StreamJob) -> Body:
    """The manifest."""
    least = max(0, job.spec.executors.count - 1)
    return _budget(job, names.disruption_budget(job.name), least, {names.ROLE: names.EXECUTOR})


def of_driver(job: StreamJob) -> Body:
    """The manifest. Only the driver that bears the label counts (:mod:`sluice.plan.eviction`), so it is never spare."""
    kept = {names.ROLE: names.DRIVER, names.LEAVES_BY: names.HANDOVER}
    return _budget(job, names.driver_budget(job.name), 1, kept)


def _budget(job: StreamJob, name: str, least: int, labels: Mapping[str, str]) -> Body:
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
