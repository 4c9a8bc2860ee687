"""Whatever befalls a call of ours, whichever it is: what is remembered becomes true, what is written is there once."""

import asyncio
import contextlib
import functools

import pytest

from act import manifests
from fakes import api, loops
from faults import proxy
from sluice import act
from sluice.observe import listwatch, mirror
from sluice.transport import paths, wire
from sluice.values import names, steps

KEY = ("team", "clicks")
FAULTS = {
    "409": proxy.Refuse(409, "Conflict"),
    "429": proxy.Refuse(429, "TooManyRequests"),
    "500": proxy.Refuse(500, "InternalError"),
    "503 and patience": proxy.Refuse(503, "ServiceUnavailable", retry_after_s=0),
    "lost": proxy.Lose(done=False),
    "lost but done": proxy.Lose(done=True),
    "hung but done": proxy.Hang(0.01, done=True),
    "stale": proxy.Stale(),
    "a cut watch": proxy.CutWatch(),
    "a forgotten watch": proxy.ForgetWatch(),
}
CALLS = range(1, 10)  # three lists, three watches, the writes


def life(view):
    """The smallest of plans: the status says so, then there is a driver."""
    if view.job.status.get("phase") != "Starting":
        meta = view.job
        return [steps.RecordStatus(*KEY, meta.uid, meta.resource_version, {"phase": "Starting"})]
    if not view.pods:
        return [steps.Create(manifests.pod(uid=view.job.uid))]
    return []


async def converge(seen, line):
    """Looks and acts until there is nothing left to do."""
    looks = 0
    while view := seen.job_view(KEY, 0.0):
        todo = life(view)
        if not todo:
            return looks
        seen.learn(await act.carry_out(steps.Steps((tuple(todo),)), line))
        looks += 1
        await asyncio.sleep(0.01)
    raise AssertionError("the StreamJob was forgotten")


@contextlib.asynccontextmanager
async def operator(kube, *rules):
    async with (
        proxy.Proxy(kube.who, rules) as between,
        wire.Wire(between.who, lambda: True, dice=lambda: 0.01) as line,
    ):
        seen = mirror.Mirror(lambda _: None, lambda: None)
        followed = [
            listwatch.ListWatch(line, paths.collection(kind), listwatch.Memory(see, functools.partial(keep, "")))
            for kind, see, keep in (
                (names.KIND, seen.see_streamjob, seen.keep_streamjobs),
                ("Pod", seen.see_pod, seen.keep_pods),
                ("Node", seen.see_node, seen.keep_nodes),
            )
        ]
        tasks = [asyncio.create_task(feed.run()) for feed in followed]
        await asyncio.gather(*(feed.synced.wait() for feed in followed))
        try:
            yield seen, line, between
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)


@pytest.mark.timeout(10)
@pytest.mark.parametrize("kth", CALLS)
@pytest.mark.parametrize("fault", FAULTS.values(), ids=FAULTS)
@loops.in_a_loop
async def test_one_driver_comes_to_be_and_the_memory_is_true(fault, kth):
    async with api.FakeApi() as kube:
        kube.put(manifests.streamjob())
        async with operator(kube, proxy.Rule("", fault, kth=kth)) as (seen, line, between):
            assert await converge(seen, line) <= 5
            kube.change("Pod", "team", "clicks-a1b2c3-1", status={"phase": "Running"})
            await loops.until(lambda: [pod.phase for pod in seen.job_view(KEY, 0.0).pods] == ["Running"])
            assert kube.get(names.KIND, "team", "clicks")["status"] == {"phase": "Starting"}
            assert len(between.log) < 25


@loops.in_a_loop
async def test_an_old_cache_neither_takes_away_what_we_made_since_nor_brings_back_what_is_gone():
    rules = proxy.Rule("GET .*/pods.limit", proxy.Stale()), proxy.Rule("/pods.*watch=true", proxy.ForgetWatch(), kth=2)
    async with api.FakeApi() as kube:
        gone = kube.put(manifests.pod("gone"))
        kube.put(manifests.streamjob())
        async with operator(kube, *rules) as (seen, _, between):
            kube.remove("Pod", "team", "gone")
            kube.put(manifests.pod("made-since"))
            await loops.until(lambda: names_of(seen) == ["made-since"])
            kube.store.cut()  # the watch of pods is then told to list, and gets the list of the beginning
            await loops.until(lambda: sum("limit" in entry.words for entry in between.log) == 4)
            kube.put(manifests.pod("the-end"))
            await loops.until(lambda: "the-end" in names_of(seen))
            assert names_of(seen) == ["made-since", "the-end"]
            assert gone["metadata"]["uid"] not in {pod.uid for pod in seen.job_view(KEY, 0.0).pods}


def names_of(seen):
    return [pod.name for pod in seen.job_view(KEY, 0.0).pods]
