"""StroMAX as published (Jiang et al., "StroMAX: Partitioning-based Scheduler for Real-time Stream Processing System").

Called through :data:`sluice_policies.REGISTRY`. One pass over the tasks in topological order; each goes to the node
with the highest score, and stays there. Objective: little traffic between nodes while no node passes its capacity
(Eq. 2-4, 6-9). Three scopes, one per technique of the paper:

- ``new``: Bootstrap Scheduler (§3.2, Alg. 1). Eq. 5: neighbours on the node, times the node's idle share.
- ``all``: global-topology-graph partitioning (§3.3). Eq. 10: the neighbours' computation cost, times the idle share.
- ``overloaded``: dynamic task reassignment (§3.3, Alg. 2, Eq. 11), after ``new`` for tasks without a node.

Cost: O(edges + tasks * nodes) for a pass; Alg. 2 also sorts the tasks of each overloaded node.
Never looks back at a task placed in the same pass, never moves a pinned one.

Deviations from the paper, and their effect:

- Ties, and scores of 0, go to the least loaded node (§3.2, first intuition); a literal argmax takes the first node.
- A node without room is no candidate. Eq. 5 and 10 only fade to 0 at capacity, and an uneven load could pass it.
- Bootstrap counts declared loads where the paper says 1 per task; with loads of 1 that is the paper.
- Eq. 10 weighs a neighbour by its computation, though its objective (Eq. 8) is traffic: see ``neighbour_weight``.
- "A random spout" comes first (§3.2): the seed of the snapshot picks it.
- A cycle ends Alg. 1 with an error; executors that shuffle among each other always form one. With ``cycles="break"``
  the first task by name goes next.
- Eq. 11 prints a limit of 12 % *of* the mean, the text a load higher than the mean *by* that: (1 + 0.12) * mean here.
- Alg. 2 checks neither the target's capacity nor its limit, so it can pass the overload on. Both are checked here, and
  it is repeated until no task moves, so that planning again moves nothing.
- The paper redeploys whenever asked. ``all`` keeps what sits if the new placement is no better.
"""

import dataclasses
from collections.abc import Iterable, Mapping
from typing import Literal

from sluice_policies import bounds, measures, model, moves, rooms

NAME = "stromax"
Weight = Literal["count", "computation", "bytes_per_s"]


@dataclasses.dataclass(frozen=True)
class Args:
    """How StroMAX plans."""

    scope: Literal["new", "all", "overloaded"] = "all"  # which of the paper's three techniques
    neighbour_weight: Literal["computation", "bytes_per_s"] = "computation"  # Eq. 10 as printed, or by its objective
    skew_share: float = 0.12  # the paper's small theta: how far above the mean load Alg. 2 acts; 0 to 10
    cycles: Literal["break", "refuse"] = "break"  # refuse: a graph that is not a DAG is an error, as in Alg. 1

    def __post_init__(self) -> None:
        bounds.one_of("scope", self.scope, ("new", "all", "overloaded"))
        bounds.one_of("neighbour_weight", self.neighbour_weight, ("computation", "bytes_per_s"))
        bounds.within("skew_share", self.skew_share, 0, 10)
        bounds.one_of("cycles", self.cycles, ("break", "refuse"))


DEFAULT = Args()


def plan(snapshot: model.Snapshot, args: Args = DEFAULT) -> moves.Plan:
    """The plan of one technique; `all` only if it is better than placing what is new."""
    if args.scope == "overloaded":
        return _plan_overloaded(snapshot, args)
    where, refused = rooms.settle(snapshot, bootstrap(snapshot, args))
    if args.scope == "all":
        again, refused_again = rooms.settle(snapshot, repartition(snapshot, args))
        if measures.cost(snapshot, again).rank() < measures.cost(snapshot, where).rank():
            where, refused = again, refused_again
    return moves.lead(NAME, snapshot, where, refused)


def _plan_overloaded(snapshot: model.Snapshot, args: Args) -> moves.Plan:
    """Alg. 2 after Alg. 1, and again: where not all tasks fit, the one may make room for the other."""
    why: dict[str, str] = {}
    now = snapshot
    while True:
        where, refused = rooms.settle(now, bootstrap(now, args))
        where, reasons = reassign(now, where, args)
        if not reasons:
            return moves.lead(NAME, snapshot, where, refused, why)
        why |= reasons
        now = now.placed(where)


def bootstrap(snapshot: model.Snapshot, args: Args = DEFAULT) -> dict[str, str]:
    """Algorithm 1: the tasks without a node, job by job, beside what sits already; Eq. 5."""
    seats = rooms.Rooms(snapshot, snapshot.placement())
    new = [task for task in snapshot.tasks if task.name not in seats.where]
    for job in sorted({task.job for task in new}):
        of_job = {task.name for task in new if task.job == job}
        stream(seats, linearise(snapshot, of_job, args.cycles), "count")
    return seats.where


def repartition(snapshot: model.Snapshot, args: Args = DEFAULT) -> dict[str, str]:
    """§3.3: all jobs as one graph, every task anew; Eq. 10."""
    pinned = {task.name: task.node for task in snapshot.tasks if task.pinned and task.node is not None}
    seats = rooms.Rooms(snapshot, pinned)
    free = {task.name for task in snapshot.tasks if not task.pinned}
    stream(seats, linearise(snapshot, free, args.cycles), args.neighbour_weight)
    return seats.where


