"""Who the driver is for the API server: a ServiceAccount of its own, bound to the one ClusterRole of the chart."""

from sluice.build import owner
from sluice.build.surroundings import Surroundings
from sluice.values import names
from sluice.values.streamjob import Body, StreamJob

_GROUP = "rbac.authorization.k8s.io"


def service_account(job: StreamJob) -> Body:
    """The manifest; only for a job that names none of its own."""
    metadata = owner.metadata(job, names.account(job.name))
    if job.spec.account.annotations:
        metadata["annotations"] = dict(job.spec.account.annotations)
    return {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": metadata}


def role_binding(job: StreamJob, around: Surroundings) -> Body:
    """The manifest."""
    subject = job.spec.account.name or names.account(job.name)
    return {
        "apiVersion": f"{_GROUP}/v1",
        "kind": "RoleBinding",
        "metadata": owner.metadata(job, names.account(job.name)),
        "roleRef": {"apiGroup": _GROUP, "kind": "ClusterRole", "name": around.driver_role},
        "subjects": [{"kind": "ServiceAccount", "name": subject, "namespace": job.namespace}],
    }
