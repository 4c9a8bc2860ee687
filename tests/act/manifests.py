"""Manifests of the objects Sluice makes, as small as the API server takes them."""

from typing import Any

from sluice.values import names

Body = dict[str, Any]
UID = "11111111-1111-4111-8111-111111111111"
LABELS = {**names.MANAGED, names.JOB: "clicks"}


def owner(uid: str = UID) -> Body:
    """The StreamJob as a controller."""
    return {
        "apiVersion": f"{names.GROUP}/{names.VERSION}",
        "kind": names.KIND,
        "name": "clicks",
        "uid": uid,
        "controller": True,
    }


def config_map(name: str = "clicks-a1b2c3", namespace: str = "team", uid: str | None = UID, **data: str) -> Body:
    """A ConfigMap of the job; no uid: of nobody, as a Lease is."""
    meta: Body = {"name": name, "namespace": namespace, "labels": dict(LABELS)}
    if uid is not None:
        meta["ownerReferences"] = [owner(uid)]
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": meta, "data": data or {"a": "1"}}


def pod(name: str = "clicks-a1b2c3-1", namespace: str = "team", uid: str = UID, **spec: Any) -> Body:
    """A driver of the job that does nothing."""
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": namespace, "labels": dict(LABELS), "ownerReferences": [owner(uid)]},
        "spec": {"containers": [{"name": "driver", "image": "registry.example/nothing:1"}], **spec},
    }


def streamjob(name: str = "clicks", namespace: str = "team") -> Body:
    """A StreamJob."""
    return {
        "apiVersion": f"{names.GROUP}/{names.VERSION}",
        "kind": names.KIND,
        "metadata": {"name": name, "namespace": namespace},
        "spec": {
            "image": "clicks:1",
            "application": {"file": "local:///a.py"},
            "checkpoint": {"location": "s3a://state/clicks"},
        },
    }
