"""Hone's slotted queues, against an obvious twin; the optimum in hindsight, against every schedule there is."""

import functools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sluice_policies import hone
from sluice_policies.simulate import draws, optimum, slots

ARRIVALS = st.lists(st.lists(st.integers(0, 3), max_size=5), min_size=1, max_size=30)


def obvious(queues, arrivals, rule):
    """The slow twin: one list of (queue, slot), searched anew in every slot."""
    waiting, last, largest, delays, idle = [], None, 0, [], 0
    for slot, came in enumerate(arrivals):
        waiting += [(f"q{queue:04}", slot) for queue in came]
        names = [f"q{queue:04}" for queue in range(queues)]
        backlogs = {name: sum(owner == name for owner, _ in waiting) for name in names}
        last = hone.step(backlogs, last, rule).sender
        mine = [one for one in waiting if one[0] == last]
        if mine:
            delays.append(slot - mine[0][1])
            waiting.remove(mine[0])
        else:
            idle += 1
        largest = max(largest, *(sum(owner == name for owner, _ in waiting) for name in names))
    return largest, delays, idle


@pytest.mark.parametrize("rule", hone.RULES)
@settings(max_examples=50, deadline=None)
@given(arrivals=ARRIVALS)
def test_the_queues_equal_their_slow_twin(rule, arrivals):
    found = slots.run(4, arrivals, hone.Args(rule))
    largest, delays, idle = obvious(4, arrivals, hone.Args(rule))
    assert (found.largest_backlog, found.sent, found.idle_slots) == (largest, len(delays), idle)
    assert found.mean_delay == pytest.approx(sum(delays) / max(len(delays), 1))
    assert found.longest_delay == max(delays, default=0)


def every_schedule(queues, arrivals):
    """The slow twin of the optimum: tries each choice in each slot."""

    @functools.cache
    def best(slot, backlogs):
        if slot == len(arrivals):
            return 0
        full = tuple(backlogs[queue] + arrivals[slot].count(queue) for queue in range(queues))
        choices = [q for q in range(queues) if full[q]] or [0]
        after = [tuple(max(b - (i == q), 0) for i, b in enumerate(full)) for q in choices]
        return min(max(*rest, best(slot + 1, rest)) for rest in after)

    return best(0, (0,) * queues)


@settings(max_examples=50, deadline=None)
@given(st.lists(st.lists(st.integers(0, 2), max_size=3), min_size=1, max_size=8))
def test_the_optimum_equals_the_best_of_every_schedule(arrivals):
    assert optimum.largest_backlog(3, arrivals) == every_schedule(3, arrivals)


def test_draws_are_splitmix64():
    """The first two outputs of the reference implementation for seed 1234567."""
    dice = draws.uniforms(1234567)
    known = (6457827717110365317, 3203168211198807973)
    assert [next(dice) for _ in known] == [(number >> 11) * 2.0**-53 for number in known]


def test_poisson_arrivals_come_at_their_rate_to_every_queue_and_again_for_the_same_seed():
    arrivals = slots.poisson(5, 0.05, 10_000, seed=3)
    of_queue = [sum(came.count(queue) for came in arrivals) for queue in range(5)]
    assert all(abs(count - 500) < 5 * 500**0.5 for count in of_queue)
    assert slots.poisson(5, 0.05, 10_000, seed=3) == arrivals
    assert slots.poisson(5, 0.05, 10_000, seed=4) != arrivals


@pytest.mark.parametrize(
    ("backlogs", "index"),
    [
        pytest.param((3, 3, 3), 1.0, id="equal backlogs are fair"),
        pytest.param((9, 0, 0), 1 / 3, id="one with all is as unfair as can be"),
        pytest.param((0, 0), 1.0, id="nothing is fairly shared"),
    ],
)
def test_fairness(backlogs, index):
    assert slots.fairness(backlogs) == pytest.approx(index)
