"""TurboStream's Algorithm 2: a set of parent tasks in two, balanced, with the least traffic between.

Used by :mod:`sluice_policies.turbostream`. Names follow the paper's; the numbers in comments are its lines.
Cost: O(parents * streams) for one split.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from sluice_policies.kernels import compiled
from sluice_policies.kernels.graph import Graph, Ints

Flags = npt.NDArray[np.bool_]


class Goal(NamedTuple):
    """What a split aims at."""

    share: float  # of the total weight, for the gathered part
    factor: float  # how far from it is still balanced


class Walk(NamedTuple):
    """Scratch of one travel; a mark is the number of the travel that set it."""

    queue: Ints
    visited: Ints
    gathered: Ints


@compiled.kernel
def split(graph: Graph, parents: Ints, goal: Goal) -> Flags:
    """Which parents go to the first part: balanced within `factor`, or else the most balanced; then the least cut."""
    count = len(parents)
    walk = Walk(
        np.empty(count, np.int64), np.full(len(graph.load), -2, np.int64), np.full(len(graph.load), -1, np.int64)
    )
    for i in range(count):
        walk.visited[parents[i]] = -1  # only the set's own tasks are ever -1: others are never visited
    best = np.zeros(count, np.bool_)
    best_stray = 2.0
    best_cut = -1
    for start in range(count):  # 4
        stray = abs(_travel(graph, parents, goal, walk, start) - goal.share)
        balanced = stray < goal.factor  # 26
        stray = 0.0 if balanced else stray
        if stray > best_stray:
            continue
        cut = _cut(graph, parents, walk, start)
        if stray < best_stray or cut < best_cut:  # 27-30
            best_stray = stray
            best_cut = cut
            for i in range(count):
                best[i] = walk.gathered[parents[i]] == start
    return best


@compiled.kernel
def _travel(graph: Graph, parents: Ints, goal: Goal, walk: Walk, start: int) -> float:
    """Lines 5-25: gathers breadth first from one parent; the share of the total weight that was gathered."""
    total = 0
    for i in range(len(parents)):
        total += graph.load[parents[i]]
    walk.queue[0] = parents[start]  # 8
    walk.visited[parents[start]] = start
    head, tail, unseen = 0, 1, 0
    weight = 0
    balance = 0.0
    while head < tail and balance < goal.share:  # 9
        task = walk.queue[head]  # 10
        head += 1
        reached = (graph.load[task] + weight) / max(total, 1)  # 11-12
        if abs(reached - goal.share) < abs(balance - goal.share):  # 13-15
            walk.gathered[task] = start  # 16-17
            weight += graph.load[task]
            balance = reached
            tail = _push_neighbours(graph, walk, task, start, tail)  # 18
        if head == tail and abs(balance - goal.share) > goal.factor:  # 21-24
            while unseen < len(parents) and walk.visited[parents[unseen]] == start:
                unseen += 1
            if unseen < len(parents):
                walk.queue[tail] = parents[unseen]
                walk.visited[parents[unseen]] = start
                tail += 1
    return balance


@compiled.kernel
def _push_neighbours(graph: Graph, walk: Walk, task: int, start: int, tail: int) -> int:
    for e in range(graph.offset[task], graph.offset[task + 1]):
        other = graph.target[e]
        if walk.visited[other] != -2 and walk.visited[other] != start:
            walk.visited[other] = start
            walk.queue[tail] = other
            tail += 1
    return tail


@compiled.kernel
def _cut(graph: Graph, parents: Ints, walk: Walk, start: int) -> int:
    found = 0
    for i in range(len(parents)):
        if walk.gathered[parents[i]] == start:
            for e in range(graph.offset[parents[i]], graph.offset[parents[i] + 1]):
                other = graph.target[e]
                if walk.visited[other] != -2 and walk.gathered[other] != start:
                    found += graph.weight[e]
    return found
