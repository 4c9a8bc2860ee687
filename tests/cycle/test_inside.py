"""A job with the plugin in its driver: what its agent is told, and how little is written of all that it says."""

import pytest

from cycle import play
from fakes.clock import by_the_clock
from sluice.values import names

BALANCE = {"balance": {"act": True, "lever": True, "timeout": True}}

pytestmark = pytest.mark.timeout(10)


def query(batch=0, **more):
    found = {"id": "q-1", "name": "clicks", "phase": "running", "committed": batch, "batch": batch, "batchMs": 200}
    return {"queries": [{**found, **more}]}


def writes_of_status(at):
    return sum(words.startswith("PATCH") and words.endswith("/status") for words in at.kube.writes())


async def started(at, **job):
    at.apply(play.job(**job))
    await at.until(at.ready)
    await at.later(1)


@by_the_clock
async def test_a_plugin_costs_no_write_until_the_driver_is_ready():
    made = []
    for around in (play.PLAIN, play.PLUGGED):
        async with play.begin(around=around) as at:
            await started(at)
            made.append([words.split("/")[-1] for words in at.kube.writes()])
    assert sorted(made[0]) == sorted(made[1])


@by_the_clock
async def test_the_orders_stand_in_the_status_before_the_driver_is_made():
    seen = []

    def look(call):
        if call.words.endswith("/pods") and call.method == "POST":
            told = at.status()["orders"]["drivers"]
            seen.append(told == {at.status()["driver"]["pod"]: {"gate": {"open": True}, **BALANCE}})

    async with play.begin(around=play.PLUGGED) as at:
        at.kube.before_write = look
        await started(at)
        first = at.status()["orders"]
        at.end_driver(exit_code=1)
        await at.until(lambda: at.ready() and at.status()["driver"]["attempt"] == 2)
        assert seen == [True, True]
        assert first["serial"] < at.status()["orders"]["serial"]
        assert at.status()["orders"]["drivers"].keys() == set(at.drivers())


@by_the_clock
async def test_what_the_agent_says_is_in_the_status_at_once_and_its_numbers_once_a_minute():
    async with play.begin(around=play.PLUGGED) as at:
        await started(at)
        assert at.condition("Protected") == ("Unknown", "NotHeard")
        at.say(**query())
        await at.until(lambda: at.condition("Protected") == ("True", "Guarded"))
        before = writes_of_status(at)
        for batch in range(1, 61):
            await at.later(10)
            at.say(**query(batch))
        await at.later(1)
        assert at.status()["queries"][0]["batch"] >= 54
        assert 8 <= writes_of_status(at) - before <= 10
        at.say(**query(60))
        at.say(**query(60, phase="ended", problem="fenced by epoch 9"))
        await at.until(lambda: at.condition("CheckpointHealthy") == ("False", "QueryRefused"), within_s=5)


@by_the_clock
async def test_renewals_of_a_lease_that_say_nothing_new_are_not_looked_at():
    async with play.begin(around=play.PLUGGED) as at:
        await started(at)
        at.say(**query(7))
        await at.later(60)
        before = at.kube.writes()
        for _ in range(60):
            at.say(**query(7))
            await at.later(10)
        assert at.kube.writes() == before


@by_the_clock
async def test_while_it_is_suspended_the_message_says_how_far_the_drain_is():
    async with play.begin(around=play.PLUGGED) as at:
        await started(at)
        at.say(**query())
        at.world.asleep = True  # a driver that drains
        at.apply(play.job(suspend=True))
        for phase in ("Draining", "Quiet"):
            at.say(phase=phase, **query())
            await at.until(lambda: at.status()["message"].endswith(f"stops: spec.suspend is true: {phase}"))  # noqa: B023
        at.world.asleep = False
        await at.until(lambda: at.status()["phase"] == "Suspended")
        assert (at.status()["queries"], at.status()["orders"]["drivers"]) == ([], {})
        assert at.condition("Protected") == ("Unknown", "NoDriver")


@by_the_clock
async def test_another_operator_shows_what_stands_and_a_driver_of_before_the_plugin_stays_as_it_is():
    async with play.begin() as at:
        await started(at)
        driver = at.world.pods(names.DRIVER, "clicks")[0]["metadata"]["uid"]
        at.around = play.PLUGGED
        await at.restart()
        await at.later(60)
        assert at.world.pods(names.DRIVER, "clicks")[0]["metadata"]["uid"] == driver
        assert at.condition("Protected") == ("False", "NoPlugin")
        assert "orders" not in at.status()
