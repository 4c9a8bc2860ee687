"""The task graph as arrays, and what its pieces are called.

Tasks are 0..n-1, n = len(load). Behind them stand terminals, one per node: n + b is "whatever sits on node b for good",
and one more, n + nodes, is "whatever sits elsewhere". An edge to a terminal is the traffic with pinned tasks there; an
edge to the terminal of a task's own node is the price of moving it away. So pins and prices are traffic like any other,
and no kernel knows of them.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from sluice_policies.kernels import compiled

Ints = npt.NDArray[np.int64]
Small = npt.NDArray[np.int32]


class Graph(NamedTuple):
    """Neighbours of task v: target[offset[v]:offset[v + 1]], each pair in both rows; terminals have no row."""

    offset: Ints
    target: Small
    weight: Ints  # bytes/s, or price
    load: Ints


@compiled.kernel
def cut(graph: Graph, part: Small) -> int:
    """Weight between tasks on different nodes, and to terminals of other nodes than the task's own."""
    inside = 0
    across = 0
    count = len(graph.load)
    for v in range(count):
        for e in range(graph.offset[v], graph.offset[v + 1]):
            u = graph.target[e]
            if part[u] != part[v]:
                if u < count:
                    inside += graph.weight[e]
                else:
                    across += graph.weight[e]
    return inside // 2 + across


@compiled.kernel
def homed(graph: Graph, part: Small, price: int) -> Graph:
    """The graph with an edge of that price from each task that has a node to the node's terminal."""
    count = len(graph.load)
    seated = 0
    for v in range(count):
        seated += part[v] >= 0
    offset = np.zeros(count + 1, np.int64)
    target = np.empty(len(graph.target) + seated, np.int32)
    weight = np.empty(len(graph.target) + seated, np.int64)
    end = 0
    for v in range(count):
        for e in range(graph.offset[v], graph.offset[v + 1]):
            target[end] = graph.target[e]
            weight[end] = graph.weight[e]
            end += 1
        if part[v] >= 0:
            target[end] = count + part[v]
            weight[end] = price
            end += 1
        offset[v + 1] = end
    return Graph(offset, target, weight, graph.load)


@compiled.kernel
def draw(dice: Ints, below: int) -> int:
    """A number from 0 to below - 1, and the next state of the dice (xorshift, 32 bits): the seed decides all."""
    x = int(dice[0])
    x ^= (x << 13) & 0xFFFFFFFF
    x ^= x >> 17
    x ^= (x << 5) & 0xFFFFFFFF
    dice[0] = x
    return (x * below) >> 32
