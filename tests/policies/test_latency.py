"""Latency balancing: ours stops where a step does not help; the published one is the control."""

import itertools
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sluice_policies import latency
from sluice_policies.latency import Args
from sluice_policies.latency_types import Observed, State, Task

OURS, PUBLISHED = Args(), Args(variant="published")


def run(latency_of, periods, args, names="abcd"):
    """Weights after some periods in a world where a task's latency is a function of its name and weight."""
    state = State()
    history = []
    for _ in range(periods):
        known = {task.name: task.weight for task in state.tasks} or dict.fromkeys(names, 1 / len(names))
        state = latency.step(state, [Observed(name, latency_of(name, known[name])) for name in names], args).state
        history.append({task.name: task.weight for task in state.tasks})
    return history


def server(speed):
    """A queue that gets slower with its load: 1 / (speed - load), in units of the whole traffic."""
    return lambda name, weight: 1000 / max(speed[name] - weight, 0.001)


def test_tasks_alike_keep_equal_weights():
    assert run(lambda *_: 10.0, 5, OURS)[-1] == dict.fromkeys("abcd", 0.25)


def test_a_slow_queue_gives_to_the_fast_one_until_their_load_weighted_latency_is_near_its_least():
    """Two queues of speed 0.2 and 0.9: sqrt-proportional spare capacity is the optimum, at 0.168 and 0.832."""
    speed = {"a": 0.2, "b": 0.9}
    weights = run(server(speed), 60, OURS, "ab")[-1]
    found, least = (sum(w * server(speed)(n, w) for n, w in ws.items()) for ws in (weights, {"a": 0.168, "b": 0.832}))
    assert weights["a"] + weights["b"] == pytest.approx(1)
    assert found < least * 1.1


def test_ours_converges_in_fewer_periods_than_the_published_one():
    speed = {"a": 0.2, "b": 0.9}

    def settled(history):
        return next(i for i, weights in enumerate(history) if server(speed)("a", weights["a"]) < 15_000)

    ours, published = (settled(run(server(speed), 100, args, "ab")) for args in (OURS, PUBLISHED))
    assert ours < published / 2


def natural(name, weight):
    """`d` answers in 50 ms whatever it gets; the others are queues that get slower with load."""
    return 50.0 if name == "d" else 2 / max(0.4 - weight, 0.001)


def load_weighted(weights):
    return sum(weight * natural(name, weight) for name, weight in weights.items())


def test_one_slow_by_nature_is_left_where_moving_more_would_not_help():
    """The optimum is 21.95 ms at 0.18 of the traffic, 22.5 ms are equal weights."""
    weights = run(natural, 120, OURS)[-1]
    assert weights["d"] == pytest.approx(0.18, abs=0.05)
    assert load_weighted(weights) < 22.2


def test_the_published_one_makes_the_others_as_slow_as_the_one_that_is_slow_by_nature():
    weights = run(natural, 120, PUBLISHED)[-1]
    assert load_weighted(weights) > 22.5


def test_the_published_one_runs_to_the_floor_when_one_is_slow_by_nature():
    weights = run(lambda name, _: 50.0 if name == "d" else 10.0, 60, PUBLISHED)[-1]
    assert weights["d"] == pytest.approx(0.0, abs=1e-12)


def test_ours_keeps_a_floor_even_there():
    weights = run(lambda name, _: 50.0 if name == "d" else 10.0, 200, OURS)[-1]
    assert weights["d"] == pytest.approx(0.1 * 0.25)


def test_a_step_that_did_not_help_is_taken_back_and_the_task_rests_twice_as_long_each_time():
    """Shifting makes the fast one slower than the slow one was: every step fails."""

    def world(name, weight):
        return {"a": 20.0, "b": 10.0 if weight <= 0.5 else 500.0}[name]

    weights = [round(w["a"], 3) for w in run(world, 16, OURS, "ab")]
    tries = [i for i, weight in enumerate(weights) if weight < 0.5]
    gaps = [after - before for before, after in itertools.pairwise(tries)]
    assert gaps == sorted(gaps)
    assert len(tries) <= 5
    assert 0.5 in weights[:3]


def test_a_step_never_adds_more_than_a_twentieth_to_its_taker():
    """A gap of 100 : 1 asks for a quarter of the traffic; the taker's 0.5 allows 0.025."""
    decision = latency.step(State(), [Observed("a", 1000.0), Observed("b", 10.0)], OURS)
    assert dict(decision.weights) == pytest.approx({"a": 0.475, "b": 0.525})


