"""Who is hit in the midst of a handover, and how: found beforehand, so that the blow falls where it is meant to.

The way back of a blow is taken by the part that strikes (:mod:`bench.redeploy_points`).
"""

import contextlib
import dataclasses
import json
from collections.abc import Callable, Iterator
from typing import Any

from bench import redeploy_stage
from demo import plain_spark, streamjobs
from sluice.values import names
from testbed import cluster, pods, target

NEW, OLD, OPERATOR = "the new driver", "the old driver", "the operator"
KILLED, STOPPED, CUT = "killed", "stopped", "cut off"
_LASTS_S = 140.0  # longer than a new driver has for its first commit
_PATIENCE_S = 90.0
_OPERATOR_CONTAINER = "operator"
_OF_OPERATOR = ("-n", redeploy_stage.RELEASE)


@dataclasses.dataclass(frozen=True)
class Blow:
    """What is done, for how long at most, and what is done at the end of it."""

    strike: Callable[[], None]
    mend: Callable[[], None]
    lasts_s: float


def at_driver(job: streamjobs.Job, pod: str, way: str) -> Blow:
    """Killed for good; stopped or cut off for a while."""
    container = _container(job.kube, job.namespace, pod, names.DRIVER_CONTAINER)
    if way == KILLED:
        return Blow(container.kill, lambda: None, 0.0)
    if way == STOPPED:
        return Blow(container.freeze, container.thaw, _LASTS_S)
    wire = pods.Wire.of(container)
    return Blow(wire.cut, wire.heal, _LASTS_S)


def at_operator(job: streamjobs.Job) -> Blow:
    """Killed; its pod goes, too, for one that crashes again and again is started ever later."""
    pod = _operator_pod(job)
    container = _container(job.kube, redeploy_stage.RELEASE, pod, _OPERATOR_CONTAINER)

    def away() -> None:
        job.kube.kubectl(*_OF_OPERATOR, "delete", "pod", pod, "--ignore-not-found", "--wait=false")

    return Blow(container.kill, away, 0.0)


@contextlib.contextmanager
def standing_operator(job: streamjobs.Job) -> Iterator[None]:
    """While it does nothing, a step that it would end at once lasts."""
    container = _container(job.kube, redeploy_stage.RELEASE, _operator_pod(job), _OPERATOR_CONTAINER)
    container.freeze()
    try:
        yield
    finally:
        container.thaw()


def _operator_pod(job: streamjobs.Job) -> str:
    selector = ("-l", "app.kubernetes.io/name=sluice", "-o", "json")
    listed = json.loads(job.kube.kubectl(*_OF_OPERATOR, "get", "pods", *selector))
    (pod,) = (one["metadata"]["name"] for one in listed["items"] if "deletionTimestamp" not in one["metadata"])
    return str(pod)


def _container(kube: target.Target, namespace: str, pod: str, name: str) -> pods.Container:
    """Once it runs."""

    def look() -> pods.Container | None:
        said = kube.kubectl("-n", namespace, "get", "pod", pod, "--ignore-not-found", "-o", "json")
        body: dict[str, Any] = json.loads(said or "{}")
        node = body.get("spec", {}).get("nodeName")
        return pods.find(cluster.Cluster().named(node), body, name) if node else None

    return plain_spark.until(f"container {name} of {pod} runs", look, _PATIENCE_S)
