"""How the bench of rebalancing judges: batches around the moment of a change, and looks at who has seen it."""

import dataclasses
import json

import pytest

from agent import plugin
from bench import rebalance_pieces, rebalance_runtime, rebalance_seen, rebalance_step
from bench.rebalance_seen import Batch, Look
from house import trouble


def batches(*took_s, from_s=0.0, first=0):
    """One right after the other."""
    return [
        Batch(first + at, from_s + sum(took_s[:at]), took_s[at], round(took_s[at] - 0.1, 3))
        for at in range(len(took_s))
    ]


def test_a_batch_is_told_by_the_moment_it_began():
    said = {"batch": 7, "began": "1970-01-01T00:01:00.250Z", "lasted_s": 2.0, "took_s": 1.5}
    assert rebalance_seen.batch(said) == Batch(7, 60.25, 2.0, 1.5)
    assert rebalance_seen.batch(said).ended_s == 62.25


def test_a_batch_in_flight_at_a_change_is_hit_by_it_and_belongs_to_neither_side():
    found = batches(1, 1, 1, 1)
    assert [one.number for one in rebalance_seen.within(found, 0.0, 2.5)] == [0, 1]
    assert [one.number for one in rebalance_seen.within(found, 2.5, 9.0)] == [3]
    assert [one.number for one in rebalance_seen.hit(found, 2.5)] == [2, 3]


@pytest.mark.parametrize(
    ("took_s", "number"),
    [
        ([1.0, 1.0, 1.0], 1),
        ([3.0, 2.0, 1.09, 1.0], 3),
        ([3.0, 1.0, 2.0, 1.0, 1.0], 4),  # one quick batch is luck
        ([3.0, 1.2, 1.0], 4),  # nobody knows what came after the last one
        ([], 1),
    ],
)
def test_the_optimum_is_reached_by_two_batches_in_a_row(took_s, number):
    assert rebalance_seen.until_near(took_s, 1.0, 0.1) == number


def test_a_level_holds_what_no_step_has_hit():
    level = [1.1] * 12
    steps = len(rebalance_step._STEPS)
    at_s = [10.0 + 20 * step for step in range(steps)]
    told = [one for step, from_s in enumerate(at_s) for one in batches(*level, from_s=from_s, first=12 * step)]
    measured = {"batches": [vars(one) for one in told], "at_s": at_s, "cpu_s": 1.01}
    found = rebalance_step.levels(measured)
    assert [len(one.took_s) for one in found] == [12] * steps
    assert (found[0].what, found[1].what) == ("3: 45 → 11", "3: 11 → 45")
    assert [one.batches for one in found] == [1] * steps
    assert found[0].settled_s / found[0].bound_s == pytest.approx(1.0)


def look(at_s, batch, rows, balanced=("Balanced", ""), weights=None, moves=()):
    return Look(at_s, batch, dict(zip("123", rows, strict=True)), balanced, weights or {}, moves)


def looks(*parts):
    """One a batch, each a second long; so many rows of 300 for the third executor."""
    third = [sum(parts[: at + 1]) for at in range(len(parts))]
    return [look(float(at), at, (150 * at, 150 * at, rows)) for at, rows in enumerate(third)]


@pytest.mark.parametrize(
    ("rows", "number"),
    [
        ((100, 100, 104, 98, 100, 60, 40), 2),
        ((100, 100, 100, 100, 70), 1),
        ((100, 100, 100, 100, 96, 97, 100), None),
    ],
)
def test_the_agent_has_seen_it_with_the_batch_that_gives_the_slow_one_less(rows, number):
    told = batches(*[1.0] * len(rows), from_s=-0.99)
    assert rebalance_seen.agent_saw(looks(*rows), told, "3", at_s=3.0) == number


def test_of_several_batches_between_two_looks_the_last_one_counts():
    seen = looks(100, 100, 100, 100, 60, 40, 40)
    told = batches(*[1.0] * 7, from_s=-0.99)
    assert rebalance_seen.agent_saw([*seen[:4], seen[6]], told, "3", at_s=3.0) == 3


