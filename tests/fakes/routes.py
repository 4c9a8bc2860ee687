"""The rules of the fake API server: preconditions, conflicts, subresources, chunks, watches."""

import asyncio
import copy
import dataclasses
import inspect
import re
from typing import TYPE_CHECKING, Any

import orjson
from aiohttp import web

from fakes import calls, patching, store

if TYPE_CHECKING:
    from fakes import api

Body = dict[str, Any]
_PATH = re.compile(r"/apis?/[\w./]*?v\w+/(?:namespaces/([^/]+)/)?([a-z]+)(?:/([^/]+))?(?:/(status))?")


class Routes:
    """Answers one request after another."""

    def __init__(self, kube: "api.FakeApi") -> None:
        self._kube, self._store = kube, kube.store
        self._pages: dict[str, list[Body]] = {}

    async def answer(self, asked: web.Request) -> web.StreamResponse:
        """Does it, and writes it down."""
        raw = await asked.read()
        call = calls.Call(asked.method, asked.path, dict(asked.query), orjson.loads(raw) if raw else None)
        self._kube.calls.append(call)
        number = len(self._kube.calls) - 1
        try:
            answer = await self._answer(asked, call)
        except calls.Refuse as no:
            answer = _json(no.body, no.status, no.headers)
        except calls.Cut:
            if asked.transport is not None:
                asked.transport.abort()
            return web.Response()
        self._kube.calls[number] = dataclasses.replace(call, status=answer.status)
        return answer

    async def _answer(self, asked: web.Request, call: calls.Call) -> web.StreamResponse:
        at = _at(call.path)
        if call.method != "GET":
            await _finish(self._kube.before_write(call))
            body = self._write(asked.content_type, call, at)
            await _finish(self._kube.after_write(call))
            return _json(_shown(asked, body), 201 if call.method == "POST" else 200)
        await _finish(self._kube.before_read(call))
        if call.query.get("watch"):
            return await self._watch(asked, call, at)
        return _json(_shown(asked, self._find(at)) if at[2] else self._list(call, at))

    def _write(self, content_type: str, call: calls.Call, at: store.At) -> Body:
        if call.method == "POST":
            return self._create(call, (at[0], at[1], call.body["metadata"]["name"]))
        if call.method == "DELETE":
            return self._delete(call.body or {}, at)
        if call.method == "PUT":
            return self._replace(call.body, at)
        if "apply-patch" in content_type:
            return self._apply(call, at)
        return self._merge(call, at)

    def _create(self, call: calls.Call, at: store.At) -> Body:
        body: Body = call.body
        if at in self._store.objects:
            raise _no(409, "AlreadyExists", f'{at[0]} "{at[2]}" already exists')
        made = {key: value for key, value in body.items() if key != "status" or at[0] != "streamjobs"}
        made["metadata"] = {**body["metadata"], "managedFields": [_managed(body, "Update")]}
        if at[0] == "pods":
            made.setdefault("status", {"phase": "Pending"})
        return made if "dryRun" in call.query else self._store.put(at, made)

    def _delete(self, options: Body, at: store.At) -> Body:
        there = self._find(at)
        wanted = (options.get("preconditions") or {}).get("uid", there["metadata"]["uid"])
        if wanted != there["metadata"]["uid"]:
            raise _no(409, "Conflict", f"the UID in the precondition ({wanted}) does not match the UID in record")
        running = at[0] == "pods" and there["spec"].get("nodeName") and options.get("gracePeriodSeconds") != 0
        if not running and not there["metadata"].get("finalizers"):
            return self._store.remove(at)
        grace_s = options.get("gracePeriodSeconds", 30) if running else 0
        there["metadata"].setdefault("deletionTimestamp", self._store.stamp(grace_s))
        there["metadata"].setdefault("deletionGracePeriodSeconds", grace_s)
        return self._store.put(at, there)

    def _merge(self, call: calls.Call, at: store.At) -> Body:
        there = self._find(at)
        asked = call.body.get("metadata") or {}
        _check_version(asked, there["metadata"])
        if asked.get("uid", there["metadata"]["uid"]) != there["metadata"]["uid"]:
            raise _no(422, "Invalid", "metadata.uid: Invalid value: field is immutable")
        patch = call.body
        if at[0] in ("streamjobs", "pods"):
            inside = call.path.endswith("/status")
            patch = {key: value for key, value in patch.items() if (key == "status") == inside}
        result = patching.merged(there, patch)
        if at[0] == "pods":
            _check_gates(there["spec"], result["spec"])
        return self._store.put(at, result)

    def _replace(self, body: Body, at: store.At) -> Body:
        there = self._find(at)["metadata"]
        _check_version(body["metadata"], there)
        kept = {key: there[key] for key in ("uid", "creationTimestamp")}
        return self._store.put(at, {**body, "metadata": {**body["metadata"], **kept}})

    def _apply(self, call: calls.Call, at: store.At) -> Body:
        if at not in self._store.objects:
            if "uid" in call.body["metadata"]:
                raise _no(409, "Conflict", "uid mismatch: no existing object was found")
            return self._create(call.body, at)
        there = self._find(at)
        if call.body["metadata"].get("uid", there["metadata"]["uid"]) != there["metadata"]["uid"]:
            raise _no(409, "Conflict", "uid mismatch")
        _check_version(call.body["metadata"], there["metadata"])
        managed = there["metadata"].pop("managedFields", [])
        before: Body = next((entry["fieldsV1"] for entry in managed if entry["operation"] == "Apply"), {})
        now = copy.deepcopy(call.body)
        for field in ("uid", "resourceVersion"):
            now["metadata"].pop(field, None)
        result = patching.applied(there, before, now)
        result["metadata"]["managedFields"] = [
            *(entry for entry in managed if entry["operation"] != "Apply"),
            _managed(now, "Apply"),
        ]
        return self._store.put(at, result)

    def _find(self, at: store.At) -> Body:
        if at not in self._store.objects:
            raise calls.Refuse(404, "NotFound", f'{at[0]} "{at[2]}" not found', details={"name": at[2], "kind": at[0]})
        return copy.deepcopy(self._store.objects[at])

    def _list(self, call: calls.Call, at: store.At) -> Body:
        token = call.query.get("continue", "")
        if token:
            if token not in self._pages:
                raise _no(410, "Expired", "the provided continue parameter is too old")
            rest = self._pages.pop(token)
        else:
            found = sorted(key for key in self._store.objects if key[0] == at[0] and at[1] in ("", key[1]))
            every = [self._store.objects[key] for key in found]
            rest = [body for body in every if _selected(call, body)]
        version = token.partition("-")[0] or str(self._store.version)
        size = int(call.query.get("limit", 0)) or len(rest)
        meta = {"resourceVersion": version}
        if rest[size:]:
            meta["continue"] = f"{version}-{len(rest)}"
            self._pages[meta["continue"]] = rest[size:]
        return {"kind": "List", "apiVersion": "v1", "metadata": meta, "items": rest[:size] or None}

    def expire_pages(self) -> None:
        """As etcd does after five minutes."""
        self._pages.clear()

    async def _watch(self, asked: web.Request, call: calls.Call, at: store.At) -> web.StreamResponse:
        since = int(call.query.get("resourceVersion", self._store.version))
        answer = web.StreamResponse(headers={"Content-Type": "application/json"})
        await answer.prepare(asked)
        if since < self._store.oldest:
            await answer.write(_line("ERROR", {"kind": "Status", "code": 410, "message": "too old resource version"}))
            return answer
        wanted = _wanted(call, at)
        heard = self._store.follow(since, wanted)
        try:
            while change := await heard.get():
                await answer.write(_line(change.kind, change.body))
        except (ConnectionError, asyncio.CancelledError):
            return answer
        finally:
            self._store.leave(heard)
        return answer


