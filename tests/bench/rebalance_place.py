"""Where placement is measured: an operator, and three nodes for executors; a fourth has it and the drivers.

The first of the three is Kafka's. Jobs keep their checkpoints on a volume: state on S3 would take the same links as
what executors exchange. For :mod:`bench.rebalance_links` and :mod:`bench.rebalance_prometheus`.
"""

import contextlib
import dataclasses
import json
import pathlib
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from bench import rebalance_program
from demo import operators, streamjobs
from house import trouble
from sluice.values import names
from testbed import addons, cluster, target

NAMESPACE = "bench-placement"
_RELEASE = "bench-placement-operator"
_NODES = 4
_HOSTNAME = "kubernetes.io/hostname"
_EVERY_S = 5.0
_CLAIMED = "jobs"
_CLAIM = {
    "apiVersion": "v1",
    "kind": "PersistentVolumeClaim",
    "metadata": {"name": _CLAIMED},
    "spec": {
        "storageClassName": "shared",
        "accessModes": ["ReadWriteMany"],
        "resources": {"requests": {"storage": "1Gi"}},
    },
}


@dataclasses.dataclass(frozen=True)
class Stage:
    """The operator is there, and jobs may come."""

    kube: target.Target
    drivers: str  # the node of the operator and the drivers
    nodes: tuple[str, ...]  # the three for executors, Kafka's first
    program: pathlib.Path

    def start(self, name: str, executors: Mapping[str, Any], words: Mapping[str, Any], **spec: Any) -> streamjobs.Job:
        """A job that runs the program; `spec` goes over what is usual."""
        job = streamjobs.Job(self.kube, NAMESPACE, name)
        driver = streamjobs.template(names.DRIVER_CONTAINER)
        (container,) = driver["spec"]["containers"]
        container["volumeMounts"] = [rebalance_program.MOUNT]
        driver["spec"]["volumes"] = [rebalance_program.volume(self.program)]
        driver["spec"]["nodeSelector"] = on(self.drivers)
        template = streamjobs.template(names.EXECUTOR_CONTAINER)
        template["spec"]["affinity"] = _among(self.nodes)
        usual = {
            "application": {"file": f"local:///program/{self.program.name}", "args": [json.dumps(dict(words))]},
            "checkpoint": {
                "location": f"/checkpoints/{name}",
                "volume": {"persistentVolumeClaim": {"claimName": _CLAIMED}},
            },
            "driver": {"template": driver},
            "executors": {"cores": 1, "template": template, **executors},
        }
        job.apply(**{**usual, **spec})
        return job

    def apply(self, *made: Mapping[str, Any]) -> None:
        """Objects of our own beside the jobs."""
        listed = {"apiVersion": "v1", "kind": "List", "items": list(made)}
        self.kube.kubectl("-n", NAMESPACE, "apply", "-f", "-", text=json.dumps(listed))


@contextlib.contextmanager
def stage(program: pathlib.Path, **values: Any) -> Iterator[Stage]:
    """With values of the chart; at the end nothing of it is left."""
    kube = target.connect()
    drivers, nodes = _parted(kube)
    operator = operators.Operator(kube, _RELEASE, (NAMESPACE,), {"nodeSelector": on(drivers), **values})
    addons.supply_volumes(kube.kubeconfig, cluster.Cluster().home / "volumes")
    operator.prepare()
    try:
        operator.install()
        found = Stage(kube, drivers, nodes, program)
        found.apply(_CLAIM, rebalance_program.config_map(program))
        yield found
    finally:
        operator.uninstall()
        operator.clear()


def seen_within(deadline_s: float, look: Callable[[], object]) -> bool:
    """Whether `look` gave something true before the deadline. Looked for rarely: the machine has other work."""
    end_s = time.monotonic() + deadline_s
    while not look():
        if time.monotonic() > end_s:
            return False
        time.sleep(_EVERY_S)
    return True


def must_see(what: str, deadline_s: float, look: Callable[[], object]) -> None:
    """The same; Trouble when it was not seen."""
    if not seen_within(deadline_s, look):
        raise trouble.Trouble(f"after {deadline_s:.0f} s still not: {what}")


def nodes_of(kube: target.Target, *apps: str) -> set[str]:
    """Where pods of these begin to be called so."""
    pods = json.loads(kube.kubectl("get", "pods", "-A", "-o", "json"))["items"]
    return {pod["spec"].get("nodeName", "") for pod in pods if pod["metadata"]["name"].startswith(apps)}


def on(node: str) -> dict[str, str]:
    """A pod's nodeSelector."""
    return {_HOSTNAME: node}


def config_map(name: str, data: Mapping[str, str]) -> dict[str, Any]:
    """Files for a pod."""
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": dict(data)}


def _parted(kube: target.Target) -> tuple[str, tuple[str, ...]]:
    """The drivers' node, and the others."""
    nodes = cluster.Cluster().nodes
    if len(nodes) < _NODES:
        raise trouble.Trouble(
            f"there are {len(nodes)} nodes; allowed are {_NODES} and more: `testbed up --nodes {_NODES}`"
        )
    kafka = nodes_of(kube, "kafka-")
    mine = [*(node for node in nodes if node in kafka), *(node for node in nodes if node not in kafka)][:_NODES]
    return mine[-1], tuple(mine[:-1])


def _among(nodes: Sequence[str]) -> dict[str, Any]:
    rule = {"key": _HOSTNAME, "operator": "In", "values": list(nodes)}
    required = {"nodeSelectorTerms": [{"matchExpressions": [rule]}]}
    return {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": required}}
