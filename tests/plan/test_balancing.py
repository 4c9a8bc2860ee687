"""From task times to weights: what moves, what waits, and why what was measured moves nothing."""

import dataclasses
import math

import pytest

from plan import balances, made
from plan.balances import DRIVER, EQUAL, QUERY, SLOW, executor, judged, memory, part, reading, rebalance, view
from sluice.plan import balancing
from sluice.values import handoff, latencies


def query(**change):
    return dataclasses.replace(QUERY, **change)


def test_a_slow_executor_gets_less_and_the_others_what_it_had():
    found = judged(view(), reading(SLOW)).shown
    assert found.reason == "Shifting"
    assert found.weights["2"] < 1 / 3 < max(found.weights.values())
    assert math.isclose(sum(found.weights.values()), 1.0)
    assert found.message == "tasks take 3 times as long on executor 2 as on executor 1"
    assert found.what.startswith("executor 2: 33.3% → 31.")


def test_it_goes_on_while_that_helps_and_takes_back_what_does_not():
    seen = view()
    first = judged(seen, reading(SLOW))
    helps = judged(seen, reading({"1": 110.0, "2": 200.0, "3": 100.0}), first).shown
    assert helps.weights["2"] < first.shown.weights["2"]
    harms = judged(seen, reading({"1": 500.0, "2": 900.0, "3": 500.0}), first).shown
    assert harms.weights["2"] == pytest.approx(1 / 3, abs=1e-5)
    assert harms.message == "the last shift helped nothing, or executors came or went"


def test_where_all_are_about_as_fast_there_are_no_weights_at_all():
    found = judged(view(), reading({"1": 100.0, "2": 110.0, "3": 95.0})).shown
    assert (found.reason, found.weights, found.what) == ("Balanced", {}, "")


def test_what_is_the_same_again_is_not_news():
    seen = view()
    once = judged(seen, reading(EQUAL))
    assert judged(dataclasses.replace(seen, now_s=made.NOW_S + 5), reading(EQUAL), once).shown is once.shown


def test_one_executor_alone_has_everything():
    assert judged(view(pods=(DRIVER, executor())), reading({})).shown.message == "one executor has all of the input"


def test_a_pod_that_somebody_labelled_an_executor_is_none():
    stranger = dataclasses.replace(executor(9), name="debug", uid="uid-debug")
    assert judged(view(pods=(DRIVER, *balances.EXECUTORS, stranger)), reading(EQUAL)).shown.reason == "Balanced"


@pytest.mark.parametrize("by", ["mean", "p90", "p99"])
def test_the_figure_that_counts_is_the_one_that_was_asked_for(by):
    slow = {"mean": "1", "p90": "2", "p99": "3"}
    parts = [
        part(name, None, tasks=100, **{f"{one}_ms": 900.0 if slow[one] == name else 100.0 for one in slow})
        for name in ("1", "2", "3")
    ]
    found = judged(view(rebalance=rebalance(by=by)), latencies.Reading("Prometheus", tuple(parts))).shown
    assert min(found.weights, key=lambda name: found.weights[name]) == slow[by]


def test_of_two_queries_each_counts_by_its_tasks_and_one_with_too_few_does_not():
    both = query(), query(id="q-2", name="views")
    slow = [part(name, 900.0 if name == "2" else 100.0, query="views", tasks=2) for name in ("1", "2", "3")]
    assert judged(view(*both), reading(EQUAL, *slow)).shown.reason == "Balanced"
    many = [dataclasses.replace(one, tasks=40) for one in slow]
    assert judged(view(*both), reading(EQUAL, *many)).shown.reason == "Shifting"


def test_a_query_that_is_left_alone_counts_for_nothing():
    both = query(), query(id="q-2", name="views", split="its source is of the first version")
    slow = [part(name, 900.0 if name == "2" else 100.0, query="views") for name in ("1", "2", "3")]
    assert judged(view(*both), reading(EQUAL, *slow)).shown.reason == "Balanced"


def test_another_operator_goes_on_from_the_weights_in_the_orders():
    told = {"balance": {"act": True, "weights": {"1": 0.5, "2": 0.2, "3": 0.3}}}
    seen = view(told=told)
    assert memory(seen).shown.weights == told["balance"]["weights"]
    assert judged(seen, reading(EQUAL)).shown.weights == told["balance"]["weights"]
    assert judged(seen, reading(SLOW)).shown.weights["2"] < 0.2


