"""What comes in place of an executor that moves goes to its node; all others go where they would have gone."""

import dataclasses
import json

import pytest

from plan import crews, made, measured
from sluice.plan import placement
from sluice.values import moves, names, streamjob

TIMEOUT_S = 30.0
BEGUN_S = made.NOW_S - 60
NOW = moves.Move(measured.WISH, moves.MOVING, BEGUN_S, BEGUN_S, crews.DRIVER.name, newest=3)
SITTING = measured.executors("node1", "node2", "node2")


def state(now):
    return {"placement": moves.Record(now).write()}


def fleet(*waiting, now=NOW, placed=SITTING, **spec):
    seen = measured.fleet(measured.job(3, state(now), **spec), list(placed))
    return dataclasses.replace(seen, waiting=waiting)


def places(of):
    """Node and reason of each that waited, by number."""
    patches = [step for stage in placement.plan(of, TIMEOUT_S).stages for step in stage]
    found = [(step.name, json.loads(step.patch["metadata"]["annotations"][names.PLACED])) for step in patches]
    return {name.rpartition("-")[2]: (place["node"], place["why"]) for name, place in found}


def test_its_replacement_is_sent_to_its_node():
    far = dataclasses.replace(NOW, wish=dataclasses.replace(measured.WISH, target="node3"))
    assert places(fleet(measured.at_gate(4), now=far)) == {"4": ("node3", "an executor moves there")}


def test_only_the_first_that_comes_is():
    far = dataclasses.replace(NOW, wish=dataclasses.replace(measured.WISH, target="node3"))
    found = places(fleet(measured.at_gate(4), measured.at_gate(5), now=far))
    assert [(number, node == "node3") for number, (node, _) in found.items()] == [("4", True), ("5", False)]
    there = [*SITTING, crews.executor(4, node="node3")]
    assert places(fleet(measured.at_gate(5), now=far, placed=there))["5"][1] != "an executor moves there"


OTHERWISE = {
    "it was there before": {"now": dataclasses.replace(NOW, newest=4)},
    "the move is over": {"now": None},
    "it has arrived": {"now": dataclasses.replace(NOW, phase=moves.WATCHED)},
    "moving is not allowed any more": {"placement": streamjob.Placement("Observe")},
    "its node has no room": {"executors": streamjob.Executors(3, max_per_node=2)},
}


@pytest.mark.parametrize("case", OTHERWISE.values(), ids=OTHERWISE)
def test_one_goes_where_it_would_have_gone_when(case):
    assert places(fleet(measured.at_gate(4), **case))["4"][1] != "an executor moves there"


def test_in_real_time_mode_all_go_where_the_old_ones_sit_but_for_the_one_that_moves():
    other = f"{crews.DRIVER.name.removesuffix('-1')}-2"
    labels = {**measured.at_gate(1).labels, names.ATTEMPT: "2"}
    new = [
        dataclasses.replace(measured.at_gate(number), name=f"{other}-exec-{number}", uid=f"new-{number}", labels=labels)
        for number in (1, 2, 3)
    ]
    apart = measured.executors("node1", "node2", "node3")
    found = places(fleet(*new, placed=apart, real_time=True))
    assert sorted(node for node, _ in found.values()) == ["node2", "node2", "node3"]
    assert {why for _, why in found.values()} == {"an executor moves there"}
