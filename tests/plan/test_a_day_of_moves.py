"""Hours of a noisy load through the plan's own functions: moves keep to their budget, and none is undone twice."""

import pytest

from bench import rebalance_day

HOURS = 8


@pytest.mark.timeout(60)
def test_in_some_noisy_hours_moves_help_keep_to_their_budget_and_are_undone_once():
    day = rebalance_day.measure(seed=1, minutes=HOURS * 60)
    assert [bar.line() for bar in rebalance_day.bars([day]) if not bar.holds()] == []
    assert day["outcomes"]["Better"] > 0 < day["outcomes"]["Undone"]  # the hours had both to show


def begun(*lines):
    return [["views", 60 * minute, source, target, undoes] for minute, source, target, undoes in lines]


def test_more_than_the_budget_of_an_hour_shows():
    three = begun((0, "a", "b", False), (30, "b", "a", True), (59, "a", "c", False))
    assert rebalance_day.fullest_hour(three) == 1.5  # of two
    assert rebalance_day.fullest_hour(begun((0, "a", "b", False), (30, "b", "a", True), (60, "a", "c", False))) == 1.0
    assert rebalance_day.fullest_hour([]) == 0.0


def test_what_is_taken_back_again_within_a_day_shows():
    there, back = (False, True)
    once = begun((0, "a", "b", there), (30, "b", "a", back), (60, "a", "c", there), (90, "c", "a", back))
    assert rebalance_day.undone_twice(once) == 0
    assert rebalance_day.undone_twice([*once, *begun((600, "a", "b", there), (630, "b", "a", back))]) == 1
    assert rebalance_day.undone_twice([*once, *begun((1440 + 31, "b", "a", back))]) == 0
