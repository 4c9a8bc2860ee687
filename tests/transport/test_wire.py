"""The wire: answers, tries, watches and counts, over real HTTP."""

import asyncio
import contextlib
import itertools
import json

import aiohttp.http_writer
import pytest

from fakes import api, calls, loops
from sluice.transport import failures, paths, wire

NODES = paths.collection("Node")


def node(name):
    return {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "labels": {"disk": "fast"}}, "spec": {}}


class Failing:
    """A hook that lets the first calls fail."""

    def __init__(self, *whys):
        self.left = list(whys)

    def __call__(self, _):
        if self.left:
            raise self.left.pop(0)


def too_busy(retry_after=None):
    headers = {"Retry-After": retry_after} if retry_after else {}
    return calls.Refuse(429, "TooManyRequests", "too many requests", headers)


@loops.in_a_loop
async def test_an_answer_has_its_status_its_body_and_its_sentence():
    async with api.FakeApi() as kube, kube.wire() as line:
        kube.put(node("node1"))
        found = await line.call("GET", f"{NODES}/node1")
        assert (found.status, found.ok, found.body["metadata"]["name"]) == (200, True, "node1")
        missing = await line.call("GET", f"{NODES}/node9")
        assert (missing.status, missing.ok, missing.sentence) == (404, False, 'nodes "node9" not found')


@loops.in_a_loop
async def test_a_lean_answer_is_its_metadata():
    async with api.FakeApi() as kube, kube.wire() as line:
        kube.put(node("node1"))
        assert (await line.call("GET", f"{NODES}/node1", lean=True)).body["kind"] == "PartialObjectMetadata"


@pytest.mark.parametrize("why", [too_busy(), calls.Refuse(503, "ServiceUnavailable", "not now"), calls.Cut()])
@loops.in_a_loop
async def test_a_call_that_fails_for_a_moment_succeeds(why):
    async with api.FakeApi() as kube, kube.wire() as line:
        kube.before_read = Failing(why, why)
        assert (await line.call("GET", NODES)).ok
        assert len(kube.calls) == 3


@loops.in_a_loop
async def test_who_asks_for_too_much_patience_is_not_waited_for():
    async with api.FakeApi() as kube, kube.wire() as line:
        kube.before_read = Failing(too_busy("3600"))
        with pytest.raises(failures.Unavailable, match="too many requests") as why:
            await line.call("GET", NODES)
        assert (why.value.status, len(kube.calls)) == (429, 1)


@loops.in_a_loop
async def test_a_server_that_is_not_there_is_unavailable():
    async with api.FakeApi() as kube:
        line = kube.wire()
    async with line:
        with pytest.raises(failures.Unavailable, match="GET /api/v1/nodes: no answer"):
            await line.call("GET", NODES)


@loops.in_a_loop
async def test_every_try_is_counted_by_what_was_asked_and_what_came_of_it():
    async with api.FakeApi() as kube, kube.wire() as line:
        kube.before_write = Failing(too_busy(), calls.Cut())
        await line.call("GET", NODES)
        await line.call("POST", paths.collection("Pod", "team"), {"metadata": {"name": "p", "namespace": "team"}})
        assert line.counts == {
            ("GET", "nodes", 200): 1,
            ("POST", "pods", 429): 1,
            ("POST", "pods", 0): 1,
            ("POST", "pods", 201): 1,
        }


@loops.in_a_loop
async def test_the_lead_is_asked_for_anew_when_a_kept_connection_turns_out_to_be_dead():
    leads = itertools.chain([True, True], itertools.repeat(False))
    async with api.FakeApi() as kube, kube.wire(may_write=lambda: next(leads)) as line:
        await line.call("DELETE", f"{NODES}/node1", {})
        kube.before_write = Failing(calls.Cut())
        with pytest.raises(failures.LostLeadership, match="DELETE /api/v1/nodes/node1"):
            await line.call("DELETE", f"{NODES}/node1", {})
        assert len(kube.calls) == 2


