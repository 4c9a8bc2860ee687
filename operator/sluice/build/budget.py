"""The PodDisruptionBudgets: a drain of nodes waits for the operator where that moves driver or executors by itself.

Where it does not, a drain takes one executor at a time. :mod:`sluice.plan.eviction` says which it is, by a label, and
no pod is ever under two budgets: Kubernetes would refuse its eviction for that alone.
"""

from sluice.build import owner
from sluice.values import names
from sluice.values.streamjob import Body, StreamJob


def of_executors(job: StreamJob) -> tuple[Body, Body]:
    """The manifests: of executors without the label, of which one may go; and of those with it, all of which stay."""
    count = job.spec.executors.count
    one_goes = _budget(job, names.disruption_budget(job.name), max(0, count - 1), _executors("DoesNotExist"))
    return one_goes, _budget(job, names.executor_budget(job.name), count, _executors("Exists"))


def of_driver(job: StreamJob) -> Body:
    """The manifest. Only the driver that bears the label counts (:mod:`sluice.plan.eviction`), so it is never spare."""
    kept = {"matchLabels": {names.ROLE: names.DRIVER, names.LEAVES_BY: names.HANDOVER}}
    return _budget(job, names.driver_budget(job.name), 1, kept)


def _executors(label: str) -> Body:
    labelled = [{"key": names.LEAVES_BY, "operator": label}]
    return {"matchLabels": {names.ROLE: names.EXECUTOR}, "matchExpressions": labelled}


def _budget(job: StreamJob, name: str, least: int, selector: Body) -> Body:
    """A whole number: of pods whose owner cannot be scaled, Kubernetes knows no percentage."""
    return {
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": owner.metadata(job, name),
        "spec": {
            "minAvailable": least,
            "selector": {**selector, "matchLabels": {names.JOB: job.name, **selector["matchLabels"]}},
            "unhealthyPodEvictionPolicy": "AlwaysAllow",
        },
    }
