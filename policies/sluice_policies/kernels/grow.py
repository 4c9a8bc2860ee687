"""The start of a search: nodes are filled one after another, the roomiest first, with the tasks that talk most to them.

StroMAX's score (Eq. 10, with traffic for weight) seen from the node: while one node is open its idle share is the same
for all tasks, so the score orders them by their traffic with the node. A node begins with the task that still has most
traffic with tasks without a place. Cost: O(edges * log edges).
"""

import heapq

import numpy as np

from sluice_policies.kernels import compiled, graph
from sluice_policies.kernels.graph import Graph, Ints, Small


@compiled.kernel
def grow(tasks: Graph, part: Small, room: Ints, dice: Ints) -> int:
    """Seats every task whose part is -1; returns how many found no room. `room` is used up."""
    pull = _open_traffic(tasks, part)
    waiting = [(0, 0) for _ in range(0)]
    for v in range(len(tasks.load)):
        if part[v] == -1:
            # Up to a tenth less: another seed gives another start.
            waiting.append((-(pull[v] * (922 + graph.draw(dice, 102)) // 1024), v))  # noqa: PERF401
    left = len(waiting)
    heapq.heapify(waiting)
    known = np.zeros(len(tasks.load), np.int64)
    for node in np.argsort(-room, kind="mergesort"):
        if left == 0:
            break
        left -= _fill(tasks, part, room, node, waiting, known)
    return left


@compiled.kernel
def _open_traffic(tasks: Graph, part: Small) -> Ints:
    """Traffic of each task with tasks that want a place."""
    found = np.zeros(len(tasks.load), np.int64)
    for v in range(len(tasks.load)):
        for e in range(tasks.offset[v], tasks.offset[v + 1]):
            if part[tasks.target[e]] == -1:
                found[v] += tasks.weight[e]
    return found


@compiled.kernel
def _fill(tasks: Graph, part: Small, room: Ints, node: int, waiting: list[tuple[int, int]], known: Ints) -> int:
    """One node until nothing more fits; how many it took."""
    near = [(0, 0) for _ in range(0)]
    touched = [0 for _ in range(0)]
    aside = [(0, 0) for _ in range(0)]
    taken = 0
    while room[node] > 0 and (near or waiting):
        if near:
            key, v = heapq.heappop(near)
            if part[v] >= 0 or -key != known[v] or tasks.load[v] > room[node]:
                continue
        else:
            key, v = heapq.heappop(waiting)
            if part[v] >= 0:
                continue
            if tasks.load[v] > room[node]:
                aside.append((key, v))
                continue
        part[v] = node
        room[node] -= tasks.load[v]
        taken += 1
        for e in range(tasks.offset[v], tasks.offset[v + 1]):
            u = int(np.int64(tasks.target[e]))  # a heap wants pairs of one kind
            if part[u] == -1:
                known[u] += tasks.weight[e]
                touched.append(u)
                heapq.heappush(near, (-int(known[u]), u))
    for u in touched:
        known[u] = 0
    for entry in aside:
        heapq.heappush(waiting, entry)
    return taken


@compiled.kernel
def pack(tasks: Graph, part: Small, room: Ints, dice: Ints) -> int:
    """As :func:`grow`, but what belongs together goes whole onto the tightest node that takes it, the largest first.

    Better where there is room to spare, worse where every gap must be filled. What is too large for any node is grown
    first, what found no gap last. Cost beside that of growing: groups * nodes, at 100,000 tasks still the smaller part.
    """
    group, bulk = _groups(tasks, part)
    widest = room.max()
    for v in range(len(group)):
        if group[v] >= 0 and bulk[group[v]] <= widest:
            part[v] = -2
    grow(tasks, part, room, dice)
    order = np.argsort(-bulk, kind="mergesort")
    node_of = np.full(len(bulk), -1, np.int32)
    for g in order:
        if bulk[g] > widest:
            continue
        best = -1
        for node in range(len(room)):
            if room[node] >= bulk[g] and (best < 0 or room[node] < room[best]):
                best = node
        if best >= 0:
            node_of[g] = best
            room[best] -= bulk[g]
    for v in range(len(group)):
        if part[v] == -2:
            part[v] = node_of[group[v]]
    return grow(tasks, part, room, dice)


@compiled.kernel
def _groups(tasks: Graph, part: Small) -> tuple[Small, Ints]:
    """Tasks without a place that are joined by traffic have one number; and the load of each such group."""
    group = np.full(len(tasks.load), -1, np.int32)
    bulk = np.zeros(len(tasks.load), np.int64)
    stack = np.empty(len(tasks.load), np.int32)
    count = 0
    for first in range(len(group)):
        if part[first] != -1 or group[first] >= 0:
            continue
        group[first] = count
        stack[0] = first
        height = 1
        while height > 0:
            height -= 1
            v = stack[height]
            bulk[count] += tasks.load[v]
            for e in range(tasks.offset[v], tasks.offset[v + 1]):
                u = tasks.target[e]
                if u < len(group) and part[u] == -1 and group[u] < 0:
                    group[u] = count
                    stack[height] = u
                    height += 1
        count += 1
    return group, bulk[:count].copy()


@compiled.kernel
def join(tasks: Graph, part: Small, room: Ints) -> int:
    """Seats the tasks without a place beside those that have one, the largest first; returns how many found no room.

    StroMAX's Eq. 10 with traffic for weight, and the emptiest node where there is none.
    """
    left = 0
    pull = np.zeros(len(room), np.int64)
    for v in np.argsort(-tasks.load, kind="mergesort"):
        if part[v] >= 0:
            continue
        best = np.argmax(room)
        for e in range(tasks.offset[v], tasks.offset[v + 1]):
            p = part[tasks.target[e]]
            if 0 <= p < len(room):
                pull[p] += tasks.weight[e]
                if room[p] >= tasks.load[v] and (pull[p] > pull[best] or room[best] < tasks.load[v]):
                    best = p
        for e in range(tasks.offset[v], tasks.offset[v + 1]):
            p = part[tasks.target[e]]
            if 0 <= p < len(room):
                pull[p] = 0
        if room[best] < tasks.load[v]:
            left += 1
        else:
            part[v] = best
            room[best] -= tasks.load[v]
    return left
