"""The latency loop in a running operator: weights get into the orders, once a period at most, by the one write."""

import itertools

import pytest

from cycle import play
from fakes.clock import by_the_clock

pytestmark = pytest.mark.timeout(10)
QUERY = {
    "id": "q-1", "name": "clicks", "engine": "MicroBatch", "phase": "running", "committed": 4,
    "split": "", "settled": True,
}  # fmt: skip
EQUAL = {"1": 100.0, "2": 100.0, "3": 100.0}
SLOW = {"1": 100.0, "2": 300.0, "3": 100.0}


def begin():
    return play.begin(around=play.PLUGGED)


async def started(at, ms=EQUAL, name="clicks", **spec):
    """A job of three executors whose input is cut."""
    at.times.ms = dict(ms)
    at.apply(play.job(name, count=3, **spec))
    await at.until(lambda: at.ready(name))
    await at.later(1)
    at.say(name=name, queries=[QUERY])


def balance(at, name="clicks"):
    """What the agent of the one driver is told."""
    (orders,) = at.status(name)["orders"]["drivers"].values()
    return orders.get("balance")


def weights(at, name="clicks"):
    return (balance(at, name) or {}).get("weights")


def decisions(at):
    return [one for one in at.status()["decisions"] if one["kind"] == "Rebalance"]


@by_the_clock
async def test_weights_of_a_slow_executor_reach_the_orders_with_a_decision_and_an_event():
    async with begin() as at:
        await started(at, SLOW)
        await at.until(lambda: weights(at) is not None, within_s=60)
        assert weights(at)["2"] < 1 / 3
        assert at.condition("Balanced") == ("False", "Shifting")
        assert decisions(at)[0]["why"] == "tasks take 3 times as long on executor 2 as on executor 1"
        await at.later(1)
        events = [event["reason"] for event in at.kube.objects("Event", play.TEAM)]
        assert "RebalanceShifting" in events


@by_the_clock
async def test_orders_change_at_most_once_in_a_period():
    async with begin() as at:
        await started(at, SLOW)
        await at.until(lambda: weights(at) is not None)
        serials = [at.status()["orders"]["serial"]]
        for _ in range(8):
            await at.later(15)
            serials.append(at.status()["orders"]["serial"])
        assert all(later - earlier <= 1 for earlier, later in itertools.pairwise(serials))
        assert serials[-1] > serials[0]


@by_the_clock
async def test_where_all_are_equal_nothing_is_written_again_and_again():
    async with begin() as at:
        await started(at)
        await at.until(lambda: at.condition("Balanced") == ("True", "Balanced"))
        await at.later(60)
        before = at.kube.writes()
        await at.later(300)
        assert at.kube.writes() == before
        assert weights(at) is None


@by_the_clock
async def test_under_observe_decisions_are_told_and_no_weights():
    async with begin() as at:
        await started(at, SLOW, rebalance={"mode": "Observe"})
        await at.until(lambda: bool(decisions(at)), within_s=60)
        await at.later(120)
        assert balance(at) == {"act": False, "lever": True, "timeout": True}
        assert [one["what"] for one in decisions(at)] == ["would move input from executor 2 to others"]
        assert at.condition("Balanced") == ("False", "Observe")


@by_the_clock
async def test_off_means_that_nothing_is_asked_told_or_decided():
    async with begin() as at:
        await started(at, SLOW, rebalance={"mode": "Off"})
        await at.later(120)
        assert (balance(at), decisions(at), at.times.asked) == (None, [], [])
        assert at.condition("Balanced") == ("False", "Off")


@by_the_clock
async def test_turned_off_and_on_again_it_takes_the_weights_away_and_begins_anew_without_a_restart():
    async with begin() as at:
        await started(at, SLOW)
        await at.until(lambda: weights(at) is not None)
        driver = at.drivers()
        at.apply(play.job(count=3, rebalance={"mode": "Off"}))
        await at.until(lambda: balance(at) is None)
        await at.later(30)
        asked = len(at.times.asked)
        await at.later(60)
        assert len(at.times.asked) == asked
        at.apply(play.job(count=3))
        at.say(queries=[QUERY])
        await at.until(lambda: weights(at) is not None)
        assert at.drivers() == driver


@by_the_clock
async def test_another_operator_goes_on_from_the_weights_that_stand():
    async with begin() as at:
        await started(at, SLOW)
        await at.until(lambda: weights(at) is not None)
        at.times.ms = dict(EQUAL)
        await at.until(lambda: at.condition("Balanced") == ("True", "Balanced"))
        await at.later(30)
        before = weights(at), at.status()["orders"]["serial"]
        assert before[0]["2"] < 1 / 3
        await at.restart()
        await at.later(2)
        assert at.condition("Balanced") == ("True", "Balanced")
        await at.later(120)
        assert (weights(at), at.status()["orders"]["serial"]) == before
        at.times.ms = dict(SLOW)
        await at.until(lambda: weights(at)["2"] < before[0]["2"])


@by_the_clock
async def test_a_source_that_fails_leaves_the_weights_as_they_are_and_is_named():
    async with begin() as at:
        await started(at, SLOW)
        await at.until(lambda: weights(at) is not None)
        at.times.problem = "Prometheus does not answer"
        await at.until(lambda: at.condition("Balanced") == ("Unknown", "Refused"))
        before = weights(at)
        await at.later(120)
        assert weights(at) == before
        assert decisions(at)[-1]["what"] == "nothing is shifted (LatencyUnread)"
        at.times.problem = ""
        await at.until(lambda: at.condition("Balanced")[1] != "Refused")


@by_the_clock
async def test_while_levers_shares_move_and_while_a_driver_takes_over_nobody_measures():
    async with begin() as at:
        await started(at, SLOW)
        at.say(queries=[{**QUERY, "settled": False}])
        await at.until(lambda: at.condition("Balanced") == ("Unknown", "Waiting"))
        await at.later(60)
        assert (weights(at), at.times.asked) == (None, [])
        at.say(queries=[QUERY])
        await at.until(lambda: weights(at) is not None, within_s=60)


@by_the_clock
async def test_a_job_that_hangs_holds_up_no_other():
    async with begin() as at:
        await started(at, SLOW)
        at.times.hang.add("views")
        await started(at, SLOW, name="views")
        await at.later(5)
        before = weights(at)
        await at.until(lambda: weights(at) != before, within_s=60)
        assert weights(at, "views") is None
        assert at.ready("views")
