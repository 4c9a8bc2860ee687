"""TurboStream's coarse-grained scheduler as published.

Wu et al., "TurboStream: Towards Low-Latency Data Stream Processing", §V; the ring of §IV is the plugin's.

Called through :data:`sluice_policies.REGISTRY`. Tasks that talk are consolidated in pairs, level by level, until few
parents are left (§V.B, Alg. 1); the parents are divided over the nodes by halves, each balanced and with the least
traffic between (§V.C, Alg. 2); a task goes where its parent went. Objective: balance first, then little traffic between
nodes. Two modes (§V.D): `offline` knows who talks to whom and places the tasks that have no node; `online` knows the
measured traffic and load and places everything anew "once it gets a better assignment".
Cost: O(parents * streams) for each halving, O(tasks^3) at worst, as the paper says.
Never moves a pinned task, and never looks back at a half.

Deviations from the paper, and their effect:

- Balance is all the paper asks; capacity is hard here. A parent may not outgrow the largest node, and what is too much
  for a node goes to the best-connected one with room. Without that about all plans for large tight clusters overload.
- Shares are by room, not by number of nodes; the paper says its implementation does so too (§V.C).
- If no start is balanced within `factor`, Alg. 2 returns nothing; here the most balanced one counts.
- The order in which neighbours are pushed is not said: heaviest stream first, as Alg. 1 sorts, then by name.
- Two constants are not published: see `Args`. Mean cut moved by about 10 % over sensible values of both.
- Workers within a node (§V.C, round robin) are no matter of placement here: a task is an executor.
"""

import dataclasses
from collections.abc import Mapping
from typing import Literal

import numpy as np

from sluice_policies import bounds, measures, model, moves, rooms
from sluice_policies.kernels import graph as graphs
from sluice_policies.kernels import split

NAME = "turbostream"
_Near = list[dict[int, int]]


@dataclasses.dataclass(frozen=True)
class Args:
    """How TurboStream plans."""

    mode: Literal["offline", "online"] = "online"  # §V.D: before the start, or with what was measured since
    parents_per_node: int = 4  # taskNumThreshold, unpublished, per node: consolidation ends below it; 1 to 1000
    factor: float = 0.05  # Alg. 2, unpublished: how far from its share of the load a half may be; 0 to 1

    def __post_init__(self) -> None:
        bounds.one_of("mode", self.mode, ("offline", "online"))
        bounds.within("parents_per_node", self.parents_per_node, 1, 1000)
        bounds.within("factor", self.factor, 0, 1)


DEFAULT = Args()


def plan(snapshot: model.Snapshot, args: Args = DEFAULT) -> moves.Plan:
    """The plan of one mode; `online` only if it is better than placing what has no node."""
    where, refused = rooms.settle(snapshot, assign(snapshot, dataclasses.replace(args, mode="offline")))
    if args.mode == "online":
        again, refused_again = rooms.settle(snapshot, assign(snapshot, args))
        if measures.cost(snapshot, again).rank() < measures.cost(snapshot, where).rank():
            where, refused = again, refused_again
    return moves.lead(NAME, snapshot, where, refused)


def assign(snapshot: model.Snapshot, args: Args = DEFAULT) -> dict[str, str]:
    """TaskConsolidation, then TaskAssignment; may be more than a node can take."""
    sits = {task.name: task.node for task in snapshot.tasks if task.pinned and task.node is not None}
    if args.mode == "offline":
        sits = snapshot.placement()
    tasks = [task.name for task in snapshot.tasks if task.name not in sits]
    seats = rooms.Rooms(snapshot, sits)
    room = {node.name: max(0, seats.room(node.name)) for node in snapshot.nodes}
    if not tasks or not room:
        return sits
    near = _near(seats, tasks, measured=args.mode == "online")
    load = [snapshot.task_of[name].load if args.mode == "online" else 1 for name in tasks]
    most = max(room.values()) if args.mode == "online" else len(tasks)
    family = list(range(len(tasks)))
    while len(near) >= args.parents_per_node * len(room):
        parents = consolidate(near, load, most)
        if max(parents) + 1 == len(near):
            break
        near, load = _merge(near, load, parents)
        family = [parents[parent] for parent in family]
    node_of_parent = _divide(near, load, room, args.factor)
    return sits | {name: node_of_parent[family[i]] for i, name in enumerate(tasks)}


def consolidate(near: _Near, load: list[int], most: int) -> list[int]:
    """Algorithm 1, lines 1-20: a parent for each task; it shares it with the unvisited neighbour it talks to most."""
    parents = [-1] * len(near)
    count = 0
    for task in range(len(near)):
        if parents[task] >= 0:
            continue
        parents[task] = count
        for other in sorted(near[task], key=lambda o: (-near[task][o], o)):
            if parents[other] < 0 and load[task] + load[other] <= most:
                parents[other] = count
                break
        count += 1
    return parents


def _merge(near: _Near, load: list[int], parents: list[int]) -> tuple[_Near, list[int]]:
    """Lines 21-27: what is left to send once traffic within a parent costs nothing."""
    count = max(parents) + 1
    merged: _Near = [{} for _ in range(count)]
    weight = [0] * count
    for task, parent in enumerate(parents):
        weight[parent] += load[task]
        for other, rate in near[task].items():
            if parents[other] != parent:
                merged[parent][parents[other]] = merged[parent].get(parents[other], 0) + rate
    return merged, weight


def _near(seats: rooms.Rooms, tasks: list[str], measured: bool) -> _Near:
    number = {name: i for i, name in enumerate(tasks)}
    return [
        {number[o]: rate if measured else 1 for o, rate in seats.near[name].items() if o in number} for name in tasks
    ]


def _divide(near: _Near, load: list[int], room: Mapping[str, int], factor: float) -> list[str]:
    """§V.C: halves the nodes and the parents until a part has one node."""
    graph = _graph(near, load)
    found = [""] * len(near)
    parts = [(np.arange(len(near), dtype=np.int64), sorted(room))]
    while parts:
        parents, nodes = parts.pop()
        if len(nodes) == 1:
            for parent in parents:
                found[parent] = nodes[0]
        elif len(parents):
            half = (len(nodes) + 1) // 2  # Alg. 2, line 2
            first, second = nodes[:half], nodes[half:]
            first_room, all_room = sum(room[n] for n in first), sum(room[n] for n in nodes)
            share = first_room / all_room if all_room else half / len(nodes)
            chosen = split.split(graph, parents, split.Goal(share, factor))
            parts += [(parents[chosen], first), (parents[~chosen], second)]
    return found


def _graph(near: _Near, load: list[int]) -> graphs.Graph:
    rows = [sorted(row.items(), key=lambda item: (-item[1], item[0])) for row in near]
    offset = np.zeros(len(rows) + 1, np.int64)
    np.cumsum([len(row) for row in rows], out=offset[1:])
    return graphs.Graph(
        offset,
        np.array([other for row in rows for other, _ in row], np.int32),
        np.array([rate for row in rows for _, rate in row], np.int64),
        np.array(load, np.int64),
    )
