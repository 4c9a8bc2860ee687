"""The end of a search: moves and exchanges of two tasks that lower the cut, until there is none left.

Complete in what it looks at (each task to each node of a neighbour; where it does not fit, against each task there), so
where it ends it would end again: planning anew from its result moves nothing. A price on moves only adds to that.
"""

from typing import NamedTuple

import numpy as np

from sluice_policies.kernels import compiled, table
from sluice_policies.kernels.graph import Graph, Ints, Small
from sluice_policies.kernels.table import Table


class Notes(NamedTuple):
    """What is remembered, so that most exchanges, and most tasks, are ruled out without looking at their edges."""

    total: Ints  # of each task: its traffic
    inner: Ints  # of that, with its own node; leaving can gain total - 2 * inner at most
    seen: Ints  # the last look at it; looks are numbered from 1
    stirred: Ints  # of each node: the last look that changed who sits there, or where a neighbour of those sits


@compiled.kernel
def descend(tasks: Graph, part: Small, capacity: Ints) -> None:
    """Improves a feasible placement in place."""
    seats = table.lay(tasks, part, capacity)
    notes = _notes(tasks, part, len(capacity))
    pull = np.zeros(len(capacity) + 1, np.int64)
    look = 0
    changed = True
    while changed:
        changed = False
        for v in range(len(tasks.load)):
            if _is_due(tasks, seats.part, notes, v):
                look += 1
                notes.seen[v] = look
                changed |= _improve(tasks, seats, notes, v, pull)


@compiled.kernel
def _notes(tasks: Graph, part: Small, nodes: int) -> Notes:
    count = len(tasks.load)
    notes = Notes(
        np.zeros(count, np.int64), np.zeros(count, np.int64), np.zeros(count, np.int64), np.zeros(nodes + 1, np.int64)
    )
    for v in range(count):
        for e in range(tasks.offset[v], tasks.offset[v + 1]):
            notes.total[v] += tasks.weight[e]
            if part[tasks.target[e]] == part[v]:
                notes.inner[v] += tasks.weight[e]
    return notes


@compiled.kernel
def _is_due(tasks: Graph, part: Small, notes: Notes, v: int) -> bool:
    """Whether another look can find more: v's node, or one it could go to, was stirred by its last look or since."""
    if notes.total[v] == notes.inner[v]:
        return False
    if notes.stirred[part[v]] >= notes.seen[v]:
        return True
    for e in range(tasks.offset[v], tasks.offset[v + 1]):
        if notes.stirred[part[tasks.target[e]]] >= notes.seen[v]:
            return True
    return False


@compiled.kernel
def _improve(tasks: Graph, seats: Table, notes: Notes, v: int, pull: Ints) -> bool:
    """The best move or exchange of one task, if any gains; whether it did."""
    here = seats.part[v]
    for e in range(tasks.offset[v], tasks.offset[v + 1]):
        pull[seats.part[tasks.target[e]]] += tasks.weight[e]
    most = 0
    node = -1
    other = -1
    for e in range(tasks.offset[v], tasks.offset[v + 1]):
        there = seats.part[tasks.target[e]]
        if there == here or there == len(seats.room) or pull[there] == 0:
            continue
        gain = pull[there] - pull[here]
        pull[there] = 0  # looked at
        if seats.room[there] >= tasks.load[v]:
            if gain > most:
                most, node, other = gain, there, -1
        else:
            u, both = _partner(tasks, seats, notes, v, there, gain)
            if both > most:
                most, node, other = both, there, u
    pull[here] = 0
    pull[len(seats.room)] = 0
    if node < 0:
        return False
    _take(tasks, seats, notes, v, node, notes.seen[v])
    if other >= 0:
        _take(tasks, seats, notes, other, here, notes.seen[v])
    return True


@compiled.kernel
def _partner(tasks: Graph, seats: Table, notes: Notes, v: int, there: int, gain: int) -> tuple[int, int]:
    """The task of a full node that v is best exchanged with, and what both gain."""
    here = seats.part[v]
    best = -1
    most = 0
    first = seats.hand[there]
    u = first
    while u >= 0:
        if (
            gain + notes.total[u] - 2 * notes.inner[u] > most
            and seats.room[there] + tasks.load[u] >= tasks.load[v]
            and seats.room[here] + tasks.load[v] >= tasks.load[u]
        ):
            both = gain - table.loss(tasks, seats.part, u, there, here) - 2 * _between(tasks, u, v)
            if both > most or (both == most and best > u):
                most, best = both, u
        u = seats.after[u]
        if u == first:
            break
    return best, most


@compiled.kernel
def _between(tasks: Graph, u: int, v: int) -> int:
    found = 0
    for e in range(tasks.offset[u], tasks.offset[u + 1]):
        if tasks.target[e] == v:
            found += tasks.weight[e]
    return found


@compiled.kernel
def _take(tasks: Graph, seats: Table, notes: Notes, v: int, there: int, look: int) -> None:
    here = seats.part[v]
    table.shift(tasks, seats, v, there)
    notes.stirred[here] = look
    notes.stirred[there] = look
    notes.inner[v] = 0
    for e in range(tasks.offset[v], tasks.offset[v + 1]):
        u = tasks.target[e]
        if seats.part[u] == there:
            notes.inner[v] += tasks.weight[e]
        if u >= len(tasks.load):
            continue
        notes.stirred[seats.part[u]] = look
        if seats.part[u] == here:
            notes.inner[u] -= tasks.weight[e]
        elif seats.part[u] == there:
            notes.inner[u] += tasks.weight[e]
