"""Changes what is there, in exactly the version that was decided on: a StreamJob's status, a pod's place."""

from sluice.act.written import Written, said
from sluice.transport import paths, wire
from sluice.values import names, steps
from sluice.values.streamjob import Body

_MANAGER = {"fieldManager": names.MANAGER}


async def record_status(step: steps.RecordStatus, line: wire.Wire) -> Written:
    """A merge patch of the status subresource."""
    path = paths.item(names.KIND, step.namespace, step.name) + "/status"
    patch = {"metadata": _this(step), "status": step.patch}
    return said(step, await line.call("PATCH", path, patch, wire.MERGE, _MANAGER))


async def patch_pod(step: steps.PatchPod, line: wire.Wire) -> Written:
    """A merge patch of the pod."""
    path = paths.item("Pod", step.namespace, step.name)
    patch = {**step.patch, "metadata": {**step.patch.get("metadata", {}), **_this(step)}}
    return said(step, await line.call("PATCH", path, patch, wire.MERGE, _MANAGER))


def _this(step: steps.RecordStatus | steps.PatchPod) -> Body:
    return {"uid": step.uid, "resourceVersion": step.resource_version}
