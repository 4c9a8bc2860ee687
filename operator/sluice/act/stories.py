"""Tells a story as a Kubernetes event: one of the same reason again counts it up, and its words are the last."""

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
    again = {"count": (told.body.get("count") or 1) + 1, "lastTimestamp": now, "message": event["message"]}
    patch = {**again, "metadata": this(told.body["metadata"])}
    return said(step, await line.call("PATCH", path, patch, wire.MERGE, _MANAGER, lean=True))


def _event(step: steps.Tell, now: str) -> Body:
    kind = "Warning" if step.warning else "Normal"
    story = hashlib.sha256("\0".join((step.uid, kind, step.reason)).encode()).hexdigest()[:16]
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
        "type": kind,
        "reason": step.reason,
        "message": step.message[:1024],
        "count": 1,
        "firstTimestamp": now,
        "lastTimestamp": now,
        "source": {"component": names.MANAGER},
        "reportingComponent": names.MANAGER,
        "reportingInstance": names.MANAGER,
    }
