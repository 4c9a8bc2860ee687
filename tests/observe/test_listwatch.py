"""A list-watch keeps a memory true: over chunks, cut watches, forgotten versions, refusals and odd objects."""

import asyncio
import contextlib

import pytest

from fakes import api, calls, loops
from sluice.observe import feeds, leases, listwatch, mirror
from sluice.transport import paths
from sluice.values import names

NODES = paths.collection("Node")


def node(name, **labels):
    meta = {"name": name, "labels": labels}
    return {"apiVersion": "v1", "kind": "Node", "metadata": meta, "spec": {}, "status": {"conditions": []}}


class Followed:
    """A list-watch of nodes, and what its memory holds."""

    def __init__(self, kube):
        self.kube, self.names, self.heard = kube, {}, []

    def see(self, kind, body):
        self.heard.append((kind, body["metadata"]["name"]))
        if kind == "DELETED":
            self.names.pop(body["metadata"]["uid"])
        else:
            self.names[body["metadata"]["uid"]] = body["metadata"]["name"]

    def keep(self, found, _):
        self.names = {uid: name for uid, name in self.names.items() if uid in found}

    def known(self):
        return sorted(self.names.values())

    @contextlib.asynccontextmanager
    async def running(self):
        async with self.kube.wire() as line:
            self.feed = listwatch.ListWatch(line, NODES, listwatch.Memory(self.see, self.keep))
            task = asyncio.create_task(self.feed.run())
            try:
                await asyncio.wait_for(self.feed.synced.wait(), 1)
                yield self
            finally:
                task.cancel()
                with contextlib.suppress(asyncio.CancelledError):
                    await task


def fail_once(*whys):
    left = list(whys)

    def hook(call):
        if left and (not isinstance(left[0], tuple) or left[0][0] in call.query):
            why = left.pop(0)
            raise why[1] if isinstance(why, tuple) else why

    return hook


@loops.in_a_loop
async def test_what_is_there_and_what_changes_is_known():
    async with api.FakeApi() as kube:
        kube.put(node("node1"))
        async with Followed(kube).running() as nodes:
            assert nodes.known() == ["node1"]
            kube.put(node("node2"))
            kube.remove("Node", "", "node1")
            await loops.until(lambda: nodes.known() == ["node2"])
            assert nodes.heard == [(None, "node1"), ("ADDED", "node2"), ("DELETED", "node1")]


@loops.in_a_loop
async def test_many_are_listed_in_chunks():
    async with api.FakeApi() as kube:
        for i in range(1200):
            kube.put(node(f"node{i:04d}"))
        async with Followed(kube).running() as nodes:
            assert len(nodes.known()) == 1200
            lists = [call.query for call in kube.calls if "watch" not in call.query]
            assert [("continue" in query, query["limit"]) for query in lists] == [
                (False, "500"),
                (True, "500"),
                (True, "500"),
            ]


@loops.in_a_loop
async def test_a_list_whose_chunks_ran_out_of_time_begins_again():
    async with api.FakeApi() as kube:
        for i in range(600):
            kube.put(node(f"node{i:04d}"))
        kube.before_read = fail_once(("continue", calls.Refuse(410, "Expired", "continue parameter is too old")))
        async with Followed(kube).running() as nodes:
            assert len(nodes.known()) == 600


@loops.in_a_loop
async def test_a_cut_watch_goes_on_where_it_was_without_another_list():
    async with api.FakeApi() as kube, Followed(kube).running() as nodes:
        kube.put(node("node1"))
        await loops.until(lambda: nodes.known() == ["node1"])
        kube.store.cut()
        kube.put(node("node2"))
        await loops.until(lambda: nodes.known() == ["node1", "node2"])
        assert nodes.feed.lists == 1


@loops.in_a_loop
async def test_a_bookmark_moves_on_what_is_asked_for_next():
    async with api.FakeApi() as kube, Followed(kube).running():
        await loops.until(lambda: kube.store.watches() == 1)
        kube.store.version += 500
        kube.store.bookmark()
        kube.store.cut()
        await loops.until(lambda: len(kube.calls) == 3)
        assert kube.calls[-1].query["resourceVersion"] == str(kube.store.version)


