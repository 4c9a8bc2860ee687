"""The template that Spark makes each executor of: gated until it has its place, and without the driver's rights."""

import hashlib
import json

from sluice.build import merge, mounts, pods
from sluice.build.surroundings import Surroundings
from sluice.values import fields, names
from sluice.values.streamjob import Body, StreamJob

_TEMPLATE = "spec.executors.template"


def template(job: StreamJob, around: Surroundings) -> Body:
    """The pod; Spark adds name, image, CPU, memory, arguments and the labels of `conf`."""
    metadata, theirs = pods.template(job.spec.executors.template, _TEMPLATE)
    account = job.spec.account.name or names.account(job.name)
    # The job's identity for clouds and stores, but no token for Kubernetes: an executor asks it nothing.
    defaults = {**pods.defaults(account), "automountServiceAccountToken": False, "containers": [_container()]}
    spec = merge.lay(_must(job, around), merge.lay(theirs, defaults, f"{_TEMPLATE}.spec"))
    found = {"labels": pods.notes(metadata.get("labels"), {names.TEMPLATE: mark(job)}, f"{_TEMPLATE}.metadata.labels")}
    if metadata.get("annotations"):
        found["annotations"] = pods.notes(metadata["annotations"], {}, f"{_TEMPLATE}.metadata.annotations")
    return {"apiVersion": "v1", "kind": "Pod", "metadata": found, "spec": pods.secured(spec, f"{_TEMPLATE}.spec")}


def mark(job: StreamJob) -> str:
    """Which template it is, six hex digits of what the user says of it: a new operator's own words roll nobody."""
    spoken = fields.spoken(job.spec)
    said = [(field, spoken.get(field.path)) for field in fields.TABLE]
    theirs = {field.path: value for field, value in said if value and fields.asks(field, value) == fields.Asks.ROLL}
    return hashlib.sha256(json.dumps(theirs, sort_keys=True, separators=(",", ":")).encode()).hexdigest()[:6]


def cpu_request(pod: Body) -> str:
    """What the user's template asks for the CPU of the executor, or nothing."""
    container = next(item for item in pod["spec"]["containers"] if item["name"] == names.EXECUTOR_CONTAINER)
    where = f"{_TEMPLATE}.spec.containers[{names.EXECUTOR_CONTAINER}].resources"
    requests = pods.mapping(pods.mapping(container.get("resources"), where).get("requests"), f"{where}.requests")
    return str(requests.get("cpu") or "")


def text(job: StreamJob, around: Surroundings) -> str:
    """The template as a file: JSON is YAML, too."""
    return json.dumps(template(job, around), indent=1, sort_keys=True) + "\n"


def _container() -> Body:
    return {"name": names.EXECUTOR_CONTAINER, "terminationMessagePolicy": "FallbackToLogsOnError"}


def _must(job: StreamJob, around: Surroundings) -> Body:
    spec = job.spec
    gated = around.placing and spec.placement.mode != "Off"
    container = {"name": names.EXECUTOR_CONTAINER, "volumeMounts": mounts.volume_mounts(spec.checkpoint)}
    found = {
        "imagePullSecrets": [{"name": name} for name in spec.image_pull_secrets],
        "containers": [container],
        "volumes": mounts.volumes(spec.checkpoint),
    }
    return {**found, "schedulingGates": [{"name": names.GATE}]} if gated else found
