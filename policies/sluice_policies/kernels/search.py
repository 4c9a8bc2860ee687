"""One search for a placement, start to end: what `consolidate` calls, compiled as a whole.

Rounds of consolidation and refinement: pairs within each node, pairs of pairs and so on; then, from the coarsest graph
to the tasks, annealing at a heat that falls from round to round. A round's result counts if it is no worse. Small
problems begin more than once, from different starts. The last word has :mod:`sluice_policies.kernels.descend`.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from sluice_policies.kernels import anneal, coarsen, compiled, descend, graph, grow
from sluice_policies.kernels.anneal import Heat, Luck
from sluice_policies.kernels.graph import Graph, Ints, Small


class Effort(NamedTuple):
    """How hard to look."""

    heats: npt.NDArray[np.float64]  # of each round, in units of a vertex's mean traffic
    bulks: npt.NDArray[np.float64]  # of each round: what a cluster may weigh, as a share of the median node
    sweeps: int  # proposals per vertex and level
    starts: int


@compiled.kernel
def search(tasks: Graph, part: Small, capacity: Ints, effort: Effort, luck: Luck) -> Small:
    """The best placement found from `part`, where -1 has no node yet; all -1 in it if no start was feasible."""
    best = np.full(len(part), -1, np.int32)
    least = -1
    for start in range(effort.starts):
        found = begin(tasks, part, capacity, start, luck.dice)
        if found[0] == -1:
            continue
        for i in range(len(effort.heats)):
            found = _round(tasks, found, capacity, effort, i, luck)
        descend.descend(tasks, found, capacity)
        cut = graph.cut(tasks, found)
        if least < 0 or cut < least:
            least = cut
            best = found
        if least == 0:
            break
    return best


@compiled.kernel
def begin(tasks: Graph, part: Small, capacity: Ints, start: int, dice: Ints) -> Small:
    """A first placement; its first entry is -1 if none was found."""
    found = part.copy()
    room = capacity.copy()
    seated = 0
    for v in range(len(tasks.load)):
        if found[v] >= 0:
            room[found[v]] -= tasks.load[v]
            seated += 1
    if len(tasks.load) == 0 or len(room) == 0 or room.min() < 0:
        found[0] = -1
        return found
    if 2 * seated >= len(tasks.load):
        left = grow.join(tasks, found, room)
    elif start % 2 == 0:
        left = _grow_or_pack(tasks, found, room, dice)
    else:
        left = _scatter(tasks, found, room, dice)
    if left:
        found[0] = -1
    return found


@compiled.kernel
def _grow_or_pack(tasks: Graph, part: Small, room: Ints, dice: Ints) -> int:
    """Whichever of the two starts is feasible and cheaper; where nearly every gap must be filled, never the packed one.

    There the groups that were packed whole are in each other's way, and refinement does not get them out of it.
    """
    wanted = 0
    for v in range(len(tasks.load)):
        if part[v] < 0:
            wanted += tasks.load[v]
    if wanted > 0.85 * room.sum():
        return grow.grow(tasks, part, room, dice)
    packed = part.copy()
    unpacked = grow.pack(tasks, packed, room.copy(), dice)
    left = grow.grow(tasks, part, room, dice)
    if unpacked == 0 and (left or graph.cut(tasks, packed) < graph.cut(tasks, part)):
        part[:] = packed
        return 0
    return left


@compiled.kernel
def _scatter(tasks: Graph, part: Small, room: Ints, dice: Ints) -> int:
    """Any node with room for each task: a start as unlike the other as can be."""
    left = 0
    for v in coarsen.shuffled(len(tasks.load), dice):
        if part[v] >= 0:
            continue
        node = graph.draw(dice, len(room))
        for _ in range(len(room)):
            if room[node] >= tasks.load[v]:
                break
            node = (node + 1) % len(room)
        if room[node] < tasks.load[v]:
            left += 1
        else:
            part[v] = node
            room[node] -= tasks.load[v]
    return left


@compiled.kernel
def _round(tasks: Graph, part: Small, capacity: Ints, effort: Effort, i: int, luck: Luck) -> Small:
    """Consolidation down to a few vertices per node, then annealing all the way back."""
    most = max(tasks.load.max(), np.int64(np.median(capacity) * effort.bulks[i]))
    levels = [coarsen.Coarse(tasks, part, part)]
    while len(levels[-1].graph.load) > max(2 * len(capacity), 20):
        coarse = coarsen.coarsen(levels[-1].graph, levels[-1].part, most, luck.dice)
        if len(coarse.graph.load) > 0.95 * len(levels[-1].graph.load):
            break
        levels.append(coarse)
    found = levels[-1].part.copy()
    while levels:
        level = levels.pop()  # and not kept: a graph that is no longer needed makes room for the finer one's table
        found = anneal.anneal(level.graph, found, capacity, _heat(level.graph, effort, i, len(levels)), luck)
        if levels:
            found = _spread(level, found, levels[-1].part)
    return found if graph.cut(tasks, found) <= graph.cut(tasks, part) else part


@compiled.kernel
def _heat(level: Graph, effort: Effort, i: int, depth: int) -> Heat:
    count = len(level.load)
    first = effort.heats[i] * level.weight.sum() / count
    even = level.load.min() == level.load.max()
    return Heat(first, first / 60.0, int(effort.sweeps * count), 1 if depth == 0 and even else 4, 102 if depth else 31)


@compiled.kernel
def _spread(level: coarsen.Coarse, found: Small, finer: Small) -> Small:
    """The placement of the children of a placed graph."""
    where = finer.copy()
    for v in range(len(level.parent)):
        where[v] = found[level.parent[v]]
    return where
