"""A snapshot as a `networkx` graph, and back: the form people know, for notebooks, drawings and graphs of their own.

Tasks are the graph's vertices, with `load`, `job`, `node` and `pinned` as attributes; edges carry `bytes_per_s`. The
nodes (machines) are the graph's attribute `nodes`, name to capacity. No policy needs this module.
"""

import networkx

from sluice_policies import model


def to_networkx(snapshot: model.Snapshot) -> networkx.DiGraph:
    """The snapshot as a graph."""
    graph = networkx.DiGraph(nodes={node.name: node.capacity for node in snapshot.nodes}, seed=snapshot.seed)
    for task in snapshot.tasks:
        graph.add_node(task.name, load=task.load, job=task.job, node=task.node, pinned=task.pinned)
    for edge in snapshot.edges:
        graph.add_edge(edge.source, edge.target, bytes_per_s=edge.bytes_per_s)
    return graph


def from_networkx(graph: networkx.Graph) -> model.Snapshot:
    """The snapshot of a graph; what is missing takes the default. An undirected edge is traffic one way, any way."""
    nodes = graph.graph.get("nodes")
    if not isinstance(nodes, dict):
        raise ValueError(
            f"graph.nodes={nodes!r}: allowed is a dict of name to capacity, as in Graph(nodes={{'n1': 4}})"
        )
    return model.Snapshot(
        nodes=tuple(model.Node(name, capacity) for name, capacity in nodes.items()),
        tasks=tuple(model.Task(name, **values) for name, values in graph.nodes(data=True)),
        edges=tuple(model.Edge(a, b, _rate(a, b, values)) for a, b, values in graph.edges(data=True)),
        seed=graph.graph.get("seed", 0),
    )


def _rate(source: str, target: str, values: dict[str, object]) -> int:
    return model.check_whole(f"edge {source} -> {target}: bytes_per_s", values.get("bytes_per_s"))
