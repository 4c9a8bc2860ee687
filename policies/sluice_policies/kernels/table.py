"""Who sits where during a search: the node of each task, the room of each node, and the nodes' tasks as rings.

A ring is a doubly linked list without end; each node remembers one of its tasks and goes round from there, so that
"some task of node b" costs one step and 16 bytes per task. Every change goes through :func:`shift`.
"""

from typing import NamedTuple

import numpy as np

from sluice_policies.kernels import compiled
from sluice_policies.kernels.graph import Graph, Ints, Small


class Table(NamedTuple):
    """A placement that can be changed in place. part[v] is the node of task or terminal v."""

    part: Small
    room: Ints  # >= 0 on every node, always
    hand: Small  # one task of each node, or -1
    after: Small
    before: Small


@compiled.kernel
def lay(graph: Graph, part: Small, capacity: Ints) -> Table:
    """The table of a placement; `part` itself is in it and changes with it."""
    count = len(graph.load)
    table = Table(
        part,
        capacity.copy(),
        np.full(len(capacity), -1, np.int32),
        np.empty(count, np.int32),
        np.empty(count, np.int32),
    )
    for v in range(count):
        _sit(table, v, part[v], graph.load[v])
    return table


@compiled.kernel
def shift(graph: Graph, table: Table, v: int, node: int) -> None:
    """Task v to a node; the caller knows that it fits, now or once the exchange is complete."""
    at = table.part[v]
    after = table.after[v]
    if after == v:
        table.hand[at] = -1
    else:
        before = table.before[v]
        table.after[before] = after
        table.before[after] = before
        table.hand[at] = after
    table.room[at] += graph.load[v]
    _sit(table, v, node, graph.load[v])


@compiled.kernel
def _sit(table: Table, v: int, node: int, load: int) -> None:
    hand = table.hand[node]
    if hand < 0:
        table.hand[node] = v
        table.after[v] = v
        table.before[v] = v
    else:
        before = table.before[hand]
        table.after[v] = hand
        table.before[v] = before
        table.after[before] = v
        table.before[hand] = v
    table.part[v] = node
    table.room[node] -= load


@compiled.inlined
def loss(graph: Graph, part: Small, v: int, here: int, there: int) -> int:
    """How much the cut grows when v goes from one node to another; negative: it shrinks."""
    found = 0
    for e in range(graph.offset[v], graph.offset[v + 1]):
        p = part[graph.target[e]]
        # No branch: which way a neighbour goes, no CPU foresees.
        found += graph.weight[e] * (int(p == here) - int(p == there))
    return found
