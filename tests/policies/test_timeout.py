"""The timeout, the settings it becomes, and the one technique of a situation."""

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sluice_policies import timeout
from sluice_policies.timeout import Args, Situation, Timeout

ARGS = Args()


@pytest.mark.parametrize(
    ("p", "value"),
    [(50, 500), (90, 900), (99, 990), (99.9, 999), (100, 1000), (0, 1)],
)
def test_a_percentile_is_the_smallest_value_that_that_many_do_not_exceed(p, value):
    assert timeout.percentile(range(1, 1001), p) == value


def test_too_few_latencies_give_no_timeout_and_speculation_that_nothing_reaches():
    assert timeout.step([5.0] * 19, ARGS) is None
    assert timeout.speculation(None, 8, 4, ARGS) == (("spark.speculation.multiplier", "100"),)


@pytest.mark.parametrize(
    ("found", "tasks", "slots", "settings"),
    [
        pytest.param(
            Timeout(300.0, 90, 100.0), 8, 4,
            {"spark.speculation.multiplier": "3.000", "spark.speculation.quantile": "0.3"},
            id="more tasks than an executor has slots: only a multiple of the median counts",
        ),
        pytest.param(
            Timeout(300.2, 90, 100.0), 4, 4,
            {
                "spark.speculation.multiplier": "3.002",
                "spark.speculation.quantile": "0.3",
                "spark.speculation.task.duration.threshold": "301ms",
            },
            id="few tasks: the absolute threshold counts too",
        ),
        pytest.param(
            Timeout(5.0, 99.9, 0.0), 8, 4,
            {"spark.speculation.multiplier": "100.000", "spark.speculation.quantile": "0.3"},
            id="a median of nothing has no multiple",
        ),
    ],
)  # fmt: skip
def test_speculation(found, tasks, slots, settings):
    assert dict(timeout.speculation(found, tasks, slots, ARGS)) == settings


@pytest.mark.parametrize(
    ("situation", "current", "technique"),
    [
        pytest.param(Situation(0.3, 0.3, 4, 1.0), "none", "timeout", id="idle and alike: replay stragglers"),
        pytest.param(Situation(0.7, 0.3, 4, 1.0), "none", "queue", id="long queues and several tasks: share them"),
        pytest.param(Situation(0.7, 0.3, 1, 1.0), "none", "none", id="long queues of one task each: nothing to share"),
        pytest.param(Situation(0.3, 0.7, 4, 2.0), "none", "balance", id="busy and unlike: balance"),
        pytest.param(Situation(0.7, 0.7, 4, 2.0), "none", "balance", id="busy, unlike and queued: balance alone"),
        pytest.param(Situation(0.3, 0.3, 4, 2.0), "none", "timeout", id="unlike but idle: replay beats balancing"),
        pytest.param(Situation(0.3, 0.7, 4, 1.0), "none", "none", id="busy and alike: replays would only add load"),
        pytest.param(Situation(0.60, 0.3, 4, 1.0), "timeout", "timeout", id="just past 58 % the timeout stays"),
        pytest.param(Situation(0.56, 0.3, 4, 1.0), "queue", "queue", id="just below 58 % the queue stays"),
        pytest.param(Situation(0.62, 0.3, 4, 1.0), "timeout", "queue", id="well past 58 % it changes"),
        pytest.param(Situation(0.3, 0.47, 4, 2.0), "balance", "balance", id="just below 49 % balancing stays"),
        pytest.param(Situation(0.3, 0.51, 4, 2.0), "timeout", "timeout", id="just past 49 % the timeout stays"),
    ],
)
def test_one_technique_per_situation(situation, current, technique):
    assert timeout.choose(situation, current, ARGS) == technique


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda: Args(ratio=0.5), "ratio=0.5: allowed is 1 to 100"),
        (lambda: Args(least_samples=0), "least_samples=0: allowed is 1 to 100000"),
        (lambda: Args(quantile=2), "quantile=2: allowed is 0.05 to 1"),
        (lambda: Args(queue_use=-1), "queue_use=-1: allowed is 0 to 1"),
        (lambda: Args(cpu_use=1.1), "cpu_use=1.1: allowed is 0 to 1"),
        (lambda: Args(thres=0.9), "thres=0.9: allowed is 1 to 100"),
        (lambda: Args(margin=0.6), "margin=0.6: allowed is 0 to 0.5"),
        (lambda: timeout.step([-1.0] * 20, ARGS), "latencies_ms=-1.0: allowed is 0 to 1e+09"),
        (
            lambda: timeout.choose(Situation(0, 0, 1, 1), "hope", ARGS),
            "current='hope': allowed is balance, queue, timeout, none",
        ),
    ],
)
def test_a_wrong_value_is_named_with_what_is_allowed(make, says):
    with pytest.raises(ValueError, match="allowed") as why:
        make()
    assert str(why.value) == says


@settings(max_examples=50, deadline=None)
@given(st.lists(st.floats(0, 1e6), min_size=20, max_size=200), st.integers(0, 99))
def test_a_timeout_is_a_latency_that_occurred_and_order_says_nothing(latencies_ms, seed):
    found = timeout.step(latencies_ms, ARGS)
    assert found is not None
    assert found.timeout_ms in latencies_ms
    assert found.timeout_ms >= found.median_ms
    random.Random(seed).shuffle(latencies_ms)
    assert repr(timeout.step(latencies_ms, ARGS)) == repr(found)
