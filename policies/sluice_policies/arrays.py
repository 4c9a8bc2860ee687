"""A snapshot as the arrays a search works on, and back. Used by :mod:`sluice_policies.consolidate` and the benchmark.

Tasks and nodes are numbered in the order of their names. Pinned tasks are no tasks here: their load is taken off their
node (which may leave nothing, never less) and their traffic becomes edges to its terminal
(:mod:`sluice_policies.kernels.graph`). So does the price of a move.
"""

import dataclasses
from collections.abc import Mapping

import numpy as np

from sluice_policies import model
from sluice_policies.kernels.graph import Graph, Ints, Small, homed


@dataclasses.dataclass(frozen=True)
class Arrays:
    """What a search takes."""

    graph: Graph
    part: Small  # the node of each task, -1 for none; then the terminals
    capacity: Ints  # what is left of each node once its pinned tasks have theirs
    tasks: tuple[str, ...]
    nodes: tuple[str, ...]

    def mean_traffic(self) -> float:
        """Of a task, in bytes/s."""
        return float(self.graph.weight.sum()) / max(1, len(self.tasks))

    def is_feasible(self) -> bool:
        """Whether every task has a node and no node more than it can take."""
        seats = self.part[: len(self.tasks)]
        if (seats < 0).any():
            return False
        loads = np.zeros(len(self.nodes), np.int64)
        np.add.at(loads, seats, self.graph.load)
        return bool((loads <= self.capacity).all())

    def sitting(self, part: Small) -> "Arrays":
        """The same tasks, sitting elsewhere."""
        return dataclasses.replace(self, part=part)

    def at(self, where: Mapping[str, str]) -> Small:
        """A placement by number."""
        place_of = {name: i for i, name in enumerate(self.nodes)}
        seats = [place_of.get(where.get(task, ""), -1) for task in self.tasks]
        return np.concatenate([np.array(seats, np.int32), self.part[len(self.tasks) :]])

    def where(self, part: Small) -> dict[str, str]:
        """A placement by name."""
        nodes = part[: len(self.tasks)].tolist()
        return {task: self.nodes[node] for task, node in zip(self.tasks, nodes, strict=True)}


def read(snapshot: model.Snapshot) -> Arrays:
    """The arrays of a snapshot, without a price."""
    nodes = tuple(node.name for node in snapshot.nodes)
    free = [task for task in snapshot.tasks if not task.pinned]
    place_of = {name: i for i, name in enumerate(nodes)}
    number = {task.name: i for i, task in enumerate(free)}
    capacity = np.array([node.capacity for node in snapshot.nodes], np.int64)
    for task in snapshot.tasks:
        if task.pinned:
            terminal = place_of.get(task.node or "", len(nodes))
            number[task.name] = len(free) + terminal
            if terminal < len(nodes):
                capacity[terminal] = max(0, capacity[terminal] - task.load)
    part = np.concatenate(
        [
            np.array([place_of.get(task.node or "", -1) for task in free], np.int32),
            np.arange(len(nodes) + 1, dtype=np.int32),
        ]
    )
    ends = np.array([(number[edge.source], number[edge.target]) for edge in snapshot.edges], np.int64).reshape(-1, 2)
    rate = np.array([edge.bytes_per_s for edge in snapshot.edges], np.int64)
    load = np.array([task.load for task in free], np.int64)
    return Arrays(rows(ends, rate, load), part, capacity, tuple(task.name for task in free), nodes)


def priced(arrays: Arrays, price: int) -> Arrays:
    """The same with a price on leaving the node a task sits on."""
    if price == 0 or (arrays.part[: len(arrays.tasks)] < 0).all():
        return arrays
    return dataclasses.replace(arrays, graph=homed(arrays.graph, arrays.part, price))


def rows(ends: Ints, rate: Ints, load: Ints) -> Graph:
    """Pairs as rows of neighbours, in order, each neighbour once; terminals get no row; pairs without traffic none."""
    moves = (rate > 0) & (ends.min(axis=1, initial=len(load)) < len(load))
    ends, rate = ends[moves], rate[moves]
    both = np.concatenate([ends, ends[:, ::-1]])
    weight = np.concatenate([rate, rate])
    of_task = both[:, 0] < len(load)
    both, weight = both[of_task], weight[of_task]
    order = np.lexsort((both[:, 1], both[:, 0]))
    both, weight = both[order], weight[order]
    first = np.ones(len(both), np.bool_)
    first[1:] = (both[1:] != both[:-1]).any(axis=1)
    begins = np.flatnonzero(first)
    merged = np.add.reduceat(weight, begins) if len(begins) else weight
    offset = np.zeros(len(load) + 1, np.int64)
    np.cumsum(np.bincount(both[begins, 0], minlength=len(load)), out=offset[1:])
    return Graph(offset, both[begins, 1].astype(np.int32), merged.astype(np.int64), load)
