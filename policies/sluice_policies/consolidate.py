"""The default: what talks sits together, no node is overfull, and a move must be worth its price.

Called through :data:`sluice_policies.REGISTRY`. TurboStream's consolidation (§V.B) makes small graphs of large ones,
StroMAX's score (§3.3, Eq. 10 with traffic) gives the start, then moves and exchanges refine it
(:mod:`sluice_policies.kernels.search`). Objective: as few bytes per second between nodes as possible, plus the price of
every task moved; capacity is a hard limit on the way too. Cost: about O(edges) for a given level; memory beside the
snapshot: some hundred bytes per task.

Two levels. `fast` searches when a task has no node, and otherwise only takes moves that gain at once. `best` searches
longer, and every time. Both end where planning again moves nothing: `fast` because its end is a local optimum that
a price only deepens, `best` because it plans again itself until a plan saves less than `least_gain`.

Never moves a pinned task, never overfills a node, never moves what does not pay. If the search finds no feasible
start, an exact search for any packing does (:mod:`sluice_policies.packing`), so a plan is infeasible only where none
exists, and then it says which constraint is short (or, honestly, that the exact search ran out of steps).

Deviations from the papers: consolidation joins only tasks that share a node; the score fills one node after another;
both are refined, which neither paper does. Effect: about half the cut of either on large tight clusters.
"""

import dataclasses
from typing import Literal

import numpy as np

from sluice_policies import arrays, bounds, model, moves, rooms
from sluice_policies.kernels import anneal, descend, graph, search
from sluice_policies.kernels.graph import Small

NAME = "consolidate"
_RUNGS = np.round(-np.log((np.arange(anneal.RUNGS) + 0.5) / anneal.RUNGS) * 65536).astype(np.int64)


@dataclasses.dataclass(frozen=True)
class Args:
    """How consolidate plans."""

    level: Literal["fast", "best"] = "fast"  # milliseconds and a percent or two, or ten times that and nearly nothing
    price: float = 0.1  # what a move must save, as a share of the mean traffic of a task; 0 to 1000
    least_gain: float = 0.002  # `best`: what planning again must save, as a share of the cut; 0.0001 to 1

    def __post_init__(self) -> None:
        bounds.one_of("level", self.level, ("fast", "best"))
        bounds.within("price", self.price, 0, 1000)
        bounds.within("least_gain", self.least_gain, 0.0001, 1)


DEFAULT = Args()


def plan(snapshot: model.Snapshot, args: Args = DEFAULT) -> moves.Plan:
    """The moves that pay; refusals only where no plan is feasible."""
    base = arrays.read(snapshot)
    if not base.tasks:
        return moves.lead(NAME, snapshot, {})
    part = place(base, args, snapshot.seed)
    if part is None:
        where, refused = rooms.settle(snapshot, snapshot.placement())
        if refused:
            return moves.lead(NAME, snapshot, where, refused)
        part = place(base, args, snapshot.seed, base.at(where))
    return moves.lead(NAME, snapshot, {} if part is None else base.where(part))


def place(base: arrays.Arrays, args: Args, seed: int, start: Small | None = None) -> Small | None:
    """The search alone, on arrays; None if it finds no feasible start. `start` stands in for where the tasks sit."""
    price = round(args.price * base.mean_traffic())
    begin = base.part if start is None else start
    homed = arrays.priced(base, price)
    if start is None and base.is_feasible():
        part = begin.copy()
        if args.level == "fast":
            descend.descend(homed.graph, part, homed.capacity)
            return part
    else:
        part = search.search(homed.graph, begin, homed.capacity, _effort(args, len(base.tasks)), _luck(seed))
        if part[0] < 0:
            return None
    return _again(base, args, seed, part, price) if args.level == "best" else part


def _again(base: arrays.Arrays, args: Args, seed: int, part: Small, price: int) -> Small:
    """Plans anew from the plan until that saves too little: so the next run will find nothing either."""
    while (better := _better(base, args, seed, part, price)) is not None:
        part = better
    return part


def _better(base: arrays.Arrays, args: Args, seed: int, part: Small, price: int) -> Small | None:
    """A plan that saves enough over `part`, if planning again finds one. Its priced graph lives no longer than this."""
    homed = arrays.priced(base.sitting(part), price)
    found = search.search(homed.graph, part, homed.capacity, _WARM, _luck(seed))
    now = graph.cut(homed.graph, part)
    saved = now - graph.cut(homed.graph, found)
    return found if saved >= max(1, args.least_gain * now) else None


def _effort(args: Args, tasks: int) -> search.Effort:
    """Small problems have many different starts to try, large ones average their luck out."""
    starts = min(24, max(1, 600 // tasks))
    if args.level == "fast":
        return search.Effort(np.array([0.2, 0.05]), np.array([1.0, 1.0]), 8 if starts > 4 else 10, starts)
    heats, bulks = np.array([0.3, 0.2, 0.12, 0.07, 0.04]), np.array([2.0, 1.0, 0.5, 1.0, 1.0])
    return search.Effort(heats, bulks, 16 if starts > 4 else 64, starts)


_WARM = search.Effort(np.array([0.05]), np.array([1.0]), 20, 1)


def _luck(seed: int) -> anneal.Luck:
    return anneal.Luck(np.array([seed * 2654435761 % (2**32 - 1) + 1], np.int64), _RUNGS)
