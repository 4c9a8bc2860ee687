"""Tells a story as a Kubernetes event: the same one again only counts it up."""

import datetime
import hashlib

from sluice.act.written import Written, said, this
from sluice.transport import paths, wire
from sluice.values import names, steps
from sluice.values.streamjob import Body

_MANAGER = {"fieldManager": names.MANAGER}


async def tell(step: steps.Tell, line: wire.Wire) -> Written:
    """Made, or counted up."""
    now = datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    event = _event(step, now)
    made = await line.call("POST", paths.collection("Event", step.namespace), event, query=_MANAGER, lean=True)
    if made.status != 409 or made.body.get("reason") != "AlreadyExists":
        return said(step, made)
    path = paths.item("Event", step.namespace, event["metadata"]["name"])
    told = await line.call("GET", path)
    if not told.ok:
        return said(step, told)
    again = {"metadata": this(told.body["metadata"]), "count": (told.body.get("count") or 1) + 1, "lastTimestamp": now}
    return said(step, await line.call("PATCH", path, again, wire.MERGE, _MANAGER, lean=True))


def _event(step: steps.Tell, now: str) -> Body:
    story = hashlib.sha256("\0".join((step.uid, step.reason, step.message)).encode()).hexdigest()[:16]
    return {
        "apiVersion": "v1",
        "kind": "Event",
        "metadata": {"namespace": step.namespace, "name": f"{step.name}.{story}", "labels": dict(names.MANAGED)},
        "involvedObject": {
            "apiVersion": f"{names.GROUP}/{names.VERSION}",
            "kind": names.KIND,
            "namespace": step.namespace,
            "name": step.name,
            "uid": step.uid,
        },
        "type": "Warning" if step.warning else "Normal",
        "reason": step.reason,
        "message": step.message[:1024],
        "count": 1,
        "firstTimestamp": now,
        "lastTimestamp": now,
        "source": {"component": names.MANAGER},
        "reportingComponent": names.MANAGER,
        "reportingInstance": names.MANAGER,
    }