@pytest.mark.parametrize(
    ("later", "after_s"),
    [
        ({"balanced": ("Shifting", "tasks take 4 times as long")}, 10.0),
        ({"balanced": ("Balanced", "as it is; executor 3 on n can carry less than half of an equal part")}, 10.0),
        ({"balanced": ("Waiting", "Lever's shares of it have not settled")}, 10.0),
        ({"weights": {"1": 0.35, "2": 0.34, "3": 0.31}}, 10.0),
        ({"balanced": ("Waiting", "nothing was measured yet")}, None),
        ({}, None),
    ],
)
def test_the_operator_has_seen_it_when_it_says_so_or_shifts(later, after_s):
    seen = [look(90.0, 1, (1, 1, 1)), look(105.0, 2, (2, 2, 2)), look(110.0, 3, (3, 3, 3), **later)]
    assert rebalance_seen.operator_saw_s(seen, 100.0) == after_s


def test_what_shifts_already_is_no_news():
    before = look(90.0, 1, (1, 1, 1), ("Shifting", ""))
    after = look(110.0, 1, (1, 1, 1), ("Shifting", ""))
    assert rebalance_seen.operator_saw_s([before, after], 100.0) is None


def test_a_move_that_is_told_for_long_is_one():
    there, back = ("10:00", "goes from a to b"), ("10:20", "goes back")
    seen = [look(at, 1, (1, 1, 1), moves=moves) for at, moves in enumerate([(), (there,), (there,), (there, back)])]
    assert rebalance_seen.moves(seen) == 2


@pytest.mark.parametrize(
    ("values", "turns"),
    [
        ([], 0),
        ([0.33, 0.33, 0.22, 0.14, 0.11, 0.12, 0.11, 0.10], 0),
        ([0.33, 0.05, 0.11, 0.11], 1),
        ([0.33, 0.11, 0.33, 0.11, 0.33], 3),
        ([0.8, 0.1, 0.5, 0.46, 0.6], 1),
    ],
)
def test_a_turn_is_the_other_way_by_more_than_noise(values, turns):
    assert rebalance_seen.turns(values, 0.05) == turns


def test_a_turn_is_judged_as_it_was_kept_from_the_batch_in_flight_on():
    told = batches(*[1.0] * 7, from_s=-0.99)
    seen = [dataclasses.replace(one, moves=(("10:00", "goes"),)) for one in looks(100, 100, 100, 100, 60, 40, 40)]
    kept = {
        "batches": [dataclasses.asdict(one) for one in told],
        "looks": [dataclasses.asdict(one) for one in seen],
        "at_s": 3.0,
        "executor": "3",
    }
    found = rebalance_runtime.turn(json.loads(json.dumps(kept)))
    assert (len(found.took_s), found.agent, found.operator_s) == (4, 1, float("inf"))
    assert rebalance_runtime.turn({**kept, "looks": []}).agent == float("inf")
    assert rebalance_seen.moves([rebalance_seen.kept_look(one) for one in json.loads(json.dumps(kept["looks"]))]) == 1


def test_the_pieces_of_a_slot_are_those_of_the_phase_and_the_shares_levers_own(tmp_path):
    works = {"0": plugin.work(scanRows=300, scanMs=500), "1": plugin.work(scanRows=300, scanMs=1500)}
    crew, cut = {"0": 2, "1": 2}, {"pieces": 16, "own": ""}
    with rebalance_pieces.LeverAgent(tmp_path / "agent") as fake:
        ended = plugin.batch(name="4 a slot", executors=works, crew=crew, cut=cut)
        told = fake.answer("/v1/report", {"version": 1, "batch": ended})["balance"]
        assert "balance" not in fake.answer("/v1/report", {"version": 1})
    assert (told["query"], told["perSlot"], told["shares"]) == ("q-1", 4, {"0": 0.75, "1": 0.25})
    assert (fake.usual, fake.cuts) == (1, {"4 a slot": [16]})


def test_a_phase_that_was_not_cut_as_told_is_no_measurement():
    cuts = {name: [6 * number] * 3 for name, number in rebalance_pieces._PIECES.items()}
    rebalance_pieces._check(cuts)
    with pytest.raises(trouble.Trouble, match="'4 a slot' were cut into 0 pieces: 24 were told"):
        rebalance_pieces._check({**cuts, "4 a slot": [0, 0, 24]})
