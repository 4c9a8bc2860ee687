"""Makes objects and takes them away: never another's, never another of the same name."""

from collections.abc import Iterable
from typing import Any

from sluice.act.written import Written, failed, said, this
from sluice.transport import paths, wire
from sluice.values import names, steps
from sluice.values.streamjob import Body

_MANAGER = {"fieldManager": names.MANAGER}


async def make(step: steps.Create, line: wire.Wire) -> Written:
    """By POST, so that an object that is there already is found out, and not taken over."""
    kind, meta = step.manifest["kind"], step.manifest["metadata"]
    path = paths.collection(kind, meta["namespace"])
    made = await line.call("POST", path, step.manifest, query=_MANAGER, lean=kind != "Pod")
    if made.status != 409 or made.body.get("reason") != "AlreadyExists":
        return said(step, made)
    return await _meet(step, line)


async def ask(step: steps.Try, line: wire.Wire) -> Written:
    """By a dry run, with everything that would look at the real one: schema, quota, admission."""
    path = paths.collection(step.manifest["kind"], step.manifest["metadata"]["namespace"])
    return said(step, await line.call("POST", path, step.manifest, query={**_MANAGER, "dryRun": "All"}, lean=True))


async def take_away(step: steps.Delete, line: wire.Wire) -> Written:
    """The uid goes with it: what has the same name by now stays."""
    options: dict[str, Any] = {"kind": "DeleteOptions", "apiVersion": "v1", "preconditions": {"uid": step.uid}}
    if step.grace_s is not None:
        options["gracePeriodSeconds"] = step.grace_s
    path = paths.item(step.kind, step.namespace, step.name)
    answer = await line.call("DELETE", path, {**options, "propagationPolicy": "Background"}, lean=step.kind != "Pod")
    if answer.status == 409:
        there = await line.call("GET", path, lean=True)
        if there.ok and there.body["metadata"]["uid"] != step.uid:
            return Written(step)
        answer = answer if there.ok else there
    written = said(step, answer)
    return Written(step) if written.failure is not None and written.failure.kind == "Gone" else written


async def _meet(step: steps.Create, line: wire.Wire) -> Written:
    """Something of that name is there: ours from an earlier try, or not ours at all."""
    kind, meta = step.manifest["kind"], step.manifest["metadata"]
    path = paths.item(kind, meta["namespace"], meta["name"])
    there = await line.call("GET", path, lean=kind != "Pod")
    if there.status == 404:
        return failed(step, "Conflict", f"{kind} {meta['name']} was there a moment ago and is not any more")
    if not there.ok:
        return said(step, there)
    found = there.body["metadata"]
    if not _is_ours(found, meta):
        return failed(step, "Refused", f"{kind} {meta['name']} is there already, and {_whose(found)}")
    if "deletionTimestamp" in found:
        return failed(step, "Conflict", f"{kind} {meta['name']} of before is still on its way out")
    return await _renew(step, line, found) if step.renew else said(step, there)


async def _renew(step: steps.Create, line: wire.Wire, found: Body) -> Written:
    """Applies the manifest to exactly the version that was met, so that a field it no longer has goes."""
    kind, meta = step.manifest["kind"], step.manifest["metadata"]
    path = paths.item(kind, meta["namespace"], meta["name"])
    fields = found.get("managedFields") or ()
    if any(_is_from_post(entry) for entry in fields):
        # What POST wrote belongs to another manager of the same name: apply would never remove any of it.
        patch = {"metadata": {**this(found), "managedFields": list(_as_applied(fields))}}
        adopted = await line.call("PATCH", path, patch, wire.MERGE, lean=True)
        if not adopted.ok:
            return said(step, adopted)
        found = adopted.body["metadata"]
    manifest = {**step.manifest, "metadata": {**meta, **this(found)}}
    return said(step, await line.call("PATCH", path, manifest, wire.APPLY, {**_MANAGER, "force": "true"}, lean=True))


def _is_from_post(entry: Body) -> bool:
    return entry.get("manager") == names.MANAGER and entry.get("operation") == "Update" and "subresource" not in entry


def _as_applied(fields: Iterable[Body]) -> Iterable[Body]:
    return ({**entry, "operation": "Apply"} if _is_from_post(entry) else entry for entry in fields)


def _is_ours(found: Body, wanted: Body) -> bool:
    """The same controller; of what has none, our labels."""
    controller = _controller(wanted)
    if controller or _controller(found):
        return _controller(found).get("uid") == controller.get("uid")
    labels = found.get("labels") or {}
    return all(labels.get(key) == value for key, value in (wanted.get("labels") or {}).items() if key in _OURS)


_OURS = {*names.MANAGED, names.JOB}


def _controller(meta: Body) -> Body:
    return next((owner for owner in meta.get("ownerReferences") or () if owner.get("controller")), {})


def _whose(found: Body) -> str:
    owner = _controller(found)
    return f"belongs to {owner['kind']} {owner['name']} (uid {owner['uid']})" if owner else "is not Sluice's"
