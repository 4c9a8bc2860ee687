"""`balance` in the orders of each driver, and what it may never do: change anything beside it, or restart anything."""

import dataclasses
import math

import pytest

from plan import balances, made
from plan.balances import DRIVER, rebalance, view
from sluice import build
from sluice.plan import life, status, weights
from sluice.values import balances as slim
from sluice_agent import orders as read

PLUGGED = build.Surroundings(agent_image="agent:1", plugin_image="plugin:1")
TOLD = {"balance": {"act": True, "lever": True, "timeout": True}}
WEIGHTS = {"1": 0.5, "2": 0.2, "3": 0.3}


def balance(seen):
    told = status.wanted(seen, life.judge(seen, PLUGGED))["orders"]
    return told["drivers"][DRIVER.name].get("balance")


def with_weights(seen, shown=None):
    last = slim.Balance(DRIVER.name, "Shifting", "executor 2 is slow", WEIGHTS if shown is None else shown, made.NOW_S)
    return dataclasses.replace(seen, balance=last)


ACT = {"act": True, "lever": True, "timeout": True}
CASES = {
    "by default": (view(), ACT),
    "observed": (view(rebalance=rebalance(mode="Observe")), {**ACT, "act": False}),
    "off": (view(told=TOLD, rebalance=rebalance(mode="Off")), None),
    "without Lever": (view(rebalance=rebalance(lever=False)), {**ACT, "lever": False}),
    "rows in order": (view(rebalance=rebalance(keep_order=True)), {**ACT, "whole": True}),
    "without a second attempt": (view(rebalance=rebalance(timeout=False)), {**ACT, "timeout": False}),
    "in Real-Time Mode": (view(real_time=True), {**ACT, "timeout": False}),
    "the user forbids copies": (view(spark_conf={"spark.speculation": "false"}), {**ACT, "timeout": False}),
    "the user's own limit": (view(spark_conf={"spark.speculation.multiplier": "3"}), {**ACT, "timeout": False}),
    "weights": (with_weights(view()), {**ACT, "weights": WEIGHTS}),
    "the loop has nothing to say": (with_weights(view(), {}), ACT),
    "weights, observed": (with_weights(view(rebalance=rebalance(mode="Observe"))), {**ACT, "act": False}),
    "weights of old, latency off": (
        view(told={"balance": {**ACT, "weights": WEIGHTS}}, rebalance=rebalance(latency=False)),
        ACT,
    ),
    "an operator that has only begun": (
        view(told={"balance": {**ACT, "weights": WEIGHTS}}),
        {**ACT, "weights": WEIGHTS},
    ),
    "weights of another driver": (
        dataclasses.replace(view(), balance=slim.Balance("clicks-before", "Shifting", "", WEIGHTS)),
        ACT,
    ),
}


@pytest.mark.parametrize(("seen", "expected"), CASES.values(), ids=CASES)
def test_what_an_agent_may_do_is_in_its_orders(seen, expected):
    assert balance(seen) == expected


def test_who_is_gone_has_no_weight_and_what_he_had_is_shared_out():
    seen = with_weights(view(pods=(DRIVER, *balances.EXECUTORS[:2])))
    assert balance(seen)["weights"] == {"1": 0.714286, "2": 0.285714}


def test_who_came_since_is_not_named():
    seen = with_weights(view(pods=(DRIVER, *balances.EXECUTORS, balances.executor(4))))
    assert balance(seen)["weights"] == WEIGHTS


def test_weights_change_nothing_else_in_the_orders_and_nothing_is_done_for_them():
    seen = view(told=TOLD)
    before = dataclasses.replace(seen.job, status=status.wanted(seen, life.judge(seen, PLUGGED)))
    seen = dataclasses.replace(seen, job=before)
    weighted = with_weights(seen)
    verdict = life.judge(weighted, PLUGGED)
    (record,) = status.record(weighted, verdict)
    assert record.patch["orders"] == {"serial": 6, "drivers": {DRIVER.name: {"balance": {"weights": WEIGHTS}}}}
    assert verdict == life.judge(seen, PLUGGED)


def test_the_agent_keeps_weights_and_the_plugin_gets_the_same_orders():
    plain, more = (
        read.read({"version": 1, "serial": 5, "drivers": {"d": {"gate": {"open": True}, "balance": balance}}}, "d")
        for balance in (ACT, {**ACT, "weights": WEIGHTS})
    )
    assert plain.document == more.document
    assert plain.document["cut"] == {"whole": False}  # of all of it the plugin hears that first batches are cut
    assert more.balance == read.Balance(act=True, lever=True, timeout=True, whole=False, weights=WEIGHTS)


@pytest.mark.parametrize("count", [1, 3, 7, 1000])
def test_however_many_there_are_rounded_weights_add_up_to_one(count):
    rounded = weights.rounded({str(number): 1 / (number + 1) for number in range(count)})
    assert math.isclose(sum(rounded.values()), 1.0, abs_tol=1e-9)
    assert min(rounded.values()) >= 0
