"""The API server's bodies as slim records: the few fields a decision is made of. Pure; called by the mirror."""

import datetime
import sys
from collections.abc import Iterable, Mapping
from typing import Any

from sluice.observe import requests
from sluice.values import names, quantities, records, streamjob
from sluice.values.streamjob import Body

_LAST_WORDS = 1024
_USUAL = frozenset({"PodInitializing", "ContainerCreating"})  # every pod waits so for a while
_UNREADABLE = streamjob.Spec(image="", application=streamjob.Application(""), checkpoint=streamjob.Checkpoint(""))


def read_streamjob(body: Body) -> streamjob.StreamJob:
    """A StreamJob; one whose spec the schema let through and we cannot read says so in `unreadable`."""
    meta = body["metadata"]
    spec, unreadable = _spec(body.get("spec") or {})
    return streamjob.StreamJob(
        namespace=sys.intern(meta["namespace"]),
        name=meta["name"],
        spec=spec,
        uid=meta["uid"],
        resource_version=meta["resourceVersion"],
        generation=meta.get("generation", 0),
        created_s=_seconds(meta.get("creationTimestamp")),
        deleting="deletionTimestamp" in meta,
        restarted=(meta.get("annotations") or {}).get(names.RESTARTED, ""),
        status=body.get("status") or {},
        unreadable=unreadable,
    )


def read_pod(body: Body) -> records.Pod:
    """A pod, ours or another's."""
    meta, spec, status = body["metadata"], body["spec"], body.get("status") or {}
    gates = tuple(sys.intern(gate["name"]) for gate in spec.get("schedulingGates") or ())
    conditions = {found["type"]: found for found in status.get("conditions") or ()}
    ready = conditions.get("Ready", {})
    waiting = _waiting(status)
    return records.Pod(
        namespace=sys.intern(meta["namespace"]),
        name=meta["name"],
        uid=meta["uid"],
        resource_version=meta["resourceVersion"],
        labels=_texts(meta.get("labels")),
        owner_uid=_controller(meta),
        created_s=_seconds(meta.get("creationTimestamp")),
        deleting="deletionTimestamp" in meta,
        deleted_s=_deleted_s(meta),
        phase=sys.intern(status.get("phase", "Pending")),
        reason=status.get("reason", ""),
        message=status.get("message", ""),
        node=sys.intern(spec.get("nodeName", "")),
        ip=status.get("podIP", "") if (meta.get("labels") or {}).get(names.ROLE) == names.DRIVER else "",
        requests=requests.of_pod(spec, status),
        gates=gates,
        wishes=_wishes(spec) if names.GATE in gates else None,
        ready=ready.get("status") == "True",
        ready_s=_seconds(ready.get("lastTransitionTime")) if ready.get("status") == "True" else 0.0,
        waiting=waiting.get("reason", ""),
        waiting_message=waiting.get("message", ""),
        unschedulable=_unschedulable(conditions.get("PodScheduled", {})),
        bare_s=_bare_s(status, conditions.get("PodReadyToStartContainers", {})),
        ended=_ended(spec, status),
        placed=(meta.get("annotations") or {}).get(names.PLACED, ""),
    )


def read_node(body: Body) -> records.Node:
    """A machine."""
    meta, spec, status = body["metadata"], body.get("spec") or {}, body.get("status") or {}
    has = status.get("allocatable") or {}
    taints = [
        records.Taint(taint["key"], taint.get("value", ""), taint["effect"]) for taint in spec.get("taints") or ()
    ]
    cordon = records.Taint(records.CORDON)
    if spec.get("unschedulable") and cordon not in taints:  # its taint comes a moment after the cordon
        taints.append(cordon)
    return records.Node(
        name=sys.intern(meta["name"]),
        allocatable=records.Resources(
            quantities.cpu_m(has.get("cpu", 0)),
            quantities.whole(has.get("memory", 0)),
            quantities.whole(has.get("pods", 0)),
        ),
        labels=_texts(meta.get("labels")),
        taints=tuple(taints),
        ready=any(c["type"] == "Ready" and c["status"] == "True" for c in status.get("conditions") or ()),
    )


def _spec(found: Body) -> tuple[streamjob.Spec, str]:
    try:
        return streamjob.read_spec(found), ""
    except (ValueError, TypeError, AttributeError, KeyError) as why:
        return _UNREADABLE, f"{why}"


def _controller(meta: Body) -> str:
    return next((owner["uid"] for owner in meta.get("ownerReferences") or () if owner.get("controller")), "")


def _deleted_s(meta: Body) -> float:
    """The API server tells when its grace is over."""
    return max(0.0, _seconds(meta.get("deletionTimestamp")) - (meta.get("deletionGracePeriodSeconds") or 0))


def _wishes(spec: Body) -> records.Wishes:
    return records.Wishes(
        node_selector=spec.get("nodeSelector") or {},
        affinity=spec.get("affinity") or {},
        tolerations=tuple(spec.get("tolerations") or ()),
    )


def _waiting(status: Body) -> Body:
    """Of the first container that waits for something unusual."""
    for container in _containers(status):
        waiting: Body | None = container.get("state", {}).get("waiting")
        if waiting and waiting.get("reason", "") not in _USUAL:
            return waiting
    return {}


def _containers(status: Body) -> Iterable[Body]:
    yield from status.get("initContainerStatuses") or ()
    yield from status.get("containerStatuses") or ()


def _unschedulable(scheduled: Body) -> str:
    return str(scheduled.get("message", "")) if scheduled.get("reason") == "Unschedulable" else ""


def _bare_s(status: Body, prepared: Body) -> float:
    """A node first mounts a pod's volumes, then gives it a network, and only then pulls images."""
    begins = status.get("phase", "Pending") == "Pending" and prepared.get("status") == "False"
    return _seconds(prepared.get("lastTransitionTime")) if begins else 0.0


def _ended(spec: Body, status: Body) -> records.Ended | None:
    main = _main_container(spec)
    for container in status.get("containerStatuses") or ():
        ended = container.get("state", {}).get("terminated")
        if container["name"] == main and ended:
            return records.Ended(
                exit_code=ended.get("exitCode", 0),
                reason=ended.get("reason", ""),
                message=ended.get("message", "")[-_LAST_WORDS:],
                at_s=_seconds(ended.get("finishedAt")),
            )
    return None


def _main_container(spec: Body) -> str:
    """The one that bears Spark: a mesh may have put its own beside, or before it."""
    found = [str(container["name"]) for container in spec["containers"]]
    ours = (names.DRIVER_CONTAINER, names.EXECUTOR_CONTAINER)
    return next((name for name in found if name in ours), found[0])


def _texts(found: Mapping[str, Any] | None) -> dict[str, str]:
    """Keys, and short values such as names and yes and no, are shared among thousands of pods."""
    return {sys.intern(key): sys.intern(value) for key, value in (found or {}).items()}


def _seconds(stamp: str | None) -> float:
    return datetime.datetime.fromisoformat(stamp).timestamp() if stamp else 0.0
