"""Snapshots: text there and back, and what is said about text that is none."""

import json

import hypothesis
import pytest
from hypothesis import strategies

from policies import clusters
from sluice_policies import model, stromax


def dump(tasks=(), nodes=(), **more):
    return json.dumps({"nodes": list(nodes), "tasks": list(tasks)} | more)


A, B = {"name": "a"}, {"name": "b"}
WHOLE = "allowed is a whole number from 0 to"
WRONG = {
    "not JSON": ("{", "snapshot: not JSON: "),
    "not an object": ("[]", r"snapshot=\[\]: allowed is an object with nodes, tasks, edges, seed"),
    "a field is missing": ('{"nodes": []}', "snapshot: tasks is missing"),
    "a field nobody knows": (dump(taks=[]), "unknown field 'taks': allowed are"),
    "a list that is none": ('{"nodes": {}, "tasks": []}', "nodes={}: allowed is a list"),
    "a capacity in words": (
        dump(nodes=[{"name": "n1", "capacity": "4"}]),
        rf"nodes\[0\]: node n1: capacity='4': {WHOLE}",
    ),
    "a negative load": (dump([A | {"load": -1}]), rf"tasks\[0\]: task a: load=-1: {WHOLE}"),
    "a load that is true": (dump([A | {"load": True}]), f"load=True: {WHOLE}"),
    "a name that is none": (dump([{"name": ""}]), "task.name='': allowed is text"),
    "a task twice": (dump([A, A]), "task 'a' is there twice: allowed is once"),
    "an edge to nobody": (
        dump([A], edges=[{"source": "a", "target": "b", "bytes_per_s": 1}]),
        "edge a -> b: there is no task 'b'",
    ),
    "an edge to itself": (
        dump([A, B], edges=[{"source": "a", "target": "a", "bytes_per_s": 1}]),
        "edge a -> a: allowed is only between two different tasks",
    ),
    "a pin without a node": (dump([A | {"pinned": True}]), "pinned=True with node=None"),
    "a seed below zero": (dump(seed=-3), f"seed=-3: {WHOLE}"),
}


@pytest.mark.parametrize(("text", "says"), WRONG.values(), ids=WRONG)
def test_an_error_names_the_field_its_value_and_what_is_allowed(text, says):
    with pytest.raises(ValueError, match=says):
        model.from_json(text)


@pytest.mark.parametrize("snapshot", clusters.ALL.values(), ids=clusters.ALL)
def test_a_snapshot_survives_its_own_text(snapshot):
    assert model.from_json(snapshot.to_json()) == snapshot


def test_equal_input_in_any_order_is_equal():
    one = clusters.two_pairs()
    assert model.Snapshot(one.nodes[::-1], one.tasks[::-1], one.edges[::-1]) == one


leaves = strategies.none() | strategies.booleans() | strategies.integers() | strategies.floats() | strategies.text()
anything = strategies.recursive(
    leaves, lambda inner: strategies.lists(inner) | strategies.dictionaries(strategies.text(), inner), max_leaves=8
)
rows = strategies.lists(
    strategies.dictionaries(
        strategies.sampled_from("name capacity load job node pinned source target bytes_per_s".split()),
        leaves,
    )
    | anything,
    max_size=3,
)  # fmt: skip
nearly = strategies.fixed_dictionaries({"nodes": rows, "tasks": rows}, optional={"edges": rows, "seed": leaves})


@pytest.mark.timeout(60)
@hypothesis.settings(max_examples=500, deadline=None, derandomize=True, database=None)
@hypothesis.given(strategies.text() | anything.map(json.dumps) | nearly.map(json.dumps))
def test_any_text_is_a_snapshot_or_a_clear_error(text):
    try:
        found = model.from_json(text)
    except ValueError as why:
        assert str(why)
        assert "\n" not in str(why).replace(repr(text), "")
        return
    stromax.plan(found)
