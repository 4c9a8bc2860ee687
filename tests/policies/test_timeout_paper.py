"""Du & Gupta, DCC 2016, section 3.1 and 5.1.4, sentence by sentence."""

import pytest

from sluice_policies import timeout
from sluice_policies.timeout import Args, Situation

ARGS = Args()


def latencies(p90, p95, p99, p999):
    """A thousand latencies with these percentiles; the median is 10 ms."""
    return [10.0] * 899 + [p90] * 50 + [p95] * 40 + [p99] * 9 + [p999] * 2


def step(latencies_ms):
    found = timeout.step(latencies_ms, ARGS)
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("tail", "percentile"),
    [
        pytest.param((20, 25, 41, 60), 90, id="99th over twice the 90th: the timeout is the 90th"),
        pytest.param((20, 25, 40, 51), 95, id="else 99.9th over twice the 95th: the 95th"),
        pytest.param((20, 25, 40, 50), 99.9, id="else the 99.9th"),
        pytest.param((20, 25, 41, 400), 90, id="where both tails are long the 99th decides"),
    ],
)
def test_algorithm_1(tail, percentile):
    """Reference: section 3.1, lines 5-10."""
    found = step(latencies(*tail))
    assert (found.percentile, found.timeout_ms) == (percentile, {90: tail[0], 95: tail[1], 99.9: tail[3]}[percentile])


def test_if_the_tail_is_very_long_the_timeout_is_set_aggressively():
    """Reference: section 3.1: a longer tail never gives a longer timeout than the tail it replaces."""
    short = step(latencies(20, 25, 30, 40))
    long = step(latencies(20, 25, 300, 4000))
    assert long.timeout_ms < short.timeout_ms


def test_the_timeout_of_table_2s_default_run_would_be_its_95th_or_less():
    """Reference: Table 2: 99th 29.2 ms and 99.9th 76.6 ms; whatever the 90th and 95th were, line 10 is not reached."""
    for p90 in (5.0, 10.0, 14.6, 20.0):
        found = step(latencies(p90, max(p90, 29.2 * 0.9), 29.2, 76.6))
        assert found.percentile in (90, 95)


@pytest.mark.parametrize("queue_use", [0.0, 0.3, 0.5799])
def test_the_timeout_is_preferable_when_the_queue_utilisation_is_below_58_percent(queue_use):
    """Reference: section 5.1.4, Figure 4."""
    assert timeout.choose(Situation(queue_use, 0.3, 4, 1.0), "none", Args(margin=0)) == "timeout"
    assert timeout.choose(Situation(0.5801, 0.3, 4, 1.0), "none", Args(margin=0)) == "queue"


def test_the_timeout_improves_the_tail_under_moderate_or_low_workload_below_49_percent_cpu():
    """Reference: section 5.1.4, Figure 5."""
    assert timeout.choose(Situation(0.3, 0.4899, 1, 2.0), "none", Args(margin=0)) == "timeout"
    assert timeout.choose(Situation(0.3, 0.4901, 1, 2.0), "none", Args(margin=0)) == "balance"


def test_a_shared_queue_needs_two_tasks_of_the_operator_in_the_worker():
    """Reference: Table 4."""
    assert timeout.choose(Situation(0.9, 0.3, 1, 1.0), "none", ARGS) != "queue"
    assert timeout.choose(Situation(0.9, 0.3, 2, 1.0), "none", ARGS) == "queue"
