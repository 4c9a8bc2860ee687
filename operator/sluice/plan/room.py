"""What is left on each node while executors are given their places. Exact, where a policy sees one number per node.

A policy knows one capacity; a node has CPU, memory, pods, and a limit of executors per job. So a policy is asked with
the scarcer of CPU and memory as its one number, and each of its moves is looked at here before it counts.
"""

from collections.abc import Iterable, Mapping

from sluice.values import records

Key = tuple[str, str, str]  # a driver and its executors: namespace, job, attempt


class Room:
    """Free resources by node, and how many executors of each driver sit there."""

    def __init__(self, nodes: Iterable[records.Node], used: Mapping[str, records.Resources]) -> None:
        self.free = {node.name: node.allocatable - used.get(node.name, records.Resources()) for node in nodes}
        self._seated: dict[tuple[Key, str], int] = {}

    def seat(self, key: Key, node: str, needs: records.Resources = records.Resources()) -> None:  # noqa: B008  # frozen
        """Counts an executor on a node, and what it takes away there."""
        self._seated[key, node] = self._seated.get((key, node), 0) + 1
        if node in self.free:
            self.free[node] -= needs

    def takes(self, key: Key, node: str, needs: records.Resources, most: int | None) -> bool:
        """Whether the node has room for one more executor of the job."""
        return self.free[node].holds(needs) and (most is None or self._seated.get((key, node), 0) < most)