def test_under_observe_the_first_step_is_told_again_and_again_and_nothing_adds_up():
    seen = view(rebalance=rebalance(mode="Observe"))
    first = judged(seen, reading(SLOW))
    assert (first.shown.reason, first.shown.weights) == ("Shifting", {})
    assert first.shown.what == "would move input from executor 2 to others"
    later = dataclasses.replace(seen, now_s=made.NOW_S + 15)
    assert judged(later, reading({"1": 100.0, "2": 310.0, "3": 99.0}), first).shown == first.shown


REFUSED = {
    "it cannot be read": (latencies.Reading("", problem="Prometheus does not answer"), "LatencyUnread"),
    "nothing is there": (latencies.Reading("Prometheus"), "LatencyNone"),
    "older than two periods": (reading(EQUAL, part("1", at_s=made.NOW_S - 31)), "LatencyOld"),
    "an hour old": (reading({}, *(part(n, at_s=made.NOW_S - 3600) for n in EQUAL)), "LatencyOld"),
    "of the future": (reading({}, *(part(n, at_s=made.NOW_S + 3600) for n in EQUAL)), "LatencyAhead"),
    "no number": (reading({**SLOW, "1": math.nan}), "LatencyNaN"),
    "no number of tasks": (reading(SLOW, part("1", tasks=math.nan)), "LatencyNaN"),
    "an endless time": (reading({**SLOW, "1": math.inf}), "LatencyNaN"),
    "a time below nothing": (reading({**SLOW, "1": -5.0}), "LatencyNaN"),
    "found to be no number": (reading(SLOW, part("1", flaw="NaN")), "LatencyNaN"),
    "a count that went backwards": (reading(SLOW, part("1", flaw="Reset")), "LatencyReset"),
    "fewer tasks than none": (reading(SLOW, part("1", tasks=-3)), "LatencyReset"),
    "two series for one": (reading(SLOW, part("1", flaw="Twice")), "LatencyTwice"),
    "parts that contradict each other": (reading(SLOW, part("1", flaw="Torn")), "LatencyTorn"),
    "another job": (reading(SLOW, part("1", job="views")), "LatencyForeign"),
    "another namespace": (reading(SLOW, part("1", namespace="other")), "LatencyForeign"),
    "an executor that is none of the job's": (reading(SLOW, part("9")), "LatencyForeign"),
    "an executor that is missing": (reading({"1": 100.0, "2": 300.0}), "LatencyPartial"),
    "no figure of an executor": (reading({"1": 100.0, "2": 300.0}, part("3", None)), "LatencyPartial"),
    "none of the query": (reading({}, *(part(n, query="old") for n in EQUAL)), "LatencyPartial"),
}


@pytest.mark.parametrize(("found", "cause"), REFUSED.values(), ids=REFUSED)
def test_what_is_not_to_be_believed_moves_nothing_and_says_why(found, cause):
    in_force = {"1": 0.5, "2": 0.2, "3": 0.3}
    after = judged(view(told={"balance": {"act": True, "weights": in_force}}), found)
    assert (after.shown.reason, after.shown.cause, after.shown.weights) == ("Refused", cause, in_force)
    assert after.shown.message.endswith(": nothing is shifted")
    assert after.shown.what == f"nothing is shifted ({cause})"
    assert after.since_s == made.NOW_S  # what comes next is measured anew


def test_a_refusal_names_source_executor_and_query():
    assert judged(view(), REFUSED["no number"][0]).shown.message == (
        "there is a number that is none in what Prometheus has of executor 1 of clicks: nothing is shifted"
    )


def test_what_an_executor_left_behind_that_is_gone_is_no_lie():
    left = part("9", tasks=0), part("8", at_s=made.NOW_S - 40)
    assert judged(view(), reading(SLOW, *left)).shown.reason == "Shifting"


FEW = {
    "too few tasks": (reading(SLOW, part("1", tasks=2)), (), "LatencyFew"),
    "an executor that came just now": (
        reading({"1": 100.0, "2": 300.0}),
        (executor(3, ready_s=made.NOW_S - 20),),
        "LatencyPartial",
    ),
}