@loops.in_a_loop
async def test_forgotten_history_is_listed_anew_and_what_went_meanwhile_goes():
    async with api.FakeApi() as kube:
        kube.put(node("node1"))
        async with Followed(kube).running() as nodes:
            await loops.until(lambda: kube.store.watches() == 1)
            held = asyncio.Event()
            kube.before_read = lambda _: held.wait()
            kube.store.cut()
            await loops.until(lambda: len(kube.calls) == 3)
            kube.remove("Node", "", "node1")
            kube.put(node("node2"))
            kube.store.compact()
            held.set()
            await loops.until(lambda: nodes.known() == ["node2"])
            assert nodes.feed.lists == 2


TROUBLES = {
    "a cut": calls.Cut(),
    "a refusal": calls.Refuse(403, "Forbidden", "nodes is forbidden"),
    "too much to do": calls.Refuse(429, "TooManyRequests", "too many requests"),
    "an answer of 410": calls.Refuse(410, "Expired", "too old resource version"),
    "an answer of 406": calls.Refuse(406, "NotAcceptable", "only the following media types are accepted"),
}


@pytest.mark.parametrize("why", TROUBLES.values(), ids=TROUBLES)
@loops.in_a_loop
async def test_a_watch_that_is_refused_is_tried_again_and_nothing_is_missed(why):
    async with api.FakeApi() as kube:
        kube.before_read = fail_once(("watch", why))
        async with Followed(kube).running() as nodes:
            kube.put(node("node1"))
            await loops.until(lambda: nodes.known() == ["node1"])


@loops.in_a_loop
async def test_a_watch_that_always_fails_is_asked_for_ever_more_slowly():
    async with api.FakeApi() as kube, kube.wire(dice=1.0) as line:
        feed = listwatch.ListWatch(line, NODES, listwatch.Memory(lambda *_: None, lambda *_: None))
    assert [feed.pause_s(failed) for failed in range(9)] == [0.0, 1.0, 2.0, 4.0, 8.0, 16.0, 30.0, 30.0, 30.0]


@loops.in_a_loop
async def test_an_object_that_cannot_be_read_hides_no_other(caplog):
    async with api.FakeApi() as kube:
        nodes = Followed(kube)
        see = nodes.see

        def stumble(kind, body):
            if body["metadata"]["name"] == "odd":
                raise ValueError("'12 apples': allowed is a quantity")
            see(kind, body)

        nodes.see = stumble
        kube.put(node("odd"))
        kube.put(node("plain"))
        async with nodes.running():
            assert nodes.known() == ["plain"]
    assert "/api/v1/nodes: cannot read None/odd" in caplog.text


@loops.in_a_loop
async def test_who_may_read_nodes_follows_everything_that_occupies_them():
    async with api.FakeApi() as kube, kube.wire() as line:
        seen = mirror.Mirror(lambda _: None, lambda: None)
        asked = await first_calls(kube, feeds.feeds(seen, line, ("team",), places=True))
    assert asked == {
        paths.collection(names.KIND, "team"): None,
        paths.collection("Lease", "team"): leases.SELECTOR,
        paths.collection("Pod"): None,
        paths.collection("Node"): None,
    }


@loops.in_a_loop
async def test_who_may_not_follows_its_own_pods_in_its_own_namespaces():
    async with api.FakeApi() as kube, kube.wire() as line:
        seen = mirror.Mirror(lambda _: None, lambda: None)
        asked = await first_calls(kube, feeds.feeds(seen, line, ("team", "other"), places=False))
    assert asked == {
        paths.collection(names.KIND, "team"): None,
        paths.collection(names.KIND, "other"): None,
        paths.collection("Lease", "team"): leases.SELECTOR,
        paths.collection("Lease", "other"): leases.SELECTOR,
        paths.collection("Pod", "team"): names.JOB,
        paths.collection("Pod", "other"): names.JOB,
    }


async def first_calls(kube, followed):
    tasks = [asyncio.create_task(feed.run()) for feed in followed]
    await asyncio.gather(*(feed.synced.wait() for feed in followed))
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    return {call.path: call.query.get("labelSelector") for call in kube.calls if "limit" in call.query}
