"""Bodies as the API server sends them, with as little in them as a test needs."""

import itertools
import json
from typing import Any

from sluice.values import names

Body = dict[str, Any]
GI = 1 << 30
_versions = itertools.count(5000)


def meta(name: str, namespace: str = "team", **more: Any) -> Body:
    """Metadata; every call is a later version."""
    fresh = {"uid": f"uid-of-{name}", "resourceVersion": str(next(_versions))}
    return {"name": name, "namespace": namespace, "creationTimestamp": "2026-11-18T10:00:00Z", **fresh, **more}


def streamjob(name: str = "clicks", status: Body | None = None, meta_: Body | None = None, **spec: Any) -> Body:
    """A StreamJob of the team."""
    wanted = {
        "image": "clicks:1",
        "application": {"file": "local:///a.py"},
        "checkpoint": {"location": f"s3a://state/{name}"},
    }
    return {
        "kind": names.KIND,
        "metadata": meta(name, **{"generation": 1, **(meta_ or {})}),
        "spec": {**wanted, **spec},
        "status": status or {},
    }


def pod(name: str, spec: Body | None = None, status: Body | None = None, **more: Any) -> Body:
    """A pod of one container that asks for a CPU and a GiB; `more` goes to its metadata."""
    container = {"name": "main", "resources": {"requests": {"cpu": "1", "memory": "1Gi"}}}
    return {
        "kind": "Pod",
        "metadata": meta(name, **more),
        "spec": {"containers": [container], **(spec or {})},
        "status": {"phase": "Pending", **(status or {})},
    }


def of_job(job: str, role: str, name: str = "", **more: Any) -> Body:
    """A pod with the labels of a job; a driver belongs to the StreamJob."""
    found = pod(name or f"{job}-{role}", **more)
    found["metadata"]["labels"] = {names.JOB: job, names.ROLE: role}
    if role == names.DRIVER:
        owner = {"kind": names.KIND, "name": job, "uid": f"uid-of-{job}", "controller": True}
        found["metadata"].setdefault("ownerReferences", [owner])
    return found


def gated(job: str, name: str) -> Body:
    """An executor behind our gate."""
    return of_job(job, names.EXECUTOR, name, spec={"schedulingGates": [{"name": names.GATE}]})


def node(name: str, cpu: str = "4", memory: str = "8Gi", *, ready: bool = True) -> Body:
    """A machine; one that is not ready has been tainted for it."""
    lost = {"key": "node.kubernetes.io/unreachable", "effect": "NoSchedule"}
    return {
        "kind": "Node",
        "metadata": {**meta(name), "namespace": ""},
        "spec": {} if ready else {"taints": [lost]},
        "status": {
            "allocatable": {"cpu": cpu, "memory": memory, "pods": "110"},
            "conditions": [{"type": "Ready", "status": str(ready)}],
        },
    }


def lease(job: str, name: str = "", **said: Any) -> Body:
    """The Lease of a job, with what agents say there: an annotation as text, or as a document, by pod."""
    texts = {pod: one if isinstance(one, str) else json.dumps(one) for pod, one in said.items()}
    found = meta(name or job, annotations={f"agent.sluice.dev/{pod}": text for pod, text in texts.items()})
    found["labels"] = {**names.MANAGED, names.JOB: job}
    return {"kind": "Lease", "metadata": {**found, "uid": f"uid-of-lease-{job}"}, "spec": {}}


def report(at: str = "10:00:00", **words: Any) -> Body:
    """What the agent of a driver that runs one query writes there at a time of day."""
    query = {"id": "q-1", "name": "clicks", "engine": "MicroBatch", "phase": "running", "committed": 4}
    found = {"version": 1, "at": f"2026-11-18T{at}.000000Z", "phase": "Running", "queries": [query]}
    return {**found, **words, "queries": [{**query, **one} for one in words.get("queries", [{}])]}
