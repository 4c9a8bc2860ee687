"""A Prometheus that is gone, slow or lying moves nothing, and the refusal says what it was: from HTTP to weights."""

import dataclasses

import pytest

from fakes import loops, prometheus
from observe import measured
from plan import balances
from sluice.plan import balancing

IN_FORCE = {"1": 0.5, "2": 0.2, "3": 0.3}
SLOW = {"1": 96, "2": 384, "3": 96}


def seen_at(now_s):
    """A job whose executor 2 is slow, and has little already."""
    seen = balances.view(told={"balance": {"act": True, "weights": IN_FORCE}})
    job = dataclasses.replace(seen.job, namespace="shop")
    return dataclasses.replace(seen, job=job, now_s=now_s)


async def judged(harm=lambda *_: None):
    """Two periods, the second harmed; what comes of it."""
    with measured.begin("Prometheus") as (driver, by):
        memory = balancing.remembered(seen_at(driver.now_s), balances.DRIVER, None)
        for _ in range(2):
            for executor, took_ms in SLOW.items():
                driver.ran(executor, *[took_ms] * 10)
            by.see()
            driver.now_s += 15
        harm(driver, by)
        asked = driver.asked(pod=balances.DRIVER.name)
        found = await by.source.read(asked)
        return balancing.judge(seen_at(driver.now_s), balances.DRIVER, memory, found).shown


def lying(lie):
    def harm(_, by):
        by.fake.lie = lie

    return harm


@pytest.fixture(autouse=True)
def target(monkeypatch):
    monkeypatch.setattr(measured, "POD", balances.DRIVER.name)


@loops.in_a_loop
async def test_the_truth_moves_something():
    shown = await judged()
    assert (shown.reason, shown.cause) == ("Shifting", "")
    assert shown.weights["2"] < IN_FORCE["2"]


SAYS = {
    "nothing at all": ("LatencyNone", "has no task times of this job"),
    "a number that is none": ("LatencyNaN", "there is a number that is none"),
    "an endless number": ("LatencyNaN", "there is a number that is none"),
    "a count went backwards": ("LatencyReset", "a count went backwards"),
    "all began anew in between": ("LatencyReset", "a count went backwards"),
    "an hour late": ("LatencyOld", "is older than 30 s"),
    "an hour ahead": ("LatencyAhead", "is of the future: two clocks differ"),
    "another job": ("LatencyForeign", "answers with task times of shop/views, which it was not asked for"),
    "another namespace": ("LatencyForeign", "answers with task times of other/clicks, which it was not asked for"),
    "another driver": ("LatencyNone", "has no task times of this job"),
    "an executor nobody knows": ("LatencyTwice", "there are two series for one"),
    "one executor is missing": ("LatencyPartial", "no task times are there of executor 2 of clicks"),
    "everything twice": ("LatencyTwice", "there are two series for one"),
    "a sum that its buckets do not allow": ("LatencyReset", "a count went backwards"),
    "fewer in the buckets than there are": ("LatencyTorn", "counts and sums contradict each other"),
    "no job's labels": ("LatencyForeign", "answers with task times of /, which it was not asked for"),
}


@pytest.mark.parametrize("lie", prometheus.LIES)
@loops.in_a_loop
async def test_a_lie_moves_nothing_and_is_named(lie):
    shown = await judged(lying(prometheus.LIES[lie]))
    assert (shown.reason, shown.weights) == ("Refused", IN_FORCE)
    assert (shown.cause, SAYS[lie][1] in shown.message) == (SAYS[lie][0], True), shown.message
    assert shown.message.endswith(": nothing is shifted")


@pytest.mark.parametrize("odd", prometheus.ODD)
@loops.in_a_loop
async def test_an_answer_that_is_none_moves_nothing(odd):
    shown = await judged(lying(prometheus.ODD[odd]))
    assert (shown.reason, shown.cause, shown.weights) == ("Refused", "LatencyUnread", IN_FORCE)
    assert "answers makes no sense" in shown.message


def failing(_, by):
    by.fake.status, by.fake.garbage = 500, b"out of memory"


def silent(_, by):
    by.mute()


def late(driver, _):
    driver.now_s += 40


def skewed(_, by):
    by.fake.skew_s = 3600.0


GONE = {
    "an error": (failing, "LatencyUnread", "refuses: HTTP Status Code 500"),
    "no answer": (silent, "LatencyUnread", "does not answer within 0.3 s"),
    "nothing new for two periods": (late, "LatencyOld", "is older than 30 s"),
    "its clock is an hour ahead, so all is forgotten": (skewed, "LatencyNone", "has no task times of this job"),
}


@pytest.mark.parametrize(("harm", "cause", "says"), GONE.values(), ids=GONE)
@loops.in_a_loop
async def test_where_nothing_comes_nothing_moves(harm, cause, says):
    shown = await judged(harm)
    assert (shown.reason, shown.cause, shown.weights) == ("Refused", cause, IN_FORCE)
    assert says in shown.message
