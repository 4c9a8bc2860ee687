"""What agents measured is asked for over HTTP, bounded in time and size; garbage is refused with a sentence."""

import json

import pytest

from agent import plugin
from fakes import agents, clock
from fakes.clock import by_the_clock
from sluice.observe import traffic
from sluice_agent import batches
from sluice_agent import traffic as agent_traffic

NOW_S = 1_800_000_000.0


def answer(**told):
    return agents.traffic(NOW_S, **told)


def parsed(found):
    return traffic.parse(json.dumps(found).encode())


def test_an_answer_is_read_whole():
    found = parsed(answer())
    assert (found.at_s, found.begins_s) == (NOW_S, NOW_S - 300)
    (query,) = found.queries
    assert (query.name, query.batches, query.batch_ms, query.batch_p90_ms) == ("clicks", 100, 800.0, 1200.0)
    assert query.run_ms == {"1": 60_000.0, "2": 60_000.0}
    assert query.rows == {"1": 30_000, "2": 30_000}
    assert query.pairs == {"1": {"2": 1_000_000}, "2": {"1": 1_000_000}}


def test_what_our_agent_tells_is_read():
    sums = agent_traffic.Traffic()
    for number in range(120):
        sums.add(batches.read(plugin.batch(number)))
    (query,) = parsed(sums.document("2026-11-19T09:00:00+00:00")).queries
    assert (query.name, query.batches, query.pairs) == ("clicks", 70, {"1": {"2": 70 * 7}})
    assert (query.run_ms["1"], query.rows["1"]) == (70 * 400, 70 * 100)


def test_a_field_of_a_later_release_is_skipped():
    assert parsed({**answer(taskMs=[1, 2]), "more": True}) == parsed(answer())


GARBAGE = {
    "no JSON": (b"<html>", "traffic is no JSON"),
    "a list": (b"[]", "traffic=[]: allowed is an object"),
    "another version": ({**answer(), "version": 2}, "version=2: allowed is 1"),
    "no moment": ({**answer(), "at": "now"}, "at='now': allowed is a moment"),
    "a moment without a zone": ({**answer(), "at": "2027-01-15T08:00:00"}, "allowed is a moment"),
    "queries that are none": ({**answer(), "queries": 7}, "queries=7: allowed is an object"),
    "too many queries": ({**answer(), "queries": {str(n): {} for n in range(51)}}, "51 are there: allowed are 50"),
    "a query without a name": ({**answer(), "queries": {"": {}}}, "allowed are names of 1 to 256 characters"),
    "more batches than are remembered": (answer(batches=101), "queries.clicks.batches=101: allowed is a whole number"),
    "batches by halves": (answer(batches=1.5), "batches=1.5"),
    "time that runs backwards": (answer(seconds=-1), "queries.clicks.seconds=-1: allowed is a number from 0"),
    "time that is yes": (answer(seconds=True), "seconds=True"),
    "one number for two": (answer(batchMs=[1]), "batchMs=[1]: allowed are two numbers"),
    "an executor that is none": (answer(executors={"a/b": {}}), "executor 'a/b': allowed are numbers"),
    "an executor without a time": (answer(executors={"1": {"rows": 1}}), "executors.1.runMs=None"),
    "bytes below nothing": (answer(pairs={"1": {"2": -1}}), "pairs.1.2=-1: allowed is a whole number"),
    "bytes to nobody": (answer(pairs={"1": {"x": 1}}), "pairs.1: executor 'x'"),
}


@pytest.mark.parametrize(("found", "sentence"), GARBAGE.values(), ids=GARBAGE)
def test_garbage_is_refused_with_a_sentence(found, sentence):
    with pytest.raises(ValueError) as refused:
        traffic.parse(found if isinstance(found, bytes) else json.dumps(found).encode())
    assert sentence in str(refused.value)


@by_the_clock
async def test_each_agent_is_asked_at_its_own_address():
    async with agents.Agents() as there, traffic.Agents(there.port) as asking:
        there.said = {"127.0.0.2": agents.traffic(clock.now_s()), "127.0.0.3": agents.traffic(clock.now_s(), "views")}
        first = await asking.ask("127.0.0.2")
        second = await asking.ask("127.0.0.3")
        assert [first.queries[0].name, second.queries[0].name] == ["clicks", "views"]
        assert there.asked == ["127.0.0.2", "127.0.0.3"]


UNHEARD = {
    "one that knows no such page": (None, "answers 404"),
    "garbage": (b"<html>", "traffic is no JSON"),
    "more than is read": (b" " * (traffic.LARGEST_BYTES + 1), "answers more than 4 MiB"),
    "one that would have us ask elsewhere": (b"http://127.0.0.1:1/secret", "answers 302"),
}


@pytest.mark.parametrize(("said", "sentence"), UNHEARD.values(), ids=UNHEARD)
@by_the_clock
async def test_what_is_no_answer_is_said(said, sentence):
    async with agents.Agents() as there, traffic.Agents(there.port) as asking:
        there.said = {} if said is None else {"127.0.0.2": said}
        with pytest.raises(traffic.Unheard, match=sentence):
            await asking.ask("127.0.0.2")


@by_the_clock
async def test_nobody_there_and_an_address_that_is_none_are_said():
    async with traffic.Agents(1) as asking:
        for address in ("127.0.0.2", "api.example"):
            with pytest.raises(traffic.Unheard, match=f"{address}: no answer"):
                await asking.ask(address)
