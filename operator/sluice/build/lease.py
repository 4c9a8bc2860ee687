"""The Lease that says who runs the job. It has no owner: it must outlive a StreamJob whose driver still drains."""

from sluice.build import owner
from sluice.values import names
from sluice.values.streamjob import Body, StreamJob


def lease(job: StreamJob) -> Body:
    """The manifest; nobody holds it yet."""
    return {
        "apiVersion": "coordination.k8s.io/v1",
        "kind": "Lease",
        "metadata": owner.metadata(job, names.lease(job.name), owned=False),
        "spec": {},
    }
