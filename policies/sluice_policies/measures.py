"""What a placement costs: the arithmetic every placement policy, the tests and the command line share."""

import dataclasses
from collections.abc import Mapping

from sluice_policies import model


@dataclasses.dataclass(frozen=True)
class Cost:
    """What a placement costs, the worst first."""

    homeless: int  # tasks without a node
    overload: int  # load above capacity, summed over the nodes
    cut_bytes_per_s: int  # traffic between tasks on different nodes; a task without a node is on none
    total_bytes_per_s: int  # all traffic: the cut's upper limit
    fullest: float  # largest load / capacity of a node

    def explain(self) -> str:
        """The cost in one line."""
        share = self.cut_bytes_per_s / self.total_bytes_per_s if self.total_bytes_per_s else 0.0
        worse = f", {self.homeless} without a node" if self.homeless else ""
        worse += f", {self.overload} above capacity" if self.overload else ""
        return f"{self.cut_bytes_per_s} B/s between nodes ({share:.1%}), fullest node {self.fullest:.0%}{worse}"

    def rank(self) -> tuple[int, int, int]:
        """Smaller is better: nobody without a node, then nobody overloaded, then little traffic between nodes."""
        return self.homeless, self.overload, self.cut_bytes_per_s


def cost(snapshot: model.Snapshot, where: Mapping[str, str]) -> Cost:
    """The cost of a placement."""
    loads = node_loads(snapshot, where)
    return Cost(
        homeless=sum(task.name not in where for task in snapshot.tasks),
        overload=sum(max(0, loads[node.name] - node.capacity) for node in snapshot.nodes),
        cut_bytes_per_s=cut(snapshot, where),
        total_bytes_per_s=sum(edge.bytes_per_s for edge in snapshot.edges),
        fullest=max((_share(loads[node.name], node.capacity) for node in snapshot.nodes), default=0.0),
    )


def cut(snapshot: model.Snapshot, where: Mapping[str, str]) -> int:
    """Bytes per second between tasks that do not share a node."""
    return sum(edge.bytes_per_s for edge in snapshot.edges if not _together(where, edge))


def node_loads(snapshot: model.Snapshot, where: Mapping[str, str]) -> dict[str, int]:
    """The load of every node of the snapshot."""
    loads = {node.name: 0 for node in snapshot.nodes}
    for task in snapshot.tasks:
        at = where.get(task.name)
        if at in loads:
            loads[at] += task.load
    return loads


def neighbours(snapshot: model.Snapshot) -> dict[str, dict[str, int]]:
    """For each task its neighbours and the traffic with them, both directions together."""
    found: dict[str, dict[str, int]] = {task.name: {} for task in snapshot.tasks}
    for edge in snapshot.edges:
        for one, other in ((edge.source, edge.target), (edge.target, edge.source)):
            found[one][other] = found[one].get(other, 0) + edge.bytes_per_s
    return found


def _together(where: Mapping[str, str], edge: model.Edge) -> bool:
    at = where.get(edge.source)
    return at is not None and at == where.get(edge.target)


def _share(load: int, capacity: int) -> float:
    return load / capacity if capacity else float(load > 0)
