"""Where redeploys are measured: an operator on the cluster, `relay` under a steady load, and what arrives at its sink.

The examples' own program copies one topic of Kafka to another, under the load of :mod:`demo.flow`.
"""

import contextlib
import json
from collections.abc import Iterator
from typing import Any

from demo import flow, operators, plain_spark, streamjobs, topics
from sluice.values import names
from testbed import addons, cluster, target

_NAMESPACE, _RELEASE = "bench-redeploy", "bench-redeploy-operator"
RECORDS_S = 200
_SOURCE, _SINK = "redeploy-in", "redeploy-out"
_CLAIM = {
    "apiVersion": "v1",
    "kind": "PersistentVolumeClaim",
    "metadata": {"name": "relay"},
    "spec": {
        "storageClassName": "shared",
        "accessModes": ["ReadWriteMany"],
        "resources": {"requests": {"storage": "1Gi"}},
    },
}
_CHECKPOINT = {"location": "/checkpoints/relay", "volume": {"persistentVolumeClaim": {"claimName": "relay"}}}
_PATIENCE_S = 600


@contextlib.contextmanager
def relay(operator_on: str = "", **spec: Any) -> Iterator[tuple[streamjobs.Job, flow.Load]]:
    """The job, Ready and under load; at the end nothing of it is left."""
    kube = target.connect()
    there = {"nodeSelector": {"kubernetes.io/hostname": operator_on}} if operator_on else {}
    operator = operators.Operator(kube, _RELEASE, (_NAMESPACE,), there)
    addons.supply_volumes(kube.kubeconfig, cluster.Cluster().home / "volumes")
    operator.prepare()
    try:
        operator.install()
        for topic in (_SOURCE, _SINK):
            topics.create(kube, topic)
        job = streamjobs.fresh(kube, _NAMESPACE, "relay")
        places = ["--source", f"kafka:{_SOURCE}", "--sink", f"kafka:{_SINK}", "--servers", "kafka.testbed:9092"]
        kube.kubectl("-n", _NAMESPACE, "apply", "-f", "-", text=json.dumps(_CLAIM))
        executors = {"count": 2, "template": streamjobs.template(names.EXECUTOR_CONTAINER)}
        usual = {"executors": executors, "checkpoint": _CHECKPOINT}
        job.apply(application={"file": "local:///opt/pipelines/relay.py", "args": places}, **(usual | spec))
        job.wait("condition=Ready")
        with flow.flowing(kube, _SOURCE, RECORDS_S) as load:
            plain_spark.until("records arrive", lambda: topics.count(kube, _SINK) > 1000, _PATIENCE_S)
            yield job, load
    finally:
        operator.uninstall()
        operator.clear()


def count(job: streamjobs.Job) -> int:
    """Records at the sink so far."""
    return topics.count(job.kube, _SINK)


def arrived(job: streamjobs.Job, load: flow.Load) -> flow.Arrived:
    """What was sent, once it has come through."""
    return flow.arrived(job.kube, load, _SINK)