@pytest.mark.parametrize(("found", "young", "cause"), FEW.values(), ids=FEW)
def test_what_may_yet_come_is_waited_for(found, young, cause):
    seen = view(pods=(DRIVER, executor(1), executor(2), *(young or (executor(3),))))
    before = judged(seen, reading(EQUAL))
    held = judged(seen, found, dataclasses.replace(before, since_s=made.NOW_S - 299))
    assert held.shown is before.shown
    assert held.since_s == made.NOW_S - 299
    late = judged(seen, found, dataclasses.replace(before, since_s=made.NOW_S - 300)).shown
    assert (late.reason, late.cause, late.weights) == ("Refused", cause, {})


def test_a_quantile_needs_more_tasks_than_a_mean():
    few = reading({}, *(part(name, tasks=9) for name in EQUAL))
    assert judged(view(), few).shown.reason == "Balanced"
    assert judged(view(rebalance=rebalance(by="p90")), few).shown.reason == "Waiting"


TAKES_OVER = handoff.Handoff(phase="Preparing", old_pod=DRIVER.name, since_s=made.NOW_S).write()
HANDOVER = {name: value for name, value in TAKES_OVER.items() if value is not None}
WAITS = {
    "all is at rest": (view(), ""),
    "a handover": (view(status={"handoff": HANDOVER}), "another driver takes over"),
    "a roll": (
        view(status={"conditions": [{**balances.SETTLED, "status": "True", "reason": "Rolling"}]}),
        "the job is on its way to what its spec wants",
    ),
    "a roll that is stuck": (
        view(status={"conditions": [{**balances.SETTLED, "reason": "Rolling"}]}),
        "the job is on its way to what its spec wants",
    ),
    "a drain": (view(said={"phase": "Draining"}), "the driver drains"),
    "silence": (view(said={"phase": "Silent"}), "the driver says nothing"),
    "Lever": (view(query(settled=False)), "Lever's shares of clicks have not settled"),
    "Lever, as far as anyone knows": (view(query(settled=None)), "Lever's shares of clicks have not settled"),
    "Lever where it is off": (view(query(settled=None), rebalance=rebalance(lever=False)), ""),
    "nobody says that anything is cut": (
        view(query(split=None)),
        "the driver does not say whether the input of clicks is cut",
    ),
    "nothing is cut": (view(query(split="a V1 source")), "no input is cut"),
}


@pytest.mark.parametrize(("seen", "why"), WAITS.values(), ids=WAITS)
def test_it_waits_for_what_is_faster_and_for_what_is_slower_than_itself(seen, why):
    assert balancing.waits(seen, DRIVER) == why


def test_while_it_waits_the_weights_stay_and_nothing_that_was_measured_counts():
    moved = judged(view(), reading(SLOW))
    waited = balancing.wait(view(), moved, "another driver takes over")
    assert (waited.shown.reason, waited.shown.weights) == ("Waiting", moved.shown.weights)
    assert (waited.state.shifts, waited.since_s, waited.shown.what) == ((), made.NOW_S, "")


NOTHING_TO_DO = {
    "rebalance is off": view(rebalance=rebalance(mode="Off")),
    "latency is off": view(rebalance=rebalance(latency=False)),
    "Real-Time Mode": view(real_time=True),
    "a query in Real-Time Mode": view(query(engine="RealTime")),
    "no query runs": view(query(phase="parked")),
    "a driver that is not up": view(pods=(dataclasses.replace(DRIVER, phase="Pending"),)),
    "a driver without an address": view(pods=(dataclasses.replace(DRIVER, ip=""),)),
    "a driver without the plugin": view(status={"orders": {"version": 1, "serial": 1, "drivers": {}}}),
    "no driver": view(pods=()),
}


@pytest.mark.parametrize("seen", NOTHING_TO_DO.values(), ids=NOTHING_TO_DO)
def test_elsewhere_there_is_nothing_for_it_to_do(seen):
    assert balancing.driver(seen) is None
    assert balancing.driver(view()) == DRIVER


def test_another_driver_is_begun_with_from_its_own_orders():
    other = dataclasses.replace(memory(view()).shown, driver="clicks-before", weights={"1": 1.0})
    before = dataclasses.replace(memory(view()), shown=other)
    assert balancing.remembered(view(), DRIVER, before).shown.weights == {}
