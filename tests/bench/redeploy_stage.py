"""Where redeploys are measured: an operator on the cluster, a job under a steady load, and what arrives at its sink.

The load is that of :mod:`demo.flow`. What the job does with it is a kind: `relay`, the examples' own program, copies
one topic of Kafka to another; the others are in :mod:`bench.redeploy_kinds`.
"""

import contextlib
import dataclasses
import json
from collections.abc import Iterator, Mapping
from typing import Any

from demo import flow, operators, plain_spark, streamjobs, topics
from house import paths, trouble
from sluice.values import names
from testbed import addons, cluster, target

NAMESPACE, RELEASE = "bench-redeploy", "bench-redeploy-operator"
RECORDS_S = 200
SOURCE, SINK, SERVERS = "redeploy-in", "redeploy-out", "kafka.testbed:9092"
PROGRAM = paths.ROOT / "tests" / "bench" / "redeploy_job.py"
_CLAIM = {
    "apiVersion": "v1",
    "kind": "PersistentVolumeClaim",
    "metadata": {"name": "job"},
    "spec": {
        "storageClassName": "shared",
        "accessModes": ["ReadWriteMany"],
        "resources": {"requests": {"storage": "1Gi"}},
    },
}
ON_VOLUME = {"location": "/checkpoints/job", "volume": {"persistentVolumeClaim": {"claimName": "job"}}}
_PATIENCE_S = 600


@dataclasses.dataclass(frozen=True)
class Kind:
    """What a job does."""

    name: str  # of the StreamJob, too: small letters, digits and dashes
    application: Mapping[str, Any]
    spec: Mapping[str, Any] = dataclasses.field(default_factory=dict)  # beside what is usual
    needs: tuple[Mapping[str, Any], ...] = ()  # made before it


_EXECUTOR = streamjobs.template(names.EXECUTOR_CONTAINER)
_PLACES = ["--source", f"kafka:{SOURCE}", "--sink", f"kafka:{SINK}", "--servers", SERVERS]
_AT_ONCE = ["--trigger", "0 seconds"]  # a batch after the other: the time between two commits is a batch
RELAY = Kind("relay", {"file": "local:///opt/pipelines/relay.py", "args": [*_PLACES, *_AT_ONCE]})
REAL_TIME = Kind(
    "real-time",
    {"file": "local:///opt/pipelines/relay.py", "args": [*_PLACES, "--trigger", "realtime 5 seconds"]},
    {"mode": "RealTime", "executors": {"count": 2, "cores": 2, "template": _EXECUTOR}},  # a slot for each partition
)


@contextlib.contextmanager
def running(
    kind: Kind, operator_on: str = "", plain: bool = False, **spec: Any
) -> Iterator[tuple[streamjobs.Job, flow.Load]]:
    """A job of this kind, Ready and under load, or the same as plain Spark; at the end nothing of it is left."""
    kube = target.connect()
    there = {"nodeSelector": {"kubernetes.io/hostname": operator_on}} if operator_on else {}
    without = {"pluginImage": ""} if plain else {}
    operator = operators.Operator(kube, RELEASE, (NAMESPACE,), {**there, **without})
    addons.supply_volumes(kube.kubeconfig, cluster.Cluster().home / "volumes")
    operator.prepare()
    try:
        operator.install()
        for topic in (SOURCE, SINK):
            topics.create(kube, topic)
        plain_spark.empty_bucket(kube, f"{NAMESPACE}/")  # a file sink passes over the batches it finds there
        job = streamjobs.Job(kube, NAMESPACE, kind.name)
        for made in (_CLAIM, _program(), *kind.needs):
            kube.kubectl("-n", NAMESPACE, "apply", "-f", "-", text=json.dumps(made))
        job.apply(application=kind.application, **{**_usual(), **kind.spec, **spec})
        job.wait("condition=Ready")
        with flow.flowing(kube, SOURCE, RECORDS_S) as load:
            plain_spark.until("batches", lambda: has_batches(job, load, plain), _PATIENCE_S)
            yield job, load
    finally:
        operator.uninstall()
        operator.clear()


def has_batches(job: streamjobs.Job, load: flow.Load, plain: bool = False) -> bool:
    """Whether it does its work, all of its queries."""
    if plain:
        return topics.count(job.kube, SINK) > RECORDS_S
    queries = job.status().get("queries", ())
    done = all(one.get("batch", -1) >= 2 and one["phase"] == "running" for one in queries)
    return bool(queries) and done and load.sent > 10 * RECORDS_S


def rather(node: str) -> dict[str, Any]:
    """A driver's template: there if it can be."""
    field = {"key": "metadata.name", "operator": "In", "values": [node]}
    rule = "preferredDuringSchedulingIgnoredDuringExecution"
    prefers = {"nodeAffinity": {rule: [{"weight": 100, "preference": {"matchFields": [field]}}]}}
    template = streamjobs.template(names.DRIVER_CONTAINER)
    return {"spec": {**template["spec"], "affinity": prefers}}


def batches_ms(job: streamjobs.Job) -> list[float]:
    """What a batch of each query takes on average lately, by the driver's agent; none where there is no agent."""
    driver = job.status()["driver"]["pod"]
    words = ("get", "--raw", f"/api/v1/namespaces/{job.namespace}/pods/{driver}:7080/proxy/v1/traffic")
    try:
        told = json.loads(job.kube.kubectl(*words))
    except trouble.Trouble:
        return []
    return [query["batchMs"][0] for query in told["queries"].values()]


def _usual() -> dict[str, Any]:
    driver = streamjobs.template(names.DRIVER_CONTAINER)
    (container,) = driver["spec"]["containers"]
    container["volumeMounts"] = [{"name": "program", "mountPath": "/program"}]
    driver["spec"]["volumes"] = [{"name": "program", "configMap": {"name": "program"}}]
    executors = {"count": 2, "template": _EXECUTOR}
    return {"driver": {"template": driver}, "executors": executors, "checkpoint": ON_VOLUME}


def _program() -> dict[str, Any]:
    data = {PROGRAM.name: PROGRAM.read_text()}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "program"}, "data": data}
