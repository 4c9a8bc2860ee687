"""Who sends next."""

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sluice_policies import hone
from sluice_policies.hone import Args, Turn

BACKLOGS = {"a": 1, "b": 5, "c": 0, "d": 5}


@pytest.mark.parametrize(
    ("rule", "last", "turn"),
    [
        pytest.param("largest", None, Turn("b", 1), id="the largest backlog first, ties by name"),
        pytest.param("largest", "b", Turn("b", 1), id="whoever sent last may send again"),
        pytest.param("paper-round-robin", None, Turn("a", 1), id="the paper's round robin starts with the first"),
        pytest.param("paper-round-robin", "b", Turn("c", 0), id="and wastes the slot of an empty queue"),
        pytest.param("paper-round-robin", "d", Turn("a", 1), id="and wraps around"),
        pytest.param("round-robin", "b", Turn("d", 1), id="a work-conserving one skips the empty queue"),
        pytest.param("round-robin", "d", Turn("a", 1), id="and wraps around too"),
        pytest.param("round-robin", "b2", Turn("d", 1), id="a sender that is gone keeps its place in the turn"),
    ],
)
def test_turn(rule, last, turn):
    assert hone.step(BACKLOGS, last, Args(rule)) == turn


@pytest.mark.parametrize("rule", hone.RULES)
def test_with_no_queues_nobody_sends(rule):
    assert hone.step({}, None, Args(rule)) == Turn(None, 0)


def test_with_nothing_queued_nobody_sends_and_the_turn_stays():
    assert hone.step({"a": 0, "b": 0}, "a", Args("largest")) == Turn(None, 0)
    assert hone.step({"a": 0, "b": 0}, "a", Args("round-robin")) == Turn("a", 0)


def test_a_burst_is_at_most_what_is_queued():
    assert hone.step(BACKLOGS, None, Args(burst=3)) == Turn("b", 3)
    assert hone.step(BACKLOGS, None, Args(burst=30)) == Turn("b", 5)


@pytest.mark.parametrize(
    ("fields", "says"),
    [
        ({"rule": "fifo"}, "rule='fifo': allowed is largest, paper-round-robin, round-robin"),
        ({"burst": 0}, "burst=0: allowed is 1 to 10000"),
    ],
)
def test_a_wrong_argument_is_named_with_its_value_and_what_is_allowed(fields, says):
    with pytest.raises(ValueError, match="allowed") as why:
        Args(**fields)
    assert str(why.value) == says


@settings(max_examples=50, deadline=None)
@given(st.dictionaries(st.sampled_from("abcdefgh"), st.integers(0, 9)), st.sampled_from("abcdefgh"), st.integers(0, 99))
def test_the_order_of_the_queues_says_nothing(backlogs, last, seed):
    names = list(backlogs)
    random.Random(seed).shuffle(names)
    shuffled = {name: backlogs[name] for name in names}
    for rule in hone.RULES:
        assert hone.step(shuffled, last, Args(rule)) == hone.step(backlogs, last, Args(rule))