def _wanted(call: calls.Call, at: store.At) -> Any:
    def wanted(change: store.Change) -> bool:
        here = at[1] in ("", change.body["metadata"].get("namespace", ""))
        return change.plural == at[0] and here and _selected(call, change.body)

    return wanted


def _check_version(asked: Body, there: Body) -> None:
    if asked.get("resourceVersion", there["resourceVersion"]) != there["resourceVersion"]:
        raise _no(409, "Conflict", "the object has been modified; please apply your changes to the latest version")


def _check_gates(old: Body, new: Body) -> None:
    """Where a pod may go is open only while a gate holds it; gates only ever go."""
    for field in ("affinity", "nodeSelector"):
        if old.get(field) != new.get(field) and not old.get("schedulingGates"):
            raise _no(422, "Invalid", f"spec.{field}: Forbidden: pod updates may not change fields")
    if [gate for gate in new.get("schedulingGates") or () if gate not in (old.get("schedulingGates") or ())]:
        raise _no(422, "Invalid", "spec.schedulingGates: Forbidden: only deletion is allowed")


async def _finish(hooked: object) -> None:
    if inspect.isawaitable(hooked):
        await hooked


def _at(path: str) -> store.At:
    found = _PATH.fullmatch(path)
    if not found:
        raise _no(404, "NotFound", f"the fake API server has no {path}")
    return found[2], found[1] or "", found[3] or ""


def _selected(call: calls.Call, body: Body) -> bool:
    """Label selectors of the forms `key` and `key=value`."""
    labels = body["metadata"].get("labels") or {}
    terms = [term.partition("=") for term in call.query.get("labelSelector", "").split(",") if term]
    return all(key in labels and (not equals or labels[key] == value) for key, equals, value in terms)


def _managed(body: Body, operation: str) -> Body:
    manifest = {key: value for key, value in body.items() if key != "status"}
    return {"manager": "sluice", "operation": operation, "fieldsV1": copy.deepcopy(manifest)}


def _shown(asked: web.Request, body: Body) -> Body:
    if "PartialObjectMetadata" not in asked.headers.get("Accept", ""):
        return body
    return {"kind": "PartialObjectMetadata", "apiVersion": "meta.k8s.io/v1", "metadata": body["metadata"]}


def _no(status: int, reason: str, message: str) -> Exception:
    return calls.Refuse(status, reason, message)


def _json(body: Body, status: int = 200, headers: dict[str, str] | None = None) -> web.Response:
    return web.Response(body=orjson.dumps(body), status=status, content_type="application/json", headers=headers)


def _line(kind: str, body: Body) -> bytes:
    return orjson.dumps({"type": kind, "object": body}) + b"\n"
