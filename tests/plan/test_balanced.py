"""The condition Balanced, its events, and what of the latency loop is in `status.decisions`."""

import dataclasses

import pytest

from plan import made
from plan.balances import DRIVER, EXECUTORS, QUERY, SETTLED, rebalance, view
from sluice import build
from sluice.plan import life, status
from sluice.values import balances

PLUGGED = build.Surroundings(agent_image="agent:1", plugin_image="plugin:1")


def wanted(seen):
    return status.wanted(seen, life.judge(seen, PLUGGED))


def condition(seen):
    found = {one["type"]: one for one in wanted(seen)["conditions"]}["Balanced"]
    return found["status"], found["reason"]


def last(reason="Balanced", message="as they should be", **more):
    return balances.Balance(DRIVER.name, reason, message, **{"at_s": made.NOW_S - 2, **more})


def with_last(reason="Balanced", seen=None, **more):
    return dataclasses.replace(seen or view(), balance=last(reason, **more))


def query(**change):
    return dataclasses.replace(QUERY, **change)


BEFORE = {"type": "Balanced", "status": "True", "reason": "Balanced", "message": "m", "lastTransitionTime": "t"}
LEVER = rebalance(latency=False)
CASES = {
    "off": (view(rebalance=rebalance(mode="Off")), "False", "Off"),
    "neither of both": (view(rebalance=rebalance(lever=False, latency=False)), "False", "Off"),
    "observed": (with_last(seen=view(rebalance=rebalance(mode="Observe"))), "False", "Observe"),
    "nothing measured yet": (view(), "Unknown", "Waiting"),
    "the loop waits": (with_last("Waiting"), "Unknown", "Waiting"),
    "balanced": (with_last(), "True", "Balanced"),
    "on its way": (with_last("Shifting"), "False", "Shifting"),
    "refused": (with_last("Refused"), "Unknown", "Refused"),
    "the operator has only begun": (view(status={"conditions": [SETTLED, BEFORE]}), "True", "Balanced"),
    "left alone": (view(query(split="its source is of the first version")), "False", "LeftAlone"),
    "one of two left alone": (view(query(), query(id="q-2", split="too few partitions")), "False", "LeftAlone"),
    "left alone, observed": (view(query(split="V1"), rebalance=rebalance(mode="Observe")), "False", "LeftAlone"),
    "Real-Time Mode": (view(query(engine="RealTime"), real_time=True), "False", "LeftAlone"),
    "a query of Real-Time Mode": (view(query(engine="RealTime")), "False", "LeftAlone"),
    "Lever alone": (view(rebalance=LEVER), "True", "Balanced"),
    "Lever alone, on its way": (view(query(settled=False), rebalance=LEVER), "False", "Shifting"),
    "Lever alone, and nobody says": (view(query(split=None), rebalance=LEVER), "Unknown", "Waiting"),
    "no query": (view(query(phase="ended")), "Unknown", "Waiting"),
    "a driver of before the plugin": (
        view(status={"orders": {"version": 1, "serial": 1, "drivers": {}}}),
        "Unknown",
        "NotMeasured",
    ),
    "no plugin at all": (made.view(made.job(status=made.begun()), made.driver()), "Unknown", "NotMeasured"),
    "no plugin, and off": (
        made.view(made.job(status=made.begun(), rebalance=rebalance(mode="Off")), made.driver()),
        "False",
        "Off",
    ),
}


@pytest.mark.parametrize(("seen", "holds", "reason"), CASES.values(), ids=CASES)
def test_balanced_says_whether_each_executor_gets_what_it_can_do(seen, holds, reason):
    assert condition(seen) == (holds, reason)


def message(seen):
    return next(one["message"] for one in wanted(seen)["conditions"] if one["type"] == "Balanced")


def test_it_says_why():
    assert message(view(query(split="a V1 source"))) == "clicks: a V1 source"
    routed = "clicks: in Real-Time Mode work is shifted by routing, which comes later"
    assert message(view(query(engine="RealTime"), real_time=True)) == routed
    observed = with_last("Shifting", view(rebalance=rebalance(mode="Observe")), message="executor 2 is slow")
    assert message(observed) == "rebalance.mode is Observe, so nothing is done: executor 2 is slow"


SLOW = query(slow=("2",))
AT = f"executor 2 on {EXECUTORS[1].node} can carry less than half of an equal part"


