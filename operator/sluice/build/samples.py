"""A driver and an executor that nobody makes, for the API server to say what it thinks of the user's templates."""

from sluice.build import driver, executors
from sluice.build.surroundings import Surroundings
from sluice.values import names
from sluice.values.streamjob import Body, StreamJob

_NO_SUCH_DRIVER = 0  # attempts count from 1: no pod is of this name


def pods(job: StreamJob, revision: str, around: Surroundings) -> tuple[Body, Body]:
    """Both manifests, their labels saying which is which."""
    of_driver = driver.pod(job, revision, _NO_SUCH_DRIVER, around)
    template = executors.template(job, around)
    images = {names.EXECUTOR_CONTAINER: {"image": job.spec.image}}  # Spark adds it
    containers = [{**item, **images.get(item["name"], {})} for item in template["spec"]["containers"]]
    metadata = {
        **template["metadata"],
        "name": f"{of_driver['metadata']['name']}-exec-1",
        "namespace": job.namespace,
        "labels": {**template["metadata"].get("labels", {}), names.ROLE: names.EXECUTOR},
    }
    executor = {**template, "metadata": metadata, "spec": {**template["spec"], "containers": containers}}
    return _as_anybody(job, of_driver), _as_anybody(job, executor)


def _as_anybody(job: StreamJob, pod: Body) -> Body:
    """The job's own account may not be there yet, and a pod without its account is refused."""
    if pod["spec"]["serviceAccountName"] != names.account(job.name):
        return pod
    return {**pod, "spec": {**pod["spec"], "serviceAccountName": "default"}}