def test_a_pair_that_shifted_goes_on_below_the_starting_threshold():
    """1.15 is between stop and thres: no reason to start, but reason to go on."""
    tasks = (Task("a", 0.5, 115.0), Task("b", 0.5, 100.0))
    idle = latency.step(State(tasks), [Observed("a", 115.0), Observed("b", 100.0)], OURS)
    assert idle.weights == (("a", 0.5), ("b", 0.5))
    moved = latency.step(State(tasks), [Observed("a", 200.0), Observed("b", 100.0)], Args(alpha=1)).state
    on = latency.step(moved, [Observed("a", 115.0), Observed("b", 100.0)], Args(alpha=1))
    assert dict(on.weights)["a"] < moved.tasks[0].weight


@pytest.mark.parametrize(
    ("before", "observed", "weights"),
    [
        pytest.param(
            {"a": 0.5, "b": 0.5}, "abc", {"a": 1 / 3, "b": 1 / 3, "c": 1 / 3}, id="a new task joins at the mean"
        ),
        pytest.param({"a": 0.2, "b": 0.8}, "a", {"a": 1.0}, id="a dead task's part goes to the living"),
        pytest.param({}, "ab", {"a": 0.5, "b": 0.5}, id="at the start all are equal"),
        pytest.param({"a": 1.0}, "", {}, id="with nobody there are no weights"),
        pytest.param({"a": 0.0, "b": 1.0}, "ac", {"a": 0.0, "c": 1.0}, id="an emptied one leaves all to the new one"),
    ],
)
def test_who_comes_and_goes(before, observed, weights):
    state = State(tuple(Task(name, weight, 10.0) for name, weight in before.items()))
    found = dict(latency.step(state, [Observed(name, None) for name in observed], PUBLISHED).weights)
    assert found == pytest.approx(weights)


def test_a_task_without_traffic_keeps_its_aged_latency():
    state = State((Task("a", 1.0, 10.0),))
    assert latency.step(state, [Observed("a", None)], OURS).state.tasks == (Task("a", 1.0, 10.0),)


def test_by_p99_the_one_with_the_long_tail_gives_though_its_mean_is_lower():
    observed = [Observed("a", 5.0, 8.0, 100.0), Observed("b", 10.0, 12.0, 20.0)]
    assert dict(latency.step(State(), observed, Args(by="p99")).weights)["a"] < 0.5
    assert dict(latency.step(State(), observed, Args(by="mean")).weights)["a"] > 0.5


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda: Args(variant="x"), "variant='x': allowed is ours, published"),
        (lambda: Args(by="p50"), "by='p50': allowed is mean, p90, p99"),
        (lambda: Args(period_s=0), "period_s=0: allowed is 1 to 300"),
        (lambda: Args(alpha=0), "alpha=0: allowed is 0.05 to 1"),
        (lambda: Args(thres=0.5), "thres=0.5: allowed is 1 to 10"),
        (lambda: Args(unit=0.5), "unit=0.5: allowed is 0.001 to 0.1"),
        (lambda: Args(stop=1.3), "stop=1.3: allowed is 1 to 1.2"),
        (lambda: Args(gain=0), "gain=0: allowed is 0.05 to 1"),
        (lambda: Args(most=0), "most=0: allowed is 0.005 to 1"),
        (lambda: Args(floor=0), "floor=0: allowed is 0.01 to 1"),
        (lambda: latency.step(State(), [Observed("a", -1.0)], OURS), "observed[a].mean_ms=-1.0: allowed is 0 to 1e+09"),
        (lambda: latency.step(State(), [Observed("a", 1.0)] * 2, OURS), "observed=a: allowed is each name once"),
    ],
)
def test_a_wrong_value_is_named_with_what_is_allowed(make, says):
    with pytest.raises(ValueError, match="allowed") as why:
        make()
    assert str(why.value) == says


LATENCIES = st.lists(st.dictionaries(st.sampled_from("abcdef"), st.none() | st.floats(0, 1e6)), min_size=1, max_size=12)


@pytest.mark.parametrize("args", [OURS, PUBLISHED], ids=["ours", "published"])
@settings(max_examples=50, deadline=None)
@given(periods=LATENCIES, seed=st.integers(0, 99))
def test_weights_add_up_to_1_none_below_0_and_order_says_nothing(args, periods, seed):
    dice, state = random.Random(seed), State()
    for period in periods:
        observed = [Observed(name, value) for name, value in period.items()]
        decision = latency.step(state, observed, args)
        dice.shuffle(observed)
        assert repr(latency.step(state, observed, args)) == repr(decision)
        assert [name for name, _ in decision.weights] == sorted(period)
        assert sum(weight for _, weight in decision.weights) == pytest.approx(1 if period else 0)
        assert all(weight >= -1e-12 for _, weight in decision.weights)
        state = decision.state