def test_it_says_who_is_slow_and_where():
    assert message(with_last(seen=view(SLOW))) == f"as they should be; {AT}"
    assert message(view(SLOW, rebalance=LEVER)) == f"Lever's shares are in force; {AT}"
    observed = with_last(seen=view(SLOW, rebalance=rebalance(mode="Observe")))
    assert message(observed) == f"rebalance.mode is Observe, so nothing is done: as they should be; {AT}"


def test_an_executor_that_is_no_longer_there_is_not_slow():
    assert message(with_last(seen=view(query(slow=("9",))))) == "as they should be"


def test_an_operator_that_has_only_begun_says_what_is_slow_now_and_not_what_was():
    begun = {
        "conditions": [SETTLED, {**BEFORE, "message": "m; executor 1 on n can carry less than half of an equal part"}]
    }
    assert message(view(status=begun)) == "m"
    assert message(view(SLOW, status=begun)) == f"m; {AT}"


def test_a_query_that_has_ended_has_no_slow_executor():
    assert message(with_last(seen=view(query(), query(id="q-2", phase="ended", slow=("2",))))) == "as they should be"


def test_a_sentence_with_a_semicolon_tells_of_no_slow_executor():
    named = with_last("Waiting", message="Lever's shares of a; b have not settled")
    assert "ExecutorSlow" not in [step.reason for step in events(named)]
    assert message(after(named)) == "Lever's shares of a; b have not settled"


def test_an_event_tells_of_an_executor_that_becomes_slow_once():
    slow = with_last(seen=view(SLOW))
    assert [step.message for step in events(slow) if step.reason == "ExecutorSlow"] == [AT]
    assert "ExecutorSlow" not in [step.reason for step in events(after(slow))]


def after(seen):
    return dataclasses.replace(seen, job=dataclasses.replace(seen.job, status=wanted(seen)))


def told(seen):
    return [step.reason for step in events(seen) if "Rebalance" in step.reason]


def events(seen):
    return status.tell(seen, life.judge(seen, PLUGGED))


EVENTS = {
    "balanced": (with_last(), ["RebalanceBalanced"]),
    "refused": (with_last("Refused"), ["RebalanceRefused"]),
    "left alone": (view(query(split="a V1 source")), ["RebalanceLeftAlone"]),
    "waiting": (with_last("Waiting"), []),
    "off": (view(rebalance=rebalance(mode="Off")), []),
}


@pytest.mark.parametrize(("seen", "reasons"), EVENTS.values(), ids=EVENTS)
def test_an_event_tells_of_each_change_of_the_balance_once(seen, reasons):
    assert told(seen) == reasons
    assert told(after(seen)) == []


def decisions(seen):
    return [(one["kind"], one["what"], one["why"]) for one in wanted(seen)["decisions"]]


def test_what_was_decided_is_kept_once_with_its_reason():
    seen = with_last("Shifting", what="executor 2: 33.3% → 31.7% of the input", message="executor 2 is slow")
    expected = [("Rebalance", "executor 2: 33.3% → 31.7% of the input", "executor 2 is slow")]
    assert decisions(seen) == decisions(after(seen)) == expected


def test_where_nothing_was_decided_nothing_is_kept():
    assert decisions(with_last("Waiting")) == []


def test_a_loop_of_fifteen_seconds_leaves_room_for_what_happens_once_a_month():
    start = {"at": "2027-01-15T07:00:00Z", "kind": "Start", "subject": "d", "what": "attempt 1", "why": "it is wanted"}
    seen = view(status={"decisions": [start]})
    for number in range(12):
        shown = {"what": f"executor 2: {number} %", "at_s": made.NOW_S + 15 * number}
        seen = after(with_last("Shifting", seen, **shown))
    kept = [(one["kind"], one["what"]) for one in seen.job.status["decisions"]]
    assert kept == [("Start", "attempt 1"), *(("Rebalance", f"executor 2: {number} %") for number in (9, 10, 11))]


def test_what_the_loop_says_again_is_not_written_again():
    seen = after(with_last("Refused", cause="LatencyOld", what="nothing is shifted (LatencyOld)"))
    assert status.record(seen, life.judge(seen, PLUGGED)) == ()


def test_what_a_driver_says_of_its_split_is_no_field_of_the_status():
    assert {"split", "settled", "slow"}.isdisjoint(wanted(view())["queries"][0])
