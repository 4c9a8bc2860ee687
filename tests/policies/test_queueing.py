"""Erlang C against the textbook, and sizes against a search that tries every number."""

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sluice_policies import queueing
from sluice_policies.queueing import Args, Demand


def textbook_erlang_c(offered, servers):
    """The slow twin: the formula as textbooks print it."""
    last = offered**servers / math.factorial(servers) / (1 - offered / servers)
    return last / (sum(offered**k / math.factorial(k) for k in range(servers)) + last)


@settings(max_examples=50, deadline=None)
@given(st.integers(1, 60), st.floats(0.01, 0.99))
def test_erlang_c_equals_the_textbook(servers, use):
    assert queueing.erlang_c(use * servers, servers) == pytest.approx(textbook_erlang_c(use * servers, servers))


def test_one_server_waits_as_long_as_m_m_1_says():
    assert queueing.mean_wait_s(Demand(350, 450), 1) == pytest.approx(350 / 450 / (450 - 350))


def test_two_servers_worked_by_hand():
    """Offered 1, so a third of the arrivals waits 1/(2-1) on average."""
    assert queueing.erlang_c(1.0, 2) == pytest.approx(1 / 3)
    assert queueing.mean_wait_s(Demand(1, 1), 2) == pytest.approx(1 / 3)


def test_a_thousand_servers_overflow_nothing():
    assert 0 < queueing.erlang_c(950.0, 1000) < 0.2


def test_what_cannot_be_served_waits_for_ever():
    assert queueing.mean_wait_s(Demand(10, 5), 2) == math.inf
    assert queueing.latency_quantile_s(Demand(10, 5), 2, 0.9) == math.inf


@settings(max_examples=50, deadline=None)
@given(st.integers(1, 30), st.floats(0.05, 0.98))
def test_one_queue_never_waits_longer_than_one_each(servers, use):
    demand = Demand(use * servers * 100, 100)
    assert queueing.mean_wait_s(demand, servers) <= queueing.separate_wait_s(demand, servers) * (1 + 1e-9)


@settings(max_examples=50, deadline=None)
@given(st.integers(1, 20), st.floats(0.05, 0.95), st.floats(0.5, 0.999))
def test_that_part_of_the_rows_and_no_more_is_slower_than_its_quantile(servers, use, part):
    demand = Demand(use * servers * 10, 10)
    quantile_s = queueing.latency_quantile_s(demand, servers, part)
    assert queueing._longer_than(demand, servers, quantile_s) == pytest.approx(1 - part, rel=1e-4)


def test_the_quantile_of_one_server_is_that_of_an_exponential():
    assert queueing.latency_quantile_s(Demand(6, 10), 1, 0.99) == pytest.approx(math.log(100) / 4)


@pytest.mark.parametrize(
    ("demand", "args", "executors"),
    [
        pytest.param(Demand(0, 100), Args(), 1, id="nothing to do still takes one"),
        pytest.param(Demand(79, 100), Args(), 1, id="79 % of one slot fits under 80 %"),
        pytest.param(Demand(81, 100), Args(), 2, id="81 % of one slot does not"),
        pytest.param(Demand(350, 450), Args(goal_ms=10.1), 1, id="one M/M/1 at 78 % keeps 10 ms in the mean"),
        pytest.param(Demand(350, 450), Args(goal_ms=9.9), 2, id="and not 9.9 ms"),
        pytest.param(Demand(1000, 100), Args(slots=4), 4, id="ten busy slots at 80 % are thirteen, in fours"),
    ],
)
def test_size(demand, args, executors):
    assert queueing.step(demand, args).executors == executors


@settings(max_examples=50, deadline=None)
@given(st.floats(0, 5000), st.sampled_from([0.0, 0.9, 0.99]), st.integers(1, 8), st.floats(60, 2000))
def test_a_size_is_the_first_that_keeps_goal_and_utilisation(arrivals_per_s, quantile, slots, goal_ms):
    args, demand = Args(goal_ms=goal_ms, quantile=quantile, slots=slots), Demand(arrivals_per_s, 100.0)
    found = queueing.step(demand, args)

    def keeps(executors):
        each = Demand(arrivals_per_s / executors, 100.0)
        return (
            arrivals_per_s <= 0.8 * executors * slots * 100 * (1 + 1e-12)
            and queueing._keeps(demand, executors, args)
            and each
        )

    assert found.executors == next(n for n in range(1, 1000) if keeps(n))
    assert found.goal_latency_ms <= goal_ms
    assert found.utilisation <= 0.8 * (1 + 1e-12)


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda: Args(goal_ms=0), "goal_ms=0: allowed is 0.001 to 1e+07"),
        (lambda: Args(quantile=0.3), "quantile=0.3: allowed is 0.5 to 0.9999"),
        (lambda: Args(utilisation=1.0), "utilisation=1.0: allowed is 0.05 to 0.99"),
        (lambda: Args(slots=0), "slots=0: allowed is 1 to 1024"),
        (lambda: queueing.step(Demand(-1, 1), Args()), "arrivals_per_s=-1: allowed is 0 to 1e+12"),
        (lambda: queueing.step(Demand(1, 0), Args()), "served_per_s=0: allowed is 1e-06 to 1e+12"),
        (lambda: queueing.step(Demand(1, 1), Args(goal_ms=999)), "goal_ms=999: allowed is 1000 to 1e+07"),
        (lambda: queueing.step(Demand(1e12, 1), Args()), "executors=1250000000000: allowed is 1 to 100000"),
    ],
)
def test_a_wrong_value_is_named_with_what_is_allowed(make, says):
    with pytest.raises(ValueError, match="allowed") as why:
        make()
    assert str(why.value) == says
