"""Lever's default: Eq. 7 over everyone, learned from the rows really carried."""

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sluice_policies import lever
from sluice_policies.lever_types import Batch, Measured, Share, State

ARGS = lever.Args()
NOTHING = State(())


def batch(measured, live, rows):
    return Batch(tuple(Measured(*one) for one in measured), tuple(live), rows)


def rows_of(decision):
    return dict(decision.shares)


@pytest.mark.parametrize(
    ("learned", "measured", "live", "rows", "shares"),
    [
        pytest.param({}, [], "abc", 9, {"a": 3, "b": 3, "c": 3}, id="nothing known: equal parts"),
        pytest.param(
            {}, [("a", 10, 1.0), ("b", 10, 3.0)], "ab", 400, {"a": 300, "b": 100}, id="a third the speed, a third"
        ),
        pytest.param(
            {"a": 30, "b": 10}, [], "abn", 60, {"a": 30, "b": 10, "n": 20}, id="a new executor joins at the mean"
        ),
        pytest.param({"a": 30, "b": 10}, [], "a", 40, {"a": 40}, id="a dead executor is out at once"),
        pytest.param({"a": 1, "b": 999}, [], "ab", 1000, {"a": 10, "b": 990}, id="a slow one keeps the floor of 2 %"),
        pytest.param({"a": 1, "b": 999}, [], "ab", 3, {"a": 1, "b": 2}, id="where each can have a row, each gets one"),
        pytest.param(
            {"a": 1, "b": 999}, [], "ab", 1, {"a": 0, "b": 1}, id="fewer rows than executors: the fast one first"
        ),
        pytest.param(
            {}, [("a", 0, 0.0), ("b", 5, 1.0)], "ab", 10, {"a": 5, "b": 5}, id="who carried nothing taught nothing"
        ),
        pytest.param({}, [("z", 9, 1.0)], "ab", 10, {"a": 5, "b": 5}, id="a stranger's measure is ignored"),
        pytest.param({"a": 5}, [], "", 10, {}, id="with nobody alive nothing is cut"),
    ],
)
def test_shares(learned, measured, live, rows, shares):
    state = State(tuple((name, float(rate)) for name, rate in learned.items()))
    assert rows_of(lever.step(state, batch(measured, live, rows), ARGS)) == shares


@pytest.mark.parametrize(
    ("rows", "rate"),
    [
        pytest.param(200, 125.0, id="faster: a quarter of the way in rows per second"),
        pytest.param(50, 80.0, id="slower: a quarter of the way in seconds per row, from 10 to 20 ms"),
        pytest.param(100, 100.0, id="as before: nothing"),
    ],
)
def test_a_new_measure_is_believed_to_the_gain(rows, rate):
    before = State((("a", 100.0),))
    after = lever.step(before, batch([("a", rows, 1.0)], "a", 1), lever.Args(gain=0.25))
    assert after.state == State((("a", rate),))


def test_three_executors_of_which_one_is_throttled_reach_the_bound_in_one_batch():
    speed = {"a": 50.0, "b": 50.0, "c": 12.0}
    first = batch([(name, 1000, 1000 / rate) for name, rate in speed.items()], speed, 112_000)
    times = [rows / speed[name] for name, rows in lever.step(NOTHING, first, ARGS).shares]
    assert max(times) == pytest.approx(112_000 / 112)


@pytest.mark.parametrize(
    ("rate", "reached"),
    [
        pytest.param(50.0, 1 / (1 / 50 - (1 / 50 - 1 / 100) * 0.4**3), id="half as fast: 94 % of the way"),
        pytest.param(25.0, 1 / (1 / 25 - (1 / 25 - 1 / 100) * 0.4**3), id="4 x slower: to 5 %"),
        pytest.param(400.0, 400 - 300 * 0.4**3, id="4 x faster: to 5 %"),
    ],
)
def test_a_step_change_is_learned_in_three_batches(rate, reached):
    state, live = State((("a", 100.0),)), "a"
    for _ in range(3):
        state = lever.step(state, batch([("a", 1000, 1000 / rate)], live, 1), ARGS).state
    assert state.capacities[0][1] == pytest.approx(reached)


