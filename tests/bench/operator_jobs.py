"""The StreamJobs of the operator's bench: their pods go to fake nodes only. And the nodes and namespace they have."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Iterator, Mapping
from typing import Any

from bench import operator_api
from bench.operator_api import Body
from house import paths, trouble
from sluice.values import names
from testbed import cluster, fakes

CRD = paths.ROOT / "crds" / "streamjobs.yaml"
_READY_S = 120.0
_EMPTY_S = 600.0
_WAYS = 16


def streamjobs(namespace: str) -> str:
    """The path of all StreamJobs of a namespace."""
    return f"/apis/{names.GROUP}/{names.VERSION}/namespaces/{namespace}/{names.PLURAL}"


def pods(namespace: str) -> str:
    """The path of all pods of a namespace."""
    return f"/api/v1/namespaces/{namespace}/pods"


def leases(namespace: str) -> str:
    """The path of all Leases of a namespace."""
    return f"/apis/coordination.k8s.io/v1/namespaces/{namespace}/leases"


def streamjob(name: str, executors: int = 1, cpu: str = "100m", **more: Any) -> Body:
    """A job that looks like any user's, but for where its pods go; `more` goes into spec.executors."""
    return {
        "apiVersion": f"{names.GROUP}/{names.VERSION}",
        "kind": names.KIND,
        "metadata": {"name": name, "labels": {"team": "bench"}},
        "spec": {
            "image": "registry.example/clicks:1.4",
            "application": {"file": "local:///opt/app/clicks.py", "args": ["--topic", "clicks"]},
            "checkpoint": {"location": f"s3a://bench/{name}"},
            "driver": {"template": _template(names.DRIVER_CONTAINER, "100m")},
            "executors": {"count": executors, "template": _template(names.EXECUTOR_CONTAINER, cpu), **more},
            "sparkConf": {"spark.sql.shuffle.partitions": "64", "spark.eventLog.enabled": "false"},
        },
    }


def _template(container: str, cpu: str) -> Body:
    return {
        "spec": {
            "nodeSelector": {"type": "kwok"},
            "tolerations": [{"key": fakes.TAINT, "operator": "Equal", "value": "fake"}],
            "containers": [{"name": container, "resources": {"requests": {"cpu": cpu}}}],
        }
    }


def with_policy(job: Body, policy: str) -> Body:
    """The same job, placed by another policy."""
    spec: Mapping[str, Any] = job["spec"]
    return {**job, "spec": {**spec, "placement": {"policy": policy}}}


@contextlib.contextmanager
def fake_nodes(testbed: cluster.Cluster, count: int) -> Iterator[None]:
    """So many of them, Ready; none afterwards."""
    if not testbed.running():
        raise trouble.Trouble("this bench needs the testbed; `make cluster` brings it up")
    testbed.kubectl("apply", "--server-side", "--force-conflicts", "-f", str(CRD))
    testbed.kubectl("wait", "--for=condition=Established", f"crd/{names.PLURAL}.{names.GROUP}")
    try:
        testbed.fake(count)
        if count:
            testbed.kubectl("wait", "--for=condition=Ready", f"--timeout={_READY_S:.0f}s", "nodes", "-l", "type=kwok")
        yield
    finally:
        testbed.fake(0)


@contextlib.asynccontextmanager
async def namespace(api: operator_api.Api, name: str) -> AsyncIterator[str]:
    """An empty namespace; nothing of it is left afterwards."""
    await _remove(api, name)
    await api.must("POST", "/api/v1/namespaces", {"metadata": {"name": name}})
    try:
        yield name
    finally:
        await _remove(api, name)


async def _remove(api: operator_api.Api, name: str) -> None:
    """One object after another: a whole collection of thousands runs into the API server's request limit."""
    if (await api.call("GET", f"/api/v1/namespaces/{name}"))[0] == 404:
        return
    for collection in (streamjobs(name), pods(name)):
        status, listed = await api.call("GET", f"{collection}?resourceVersion=0")
        found = [item["metadata"]["name"] for item in listed["items"] or ()] if status == 200 else []
        gone = (f"{collection}/{item}?gracePeriodSeconds=0" for item in found)
        await operator_api.side_by_side(api.gone, gone, _WAYS)
    await api.gone(f"/api/v1/namespaces/{name}")
    for _ in range(int(_EMPTY_S)):
        if (await api.call("GET", f"/api/v1/namespaces/{name}"))[0] == 404:
            return
        await asyncio.sleep(1)
    raise trouble.Trouble(f"namespace {name} is still there after {_EMPTY_S:.0f} s")
