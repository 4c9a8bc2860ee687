"""TurboStream's consolidation (§V.B, Alg. 1) as a way to move many tasks at once: pairs that talk become one.

Unlike the paper's it joins only tasks that share a node, so that a placement of the pairs is one of the tasks; a pair
may not outgrow `most`; and traffic counts per load of the partner, so that big clusters do not swallow everything.
"""

from typing import NamedTuple

import numpy as np

from sluice_policies.kernels import compiled, graph
from sluice_policies.kernels.graph import Graph, Ints, Small

REACH = 4096  # tasks that may swap turns: a window that fits a core's cache


class Coarse(NamedTuple):
    """A smaller graph, its placement, and the parent of each task of the larger one."""

    graph: Graph
    part: Small
    parent: Small


@compiled.kernel
def coarsen(tasks: Graph, part: Small, most: int, dice: Ints) -> Coarse:
    """One level of consolidation."""
    parent, count = _match(tasks, part, most, dice)
    coarse = _merge(tasks, parent, count, len(part) - len(tasks.load))
    where = np.empty(len(part) - len(tasks.load) + count, np.int32)
    for v in range(len(tasks.load)):
        where[parent[v]] = part[v]
    for i in range(len(part) - len(tasks.load)):
        where[count + i] = i
    return Coarse(coarse, where, parent)


@compiled.kernel
def shuffled(count: int, dice: Ints) -> Small:
    """0..count-1 in an order the dice decide, none far ahead of its turn: what is near in memory is near in time."""
    order = np.arange(count).astype(np.int32)
    for i in range(count - 1, 0, -1):
        j = i - graph.draw(dice, min(i + 1, REACH))
        order[i], order[j] = order[j], order[i]
    return order


@compiled.kernel
def _match(tasks: Graph, part: Small, most: int, dice: Ints) -> tuple[Small, int]:
    """The parent of each task, and how many there are; parents are in the order of their first children."""
    mate = np.full(len(tasks.load), -1, np.int32)
    for v in shuffled(len(tasks.load), dice):
        if mate[v] < 0:
            partner = _partner(tasks, part, mate, v, most)
            mate[v] = partner if partner >= 0 else v
            mate[mate[v]] = v
    parent = mate  # in place: a task's entry is read at its own turn and, by then its parent's number, at its mate's
    count = 0
    for v in range(len(mate)):
        if mate[v] < v:
            parent[v] = parent[mate[v]]
        else:
            parent[v] = count
            count += 1
    return parent, count


@compiled.kernel
def _partner(tasks: Graph, part: Small, mate: Small, v: int, most: int) -> int:
    best = -1
    best_rate = 0.0
    for e in range(tasks.offset[v], tasks.offset[v + 1]):
        u = tasks.target[e]
        if u >= len(tasks.load) or mate[u] >= 0 or part[u] != part[v] or tasks.load[u] + tasks.load[v] > most:
            continue
        rate = tasks.weight[e] / max(1, tasks.load[u])
        if rate > best_rate:
            best = u
            best_rate = rate
    return best


@compiled.kernel
def _merge(tasks: Graph, parent: Small, count: int, terminals: int) -> Graph:
    """The graph of the parents; terminals stay what they are, behind them."""
    first, other = _children(parent, count)
    offset = np.zeros(count + 1, np.int64)
    total = _count_edges(tasks, parent, first, other, terminals)
    target = np.empty(total, np.int32)
    weight = np.empty(total, np.int64)
    load = np.zeros(count, np.int64)
    place = np.full(count + terminals, -1, np.int64)
    end = 0
    for p in range(count):
        start = end
        for v in (first[p], other[p]):
            if v < 0:
                continue
            load[p] += tasks.load[v]
            for e in range(tasks.offset[v], tasks.offset[v + 1]):
                u = tasks.target[e]
                q = parent[u] if u < len(parent) else u - len(parent) + count
                if q == p:
                    continue
                if place[q] < start:
                    place[q] = end
                    target[end] = q
                    weight[end] = 0
                    end += 1
                weight[place[q]] += tasks.weight[e]
        offset[p + 1] = end
    return Graph(offset, target, weight, load)


@compiled.kernel
def _count_edges(tasks: Graph, parent: Small, first: Small, other: Small, terminals: int) -> int:
    """How many edges the parents' graph has: counted, so that it takes no more memory than it needs."""
    count = len(first)
    seen = np.full(count + terminals, -1, np.int32)
    total = 0
    for p in range(count):
        for v in (first[p], other[p]):
            if v < 0:
                continue
            for e in range(tasks.offset[v], tasks.offset[v + 1]):
                u = tasks.target[e]
                q = parent[u] if u < len(parent) else u - len(parent) + count
                if q != p and seen[q] != p:
                    seen[q] = p
                    total += 1
    return total


@compiled.kernel
def _children(parent: Small, count: int) -> tuple[Small, Small]:
    first = np.full(count, -1, np.int32)
    other = np.full(count, -1, np.int32)
    for v in range(len(parent)):
        if first[parent[v]] < 0:
            first[parent[v]] = v
        else:
            other[parent[v]] = v
    return first, other
