"""Li et al., "Hone", TPDS 2021, sentence by sentence."""

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sluice_policies import hone
from sluice_policies.simulate import optimum, slots

LARGEST, PAPERS, CONSERVING = (hone.Args(rule) for rule in hone.RULES)


def bound(queues):
    return 3 + math.ceil(math.log2(queues))


def test_each_time_slot_the_queue_with_the_largest_backlog_outputs_one_tuple():
    """Reference: section 4.3, Algorithm 1 line 2."""
    assert hone.step({"q1": 2, "q2": 7, "q3": 6}, "q2", LARGEST) == hone.Turn("q2", 1)


def test_the_backlog_grows_by_what_arrives_and_falls_by_what_is_sent_and_is_never_below_zero():
    """Reference: section 4.1, Eq. 1: two arrive, one is sent each slot, then the queue stays empty."""
    found = slots.run(1, [[0, 0], [], [], []], LARGEST, every=1)
    assert (found.largest_backlog, found.sent, found.idle_slots) == (1, 2, 2)
    assert found.sampled == ((0,), (0,), (0,))


def test_round_robin_goes_to_the_next_queue_modulo_n_from_the_first_on():
    """Reference: section 4.4, simulation setup."""
    last, order = None, []
    for _ in range(5):
        last = hone.step(dict.fromkeys(("q1", "q2", "q3"), 1), last, PAPERS).sender
        order.append(last)
    assert order == ["q1", "q2", "q3", "q1", "q2"]


@settings(max_examples=50, deadline=None)
@given(st.integers(2, 6), st.data())
def test_theorem_1_the_largest_backlog_is_within_3_plus_log2_n_of_the_optimum(queues, data):
    """Reference: section 4.3, Theorem 1, on arrivals a search for a counterexample makes up."""
    arrivals = data.draw(st.lists(st.lists(st.integers(0, queues - 1), max_size=8), min_size=1, max_size=25))
    best = optimum.largest_backlog(queues, arrivals)
    assert slots.run(queues, arrivals, LARGEST).largest_backlog <= bound(queues) * best


@pytest.mark.parametrize("rounds", [1, 2, 3, 4])
def test_theorem_1_on_bursts_that_hit_again_what_someone_wise_would_have_emptied(rounds):
    queues, arrivals = slots.halving(rounds, height=8)
    best = optimum.largest_backlog(queues, arrivals)
    found = slots.run(queues, arrivals, LARGEST).largest_backlog
    assert best < found <= bound(queues) * best


@settings(max_examples=50, deadline=None)
@given(st.integers(1, 5), st.data())
def test_theorem_2_any_rule_that_sends_while_it_can_is_n_competitive(queues, data):
    """Reference: section 4.3, Theorem 2; the paper's own round robin idles and is not such a rule."""
    arrivals = data.draw(st.lists(st.lists(st.integers(0, queues - 1), max_size=6), min_size=1, max_size=20))
    best = optimum.largest_backlog(queues, arrivals)
    assert slots.run(queues, arrivals, CONSERVING).largest_backlog <= queues * best


@pytest.mark.parametrize("per_slot", [0.05, 0.09])
def test_the_maximum_backlog_is_smaller_than_with_the_papers_round_robin(per_slot):
    """Reference: section 4.4, Figure 6a at 500 and 900 tuples/s in slots of 100 us."""
    arrivals = slots.poisson(10, per_slot, 3000, seed=1)
    assert slots.run(10, arrivals, LARGEST).largest_backlog * 2 < slots.run(10, arrivals, PAPERS).largest_backlog


def test_against_a_round_robin_that_skips_empty_queues_the_mean_delay_is_the_same():
    """Both keep the link busy, so waits differ only in their order; the paper's 89.8 % is idle slots."""
    arrivals = slots.poisson(10, 0.08, 5000, seed=2)
    found = [slots.run(10, arrivals, rule) for rule in (LARGEST, CONSERVING, PAPERS)]
    assert found[0].mean_delay == pytest.approx(found[1].mean_delay, rel=0.01)
    assert found[2].mean_delay > 5 * found[0].mean_delay
    assert found[2].idle_slots > found[0].idle_slots == found[1].idle_slots