@loops.in_a_loop
async def test_who_loses_the_lead_between_a_request_s_head_and_its_body_sends_nothing(monkeypatch):
    written, head = [], aiohttp.http_writer.StreamWriter.write_headers

    async def write_headers(*words):
        await head(*words)
        written.append(words)

    monkeypatch.setattr(aiohttp.http_writer.StreamWriter, "write_headers", write_headers)
    async with api.FakeApi() as kube, kube.wire(lambda: not written) as line:
        with pytest.raises(failures.LostLeadership, match="DELETE /api/v1/nodes/node1"):
            await line.call("DELETE", f"{NODES}/node1", {})
        assert kube.calls == []


@loops.in_a_loop
async def test_no_more_calls_are_under_way_at_once_than_the_server_is_asked_to_bear():
    held, most = asyncio.Event(), []
    async with api.FakeApi() as kube, kube.wire() as line:
        kube.before_read = lambda _: held.wait()
        asked = [asyncio.create_task(line.call("GET", NODES)) for _ in range(40)]
        await loops.until(lambda: len(kube.calls) >= 32)
        most.append(len(kube.calls))
        held.set()
        await asyncio.gather(*asked)
        assert most == [32]


@loops.in_a_loop
async def test_a_watch_takes_no_call_s_place():
    async with api.FakeApi() as kube, kube.wire() as line, asyncio.TaskGroup() as tasks:

        async def watch():
            async with contextlib.aclosing(line.stream(NODES, {"watch": "true"})) as lines:
                async for _ in lines:
                    pass

        watching = [tasks.create_task(watch()) for _ in range(33)]
        await loops.until(lambda: len(kube.calls) == 33)
        assert (await line.call("GET", NODES)).ok
        for task in watching:
            task.cancel()


@loops.in_a_loop
async def test_a_watch_brings_whole_lines_however_long():
    async with api.FakeApi() as kube, kube.wire() as line:
        long = {**node("node1"), "spec": {"note": "x" * 3_000_000}}
        async with contextlib.aclosing(line.stream(NODES, {"watch": "true", "resourceVersion": "1"})) as lines:
            kube.put(long)
            kube.put(node("node2"))
            found = [await anext(lines), await anext(lines)]
        assert [event["object"]["metadata"]["name"] for event in found] == ["node1", "node2"]
        assert len(json.dumps(found[0])) > 3_000_000


@loops.in_a_loop
async def test_a_watch_that_is_refused_says_so():
    async with api.FakeApi() as kube, kube.wire() as line:
        kube.before_read = Failing(calls.Refuse(403, "Forbidden", "nodes is forbidden"))
        with pytest.raises(failures.Unavailable, match="nodes is forbidden") as why:
            await anext(line.stream(NODES, {"watch": "true"}))
        assert why.value.status == 403


@loops.in_a_loop
async def test_each_call_has_a_deadline_the_server_knows_of():
    async with api.FakeApi() as kube, kube.wire() as line:
        await line.call("GET", NODES)
        await line.call("DELETE", f"{NODES}/node1", {})
        assert [call.query["timeout"] for call in kube.calls] == ["30s", "10s"]


def test_an_answer_that_is_no_json_is_still_a_sentence():
    assert wire.Answer(502, b"<html>bad gateway").sentence == "<html>bad gateway"


@pytest.mark.parametrize(
    ("kind", "namespace", "path"),
    [
        ("Pod", "", "/api/v1/pods"),
        ("Pod", "team", "/api/v1/namespaces/team/pods"),
        ("StreamJob", "team", "/apis/sluice.dev/v1alpha1/namespaces/team/streamjobs"),
    ],
)
def test_a_kind_has_its_home(kind, namespace, path):
    assert paths.collection(kind, namespace) == path
    assert paths.plural(path + "/x/status") == path.rsplit("/", 1)[-1]


def test_a_kind_nobody_reads_is_named():
    with pytest.raises(ValueError, match="kind 'Shoe': allowed are ConfigMap, Event"):
        paths.collection("Shoe")
