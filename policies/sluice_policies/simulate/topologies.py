"""The topologies that StroMAX (Figure 4) and TurboStream measure, as snapshots with no task placed.

Called by the bench. Operators are joined all to all (shuffle grouping). Bytes per tuple where a paper says so (10 kB
for the throughput test); else words and tweets of 100 bytes, which is assumed, and on later edges what one spout tuple
becomes there. Loads are what StroMAX's section 3.2 counts: one per task.
"""

import dataclasses
from collections.abc import Mapping, Sequence

from sluice_policies import model


@dataclasses.dataclass(frozen=True)
class Topology:
    """Operators and who feeds whom, with the bytes a spout tuple causes on each edge."""

    name: str
    operators: tuple[str, ...]
    """The first is the spout."""
    edges: tuple[tuple[str, str, int], ...]


WORD_COUNT = Topology("WC", ("spout", "split", "count"), (("spout", "split", 100), ("split", "count", 150)))
THROUGHPUT = Topology(
    "TT", ("spout", "identity", "anchor"), (("spout", "identity", 10_000), ("identity", "anchor", 10_000))
)
TRENDING = Topology(
    "TWTT",
    ("spout", "prepare", "rank", "merge"),
    (("spout", "prepare", 100), ("prepare", "rank", 50), ("rank", "merge", 10)),
)
LOGS = Topology(
    "LP",
    ("spout", "rules", "index", "counter"),
    (("spout", "rules", 100), ("rules", "index", 100), ("rules", "counter", 100)),
)
SENTIMENT = Topology(
    "TSSA",
    ("spout", "sensitize", "clean", "positive", "negative", "join", "score"),
    (
        ("spout", "sensitize", 100), ("sensitize", "clean", 100), ("clean", "positive", 100),
        ("clean", "negative", 100), ("positive", "join", 100), ("negative", "join", 100), ("join", "score", 100),
    ),
)  # fmt: skip


def snapshot(
    topologies: Sequence[Topology], tasks: Mapping[str, int], nodes: int, slots: int, tuples_per_s: int = 1000
) -> model.Snapshot:
    """All topologies on empty nodes. `tasks` gives the parallelism by operator, `spout` and `bolt` where unnamed."""
    found: list[model.Task] = []
    edges: list[model.Edge] = []
    for topology in topologies:
        names = {operator: _names(topology, operator, tasks) for operator in topology.operators}
        found += [model.Task(name, job=topology.name) for group in names.values() for name in group]
        for source, target, size in topology.edges:
            each = max(tuples_per_s * size // (len(names[source]) * len(names[target])), 1)
            edges += [model.Edge(a, b, each) for a in names[source] for b in names[target]]
    return model.Snapshot(tuple(model.Node(f"n{i:02}", slots) for i in range(nodes)), tuple(found), tuple(edges))


def _names(topology: Topology, operator: str, tasks: Mapping[str, int]) -> list[str]:
    usual = tasks["spout"] if operator == "spout" else tasks["bolt"]
    return [f"{topology.name}.{operator}.{i:02}" for i in range(tasks.get(f"{topology.name}.{operator}", usual))]


def even(found: model.Snapshot) -> dict[str, str]:
    """Storm's default scheduler: tasks in the order of topology and operator, dealt out to the nodes in turn."""
    nodes = [node.name for node in found.nodes]
    return {task.name: nodes[i % len(nodes)] for i, task in enumerate(sorted(found.tasks, key=_submitted))}


def _submitted(task: model.Task) -> tuple[str, str]:
    return task.job, task.name
