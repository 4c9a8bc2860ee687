"""Every policy, in every way it can be asked, keeps every promise on named and on random snapshots."""

import functools

import hypothesis
import pytest
from hypothesis import strategies

import sluice_policies
from policies import clusters, invariants
from sluice.cli import arguments
from sluice_policies import model

WAYS = [
    ("stay", []),
    ("stromax", ["scope=new"]),
    ("stromax", ["scope=all"]),
    ("stromax", ["scope=all", "neighbour_weight=bytes_per_s"]),
    ("stromax", ["scope=overloaded"]),
    ("turbostream", ["mode=offline"]),
    ("turbostream", ["mode=online"]),
    ("consolidate", []),
    ("consolidate", ["price=0"]),
    ("consolidate", ["level=best"]),
    ("consolidate", ["level=best", "price=0"]),
]


def way(name, settings):
    return functools.partial(
        invariants.verify, arguments.planner(name, settings), levels_load="scope=overloaded" in settings
    )


IDS = [" ".join((name, *settings)) for name, settings in WAYS]
every_way = pytest.mark.parametrize("verify", [way(*each) for each in WAYS], ids=IDS)


def test_every_registered_policy_is_verified():
    assert {name for name, _ in WAYS} == set(sluice_policies.REGISTRY)


@every_way
@pytest.mark.parametrize("snapshot", clusters.ALL.values(), ids=clusters.ALL)
def test_promises_hold_on_the_named_clusters(verify, snapshot):
    verify(snapshot)


@strategies.composite
def snapshots(draw):
    nodes = [model.Node(f"n{i}", draw(strategies.integers(0, 9))) for i in range(draw(strategies.integers(0, 4)))]
    homes = strategies.sampled_from([None, "gone", *(node.name for node in nodes)])
    tasks = []
    for i in range(draw(strategies.integers(0, 10))):
        home = draw(homes)
        pinned = home is not None and draw(strategies.integers(0, 5)) == 0
        tasks.append(model.Task(f"t{i}", draw(strategies.integers(0, 5)), f"j{i % 2}", home, pinned))
    pairs = [(a.name, b.name) for a in tasks for b in tasks if a != b]
    chosen = draw(strategies.lists(strategies.sampled_from(pairs), unique=True, max_size=20)) if pairs else []
    edges = tuple(model.Edge(a, b, draw(strategies.integers(0, 50))) for a, b in chosen)
    return model.Snapshot(tuple(nodes), tuple(tasks), edges, draw(strategies.integers(0, 3)))


@every_way
@pytest.mark.timeout(60)
def test_promises_hold_on_any_snapshot(verify):
    @hypothesis.settings(max_examples=300, deadline=None, derandomize=True, database=None)
    @hypothesis.given(snapshots())
    def holds(snapshot):
        verify(snapshot)

    holds()
