"""The proxy does the harm it is told to, where it is told to, and none elsewhere."""

import contextlib

import pytest

from act import manifests
from fakes import api, loops
from faults import proxy
from sluice.transport import failures, paths, wire

CONFIGS = paths.collection("ConfigMap", "team")


@contextlib.asynccontextmanager
async def harmed(*rules):
    async with (
        api.FakeApi() as kube,
        proxy.Proxy(kube.who, rules) as between,
        wire.Wire(between.who, lambda: True, dice=lambda: 0.0) as line,
    ):
        yield kube, between, line


async def make(line, name="config"):
    return await line.call("POST", CONFIGS, manifests.config_map(name))


def there(kube):
    return [body["metadata"]["name"] for body in kube.objects("ConfigMap")]


@loops.in_a_loop
async def test_without_a_rule_nothing_is_changed():
    async with harmed() as (kube, between, line):
        assert (await make(line)).status == 201
        assert (await line.call("GET", CONFIGS)).body["items"] == kube.objects("ConfigMap")
        assert [entry.fault for entry in between.log] == [None, None]


@loops.in_a_loop
async def test_only_the_kth_call_that_a_rule_finds_is_harmed():
    conflict = proxy.Refuse(409, "Conflict")
    async with harmed(proxy.Rule("POST .*configmaps", conflict, kth=2)) as (kube, between, line):
        await line.call("GET", CONFIGS)
        said = [(await make(line, name)).status for name in "abc"]
        assert (said, there(kube)) == ([201, 409, 201], ["a", "c"])
        assert [entry.fault for entry in between.log] == [None, None, conflict, None]


@loops.in_a_loop
async def test_a_refusal_may_ask_for_patience():
    busy = proxy.Rule("POST", proxy.Refuse(429, "TooManyRequests", retry_after_s=60))
    async with harmed(busy) as (kube, between, line):
        with pytest.raises(failures.Unavailable, match="TooManyRequests, says the proxy"):
            await make(line)
        assert (len(between.log), there(kube)) == (1, [])


@pytest.mark.parametrize(("done", "made"), [(False, []), (True, ["config"])])
@pytest.mark.parametrize("fault", [proxy.Lose, lambda done: proxy.Hang(0.01, done)], ids=["lost", "hung"])
@loops.in_a_loop
async def test_what_was_lost_was_done_or_not_as_told(fault, done, made):
    async with harmed(proxy.Rule("POST", fault(done=done))) as (kube, _, line):
        with pytest.raises(failures.Unavailable, match="no answer"):
            await make(line)
        assert there(kube) == made


@loops.in_a_loop
async def test_a_stale_read_is_the_first_one_again():
    async with harmed(proxy.Rule("GET", proxy.Stale(), kth=2)) as (_, __, line):
        seen = []
        for name in "abc":
            await make(line, name)
            seen.append(len((await line.call("GET", CONFIGS)).body["items"]))
        assert seen == [1, 1, 3]


@loops.in_a_loop
async def test_a_watch_breaks_after_the_lines_it_may_bring():
    async with harmed(proxy.Rule("watch=true", proxy.CutWatch(1))) as (_, __, line):
        lines = line.stream(CONFIGS, {"watch": "true", "resourceVersion": "1"})
        async with contextlib.aclosing(lines):
            await make(line, "a")
            await make(line, "b")
            assert (await anext(lines))["object"]["metadata"]["name"] == "a"
            with pytest.raises(failures.Unavailable):
                await anext(lines)


@loops.in_a_loop
async def test_a_watch_is_told_to_list_anew():
    async with harmed(proxy.Rule("watch=true", proxy.ForgetWatch(), kth=1)) as (_, __, line):
        assert [told["object"]["code"] async for told in line.stream(CONFIGS, {"watch": "true"})] == [410]


@loops.in_a_loop
async def test_another_process_finds_it_by_a_kubeconfig(tmp_path):
    async with harmed() as (_, between, __):
        from kubernetes import client, config  # noqa: PLC0415  # the other process

        found = client.Configuration()
        config.load_kube_config(str(between.kubeconfig(tmp_path / "config")), client_configuration=found)
        assert found.host == between.url
