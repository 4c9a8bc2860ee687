"""What every object of a job says of itself: whose it is, so that it goes when its StreamJob goes."""

from collections.abc import Mapping
from typing import Any

from sluice.values import names
from sluice.values.streamjob import StreamJob


def metadata(job: StreamJob, name: str, labels: Mapping[str, str] | None = None, owned: bool = True) -> dict[str, Any]:
    """Name, labels and owner; a job that no API server has seen owns nothing yet."""
    found: dict[str, Any] = {
        "name": name,
        "namespace": job.namespace,
        "labels": {**names.MANAGED, names.JOB: job.name, **(labels or {})},
    }
    if owned and job.uid:
        found["ownerReferences"] = [reference(job)]
    return found


def reference(job: StreamJob) -> dict[str, Any]:
    """The StreamJob as a controller."""
    return {
        "apiVersion": f"{names.GROUP}/{names.VERSION}",
        "kind": names.KIND,
        "name": job.name,
        "uid": job.uid,
        "controller": True,
        "blockOwnerDeletion": False,  # true needs rights on the StreamJob's finalizers, and helps nobody
    }