@pytest.mark.parametrize(
    ("fields", "says"),
    [
        ({"variant": "best"}, "variant='best': allowed is all, published"),
        ({"gain": 0.0}, "gain=0.0: allowed is 0.05 to 1"),
        ({"gain": float("nan")}, "gain=nan: allowed is 0.05 to 1"),
        ({"floor": 1.5}, "floor=1.5: allowed is 0 to 1"),
        ({"helpers": 0}, "helpers=0: allowed is 1 to 1000"),
        ({"reading": "mine"}, "reading='mine': allowed is letter, meant"),
    ],
)
def test_a_wrong_argument_is_named_with_its_value_and_what_is_allowed(fields, says):
    with pytest.raises(ValueError, match="allowed") as why:
        lever.Args(**fields)
    assert str(why.value) == says


@pytest.mark.parametrize(
    ("fields", "says"),
    [
        ({"rows": -1}, "rows=-1: allowed is 0 to 1e+15"),
        ({"live": ("a", "a")}, "live=a: allowed is each name once"),
        ({"measured": (Measured("a", 1, -1.0),)}, "measured[a].finish_s=-1.0: allowed is 1e-06 to 1e+09"),
        ({"measured": (Measured("a", -2, 1.0),)}, "measured[a].rows=-2: allowed is 0 to 1e+15"),
        ({"arrived": (Share("a", 3),)}, "arrived=3 rows in all: allowed is rows=4"),
    ],
)
def test_a_wrong_batch_is_named_with_its_value_and_what_is_allowed(fields, says):
    with pytest.raises(ValueError, match="allowed") as why:
        Batch(**{"measured": (), "live": ("a",), "rows": 4} | fields)
    assert str(why.value) == says


NAMES = st.sampled_from("abcdefgh")
MEASURED = st.lists(
    st.builds(Measured, NAMES, st.integers(0, 10**6), st.floats(1e-6, 1e6)), unique_by=lambda one: one.name
)


@pytest.mark.parametrize("variant", lever.VARIANTS)
@settings(max_examples=50, deadline=None)
@given(measured=MEASURED, live=st.lists(NAMES, unique=True), rows=st.integers(0, 10**6), seed=st.integers(0, 99))
def test_every_row_goes_to_one_live_executor_and_the_order_of_the_input_says_nothing(
    variant, measured, live, rows, seed
):
    args = lever.Args(variant=variant)
    decision = lever.step(NOTHING, Batch(tuple(measured), tuple(live), rows), args)
    assert sum(share.rows for share in decision.shares) == (rows if live else 0)
    assert [share.name for share in decision.shares] == sorted(live)
    assert all(share.rows >= 0 for share in decision.shares)
    dice = random.Random(seed)
    dice.shuffle(measured)
    dice.shuffle(live)
    assert repr(lever.step(NOTHING, Batch(tuple(measured), tuple(live), rows), args)) == repr(decision)


@settings(max_examples=50, deadline=None)
@given(rates=st.lists(st.integers(1, 1000), min_size=1, max_size=20), rows=st.integers(1, 10**6))
def test_a_second_step_on_the_same_measures_moves_nothing(rates, rows):
    live = tuple(f"e{i:02}" for i in range(len(rates)))
    carried = tuple(Measured(name, 1000, 1000 / rate) for name, rate in zip(live, rates, strict=True))
    once = lever.step(NOTHING, Batch(carried, live, rows), ARGS)
    assert lever.step(once.state, Batch(carried, live, rows), ARGS).shares == once.shares


@settings(max_examples=50, deadline=None)
@given(rates=st.lists(st.integers(50, 1000), min_size=2, max_size=20))
def test_the_batch_is_never_longer_than_an_equal_cut_once_the_rates_are_known(rates):
    live = tuple(f"e{i:02}" for i in range(len(rates)))
    carried = tuple(Measured(name, 1000, 1000 / rate) for name, rate in zip(live, rates, strict=True))
    rows = 10_000 * len(live)
    cut = lever.step(NOTHING, Batch(carried, live, rows), ARGS).shares
    longest = max(share.rows / rate for share, rate in zip(cut, rates, strict=True))
    assert longest <= 10_000 / min(rates) * 1.001
