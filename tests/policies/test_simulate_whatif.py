"""What a placement comes to: a chain that can be worked by hand, and what a better placement must do."""

import pytest

from sluice_policies import model
from sluice_policies.simulate import topologies, whatif

COSTS = whatif.Args(far_ms=10.0, near_ms=1.0, service_ms=2.0)


def chain(*edges):
    names = sorted({end for edge in edges for end in edge[:2]})
    nodes = (model.Node("n0", 9), model.Node("n1", 9))
    return model.Snapshot(nodes, tuple(map(model.Task, names)), tuple(model.Edge(*edge) for edge in edges))


@pytest.mark.parametrize(
    ("edges", "where", "tuple_ms", "far_share"),
    [
        pytest.param([("a", "b", 5)], {"a": "n0", "b": "n0"}, 5.0, 0.0, id="two services and a near hop"),
        pytest.param([("a", "b", 5)], {"a": "n0", "b": "n1"}, 14.0, 1.0, id="two services and a far hop"),
        pytest.param(
            [("a", "b", 3), ("a", "c", 1)], {"a": "n0", "b": "n0", "c": "n1"}, 2 + 0.75 * 3 + 0.25 * 12, 0.25,
            id="a fork weighs by its bytes",
        ),
        pytest.param([("a", "b", 5)], {"a": "n0"}, 14.0, 1.0, id="a task without a node is far from all"),
        pytest.param(
            [("a", "b", 5), ("b", "a", 5)], {"a": "n0", "b": "n0"}, (5 + 2) / 2, 0.0, id="a cycle is cut"
        ),
    ],
)  # fmt: skip
def test_estimate(edges, where, tuple_ms, far_share):
    found = whatif.estimate(chain(*edges), where, COSTS)
    assert found.tuple_ms == pytest.approx(tuple_ms)
    assert found.far_share == far_share


def test_an_empty_snapshot_takes_no_time():
    assert whatif.estimate(model.Snapshot((), ()), {}, COSTS) == whatif.Estimate(0.0, 0.0, 0.0)


def test_a_chain_of_a_thousand_tasks_needs_no_deep_recursion():
    found = chain(*[(f"t{i:04}", f"t{i + 1:04}", 1) for i in range(1000)])
    assert whatif.estimate(found, {}, COSTS).tuple_ms == pytest.approx(1001 * 2 + 1000 * 10)


def test_a_wrong_cost_is_named_with_what_is_allowed():
    with pytest.raises(ValueError, match="far_ms=-1: allowed is 0 to 100000"):
        whatif.Args(far_ms=-1)


def test_a_topology_joins_each_task_of_an_operator_with_each_of_the_next():
    found = topologies.snapshot([topologies.LOGS], {"spout": 10, "bolt": 30, "LP.rules": 50}, 40, 10)
    assert (len(found.tasks), len(found.edges)) == (120, 10 * 50 + 2 * 50 * 30)


def test_the_even_scheduler_gives_every_node_as_many_tasks_give_or_take_one():
    found = topologies.snapshot([topologies.WORD_COUNT], {"spout": 5, "bolt": 20}, 8, 10)
    where = topologies.even(found)
    counts = [sum(node == f"n{i:02}" for node in where.values()) for i in range(8)]
    assert sorted(counts) == [5, 5, 5, 6, 6, 6, 6, 6]
