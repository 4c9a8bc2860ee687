"""Snapshots as networkx graphs and back."""

import networkx
import pytest

from policies import clusters
from sluice_policies import consolidate, graphs


@pytest.mark.parametrize("snapshot", clusters.ALL.values(), ids=clusters.ALL)
def test_a_snapshot_survives_being_a_graph(snapshot):
    assert graphs.from_networkx(graphs.to_networkx(snapshot)) == snapshot


def test_a_graph_made_by_hand_is_planned():
    graph = networkx.Graph(nodes={"n1": 2, "n2": 2})
    graph.add_edge("a", "b", bytes_per_s=9)
    graph.add_edge("c", "d", bytes_per_s=9)
    snapshot = graphs.from_networkx(graph)
    assert consolidate.plan(snapshot).after.cut_bytes_per_s == 0


@pytest.mark.parametrize(
    ("graph", "says"),
    [
        (networkx.Graph(), r"graph.nodes=None: allowed is a dict of name to capacity"),
        (networkx.Graph([("a", "b")], nodes={"n1": 1}), "edge a -> b: bytes_per_s=None: allowed is a whole number"),
    ],
)
def test_what_is_missing_is_named(graph, says):
    with pytest.raises(ValueError, match=says):
        graphs.from_networkx(graph)
