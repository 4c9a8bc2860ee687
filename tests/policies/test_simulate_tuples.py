"""Du & Gupta's tuples: queues against Lindley's recursion and Erlang, techniques by what they must do."""

import pytest

from sluice_policies import latency, queueing, timeout
from sluice_policies.simulate import draws, tuples
from sluice_policies.simulate.tuples import Result, Scenario, Server, Technique

ONE = Scenario(((Server(0, 2.0),),), tuples_per_s=300, seconds=20, warm_up_s=0, pause_gap_ms=0)
FOUR = Scenario((tuple(Server(0, 2.0) for _ in range(4)),), tuples_per_s=1500, seconds=8, warm_up_s=1, pause_gap_ms=0)
LINE = Scenario(tuples.line(2, 5, 2.0, [1.0] * 5), tuples_per_s=500, seconds=6, warm_up_s=1, pause_gap_ms=500)


def lindley(scenario, seed):
    """The slow twin of one queue: latencies by Lindley's recursion from the same dice."""
    gaps, services = draws.uniforms(seed * 8), draws.uniforms(seed * 8 + 1)
    now_ms = wait_ms = 0.0
    latencies = []
    while now_ms < scenario.seconds * 1000:
        service_ms = draws.exponential(next(services), 2.0)
        if now_ms + wait_ms + service_ms < scenario.seconds * 1000:
            latencies.append(wait_ms + service_ms)
        gap_ms = draws.exponential(next(gaps), 1000 / scenario.tuples_per_s)
        now_ms += gap_ms
        wait_ms = max(wait_ms + service_ms - gap_ms, 0.0)
    return sorted(latencies)


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_one_queue_equals_lindleys_recursion(seed):
    assert tuples.run(ONE, Technique(), seed).latencies_ms == pytest.approx(lindley(ONE, seed), abs=1e-6)


def mean(result):
    return sum(result.latencies_ms) / len(result.latencies_ms)


def test_a_shared_queue_of_four_waits_as_erlang_says_within_its_noise():
    """Three quarters busy: 2 ms of service and 1000 x 0.51/(2000 - 1500) = 1.0 ms of wait."""
    expected = 1000 * queueing.mean_wait_s(queueing.Demand(1500, 500), 4) + 2.0
    found = sum(mean(tuples.run(FOUR, Technique("shared"), seed)) for seed in range(3)) / 3
    assert found == pytest.approx(expected, rel=0.1)
    assert found < mean(tuples.run(FOUR, Technique(), 0)) / 1.5


def test_replicating_half_of_the_tuples_is_half_as_many_instances_more():
    assert tuples.run(LINE, Technique("replicate", share=0.5), 1).extra == pytest.approx(0.5, abs=0.05)


def test_the_default_emits_each_tuple_once():
    assert tuples.run(LINE, Technique(), 1).extra == 0.0


def test_a_timeout_replays_a_few_and_shortens_the_tail():
    plain, replayed = (tuples.run(LINE, technique, 1) for technique in (Technique(), Technique("timeout")))
    assert 0 < replayed.extra < 0.2
    assert replayed.at(99) < plain.at(99)


def test_true_backlogs_make_two_choices_better_and_stale_ones_worse_than_a_blind_draw():
    """Section 3.3: "stale information leads to heavy oscillation"."""
    fresh, blind, stale = (
        tuples.run(FOUR, technique, 1).at(99)
        for technique in (Technique("two-choices", stale_ms=0), Technique(), Technique("two-choices", stale_ms=1000))
    )
    assert fresh < blind < stale


def test_balancing_relieves_a_slow_worker():
    slow = Scenario(tuples.line(1, 4, 2.0, [1.0, 1.0, 1.0, 0.5]), 800, seconds=40, warm_up_s=25, pause_gap_ms=0)
    even, balanced = (tuples.run(slow, technique, 1) for technique in (Technique(), Technique("balance")))
    assert balanced.at(99) < even.at(99) / 1.2


@pytest.mark.parametrize("name", tuples.TECHNIQUES)
def test_the_same_seed_gives_the_same_tuples(name):
    technique = Technique(name, share=0.2, balance=latency.Args(period_s=1))
    assert tuples.run(LINE, technique, 7) == tuples.run(LINE, technique, 7)


def test_a_percentile_of_a_result_is_nearest_rank():
    assert Result((1.0, 2.0, 3.0, 4.0), 0.0, 0).at(50) == timeout.percentile([1.0, 2.0, 3.0, 4.0], 50) == 2.0


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (
            lambda: Technique("luck"),
            "name='luck': allowed is default, timeout, replicate, shared, two-choices, balance",
        ),
        (lambda: Technique(share=2), "share=2: allowed is 0 to 1"),
        (lambda: Technique(stale_ms=-1), "stale_ms=-1: allowed is 0 to 60000"),
    ],
)
def test_a_wrong_technique_is_named_with_what_is_allowed(make, says):
    with pytest.raises(ValueError, match="allowed") as why:
        make()
    assert str(why.value) == says