def linearise(snapshot: model.Snapshot, tasks: set[str], cycles: str = "break") -> list[str]:
    """Topological order of some tasks (Alg. 1, lines 1-14): first the spout the seed picks, then by name."""
    after: dict[str, list[str]] = {name: [] for name in sorted(tasks)}
    waits_for = dict.fromkeys(after, 0)
    for edge in snapshot.edges:
        if edge.source in after and edge.target in after:
            after[edge.source].append(edge.target)
            waits_for[edge.target] += 1
    spouts = [name for name, count in waits_for.items() if count == 0]
    if spouts:
        first = spouts.pop(snapshot.seed % len(spouts))
        spouts.insert(0, first)
    return _follow(after, waits_for, spouts, cycles)


def _follow(after: Mapping[str, list[str]], waits_for: dict[str, int], ready: list[str], cycles: str) -> list[str]:
    order: list[str] = []
    seen = set(ready)
    rest = iter(after)
    while len(order) < len(after):
        if len(order) == len(ready):
            stuck = next(name for name in rest if name not in seen)
            if cycles == "refuse":
                raise ValueError(f"edges: {stuck} is on a cycle or behind one: allowed is a DAG (Alg. 1, line 13)")
            ready.append(stuck)
            seen.add(stuck)
        order.append(ready[len(order)])
        for follower in after[order[-1]]:
            waits_for[follower] -= 1
            if waits_for[follower] == 0 and follower not in seen:
                ready.append(follower)
                seen.add(follower)
    return order


def stream(seats: rooms.Rooms, order: Iterable[str], weight: Weight) -> None:
    """Alg. 1, lines 15-19: each task in turn to the node with the highest score; one that fits nowhere stays out."""
    for task in order:
        node = _best(seats, task, weight)
        if node is not None:
            seats.put(task, node)


def _best(seats: rooms.Rooms, task: str, weight: Weight) -> str | None:
    load = seats.snapshot.task_of[task].load
    scored = {node: score for node, score in scores(seats, task, weight).items() if seats.room(node) >= load}
    if scored and max(scored.values()) > 0:
        return min(scored, key=lambda node: (-scored[node], seats.fullness(node), node))
    return seats.emptiest(load)


def scores(seats: rooms.Rooms, task: str, weight: Weight) -> dict[str, float]:
    """Eq. 5 (`count`) or Eq. 10 for the nodes that hold a neighbour; all others score 0."""
    found: dict[str, int] = {}
    for other, rate in seats.near[task].items():
        node = seats.where.get(other)
        if node in seats.load:
            worth = {"count": 1, "computation": seats.snapshot.task_of[other].load, "bytes_per_s": rate}[weight]
            found[node] = found.get(node, 0) + worth
    return {node: worth * (1 - seats.fullness(node)) for node, worth in found.items()}


def limit(snapshot: model.Snapshot, where: Mapping[str, str], skew_share: float) -> float:
    """The load above which Alg. 2 acts: (1 + small theta) times the mean of all nodes."""
    loads = measures.node_loads(snapshot, where)
    return (1 + skew_share) * sum(loads.values()) / max(1, len(loads))


def reassign(
    snapshot: model.Snapshot, where: Mapping[str, str], args: Args = DEFAULT
) -> tuple[dict[str, str], dict[str, str]]:
    """Algorithm 2, until no task moves: off each overloaded node goes the task with most traffic to other nodes."""
    seats = rooms.Rooms(snapshot, where)
    most = limit(snapshot, where, args.skew_share)
    why: dict[str, str] = {}
    while moved := [task for node in sorted(seats.load) for task in _unload(seats, node, most)]:
        why |= dict.fromkeys(moved, f"its node was above {most:.0f}, {1 + args.skew_share:.2f} times the mean load")
    return seats.where, why


def _unload(seats: rooms.Rooms, node: str, most: float) -> list[str]:
    """Alg. 2, lines 2-10, for one node; the tasks that moved."""
    if seats.load[node] <= most:
        return []
    moved = []
    for task in sorted(_movable(seats, node), key=lambda name: (-_remote(seats, name, node), name)):
        if seats.load[node] <= most:
            break
        target = _most_talked_to(seats, task, node, most)
        if target is not None:
            seats.put(task, target)
            moved.append(task)
    return moved


def _movable(seats: rooms.Rooms, node: str) -> list[str]:
    tasks = seats.snapshot.tasks
    return [task.name for task in tasks if seats.where.get(task.name) == node and not task.pinned and task.load > 0]


def _remote(seats: rooms.Rooms, task: str, node: str) -> int:
    """Capital gamma: the task's traffic with other nodes."""
    return sum(seats.near[task].values()) - seats.pull(task).get(node, 0)


def _most_talked_to(seats: rooms.Rooms, task: str, node: str, most: float) -> str | None:
    load = seats.snapshot.task_of[task].load
    pull = seats.pull(task)
    fits = [n for n in seats.load if n != node and load <= seats.room(n) and seats.load[n] + load <= most]
    return min(fits, key=lambda n: (-pull.get(n, 0), seats.fullness(n), n), default=None)
