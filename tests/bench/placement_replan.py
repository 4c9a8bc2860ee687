"""Replanning after a small change: what a price per move buys. Part of ``make bench NAME=placement``."""

import dataclasses
import functools
import math
import statistics
from collections.abc import Callable

import numpy as np

from bench import instances, ledger, outcome
from sluice.cli import arguments
from sluice_policies import measures, model, moves

_PRICES = (0, 0.02, 0.05, 0.1, 0.2, 0.4, 0.8, 1.6)
_CONTROLS = {
    "stay, the lost by StroMAX Eq. 5": ("stromax", ("scope=new",)),
    "StroMAX Alg. 2 after that": ("stromax", ("scope=overloaded",)),
    "StroMAX Eq. 10, all anew": ("stromax", ("scope=all",)),
    "TurboStream, all anew": ("turbostream", ()),
}
_WAYS = _CONTROLS | {
    f"consolidate {level}, price {price:g}": ("consolidate", (f"level={level}", f"price={price}"))
    for level in ("fast", "best")
    for price in _PRICES
}
Change = Callable[[model.Snapshot], model.Snapshot]


def run(book: ledger.Ledger) -> outcome.Outcome:
    """Moves and cut for each price, after two kinds of change; how many moves a second run makes."""
    changes: dict[str, Change] = {"5 % of the edges changed": _edges_changed, "one node gone": _node_gone}
    parts = [_part(book, title, change) for title, change in changes.items()]
    again = sum(count for _, count in parts)
    bar = outcome.Bar("placement-replan-moves-of-a-second-run", again, 0)
    return outcome.Outcome(tuple(table for table, _ in parts), (bar,))


def _part(book: ledger.Ledger, title: str, change: Change) -> tuple[outcome.Table, int]:
    problems = instances.large(1_000, 100, seed=3)
    found = {p.name: book.once(f"replan {title} {p.name}", functools.partial(_measure, p, change)) for p in problems}
    rows = []
    for way in _WAYS:
        ratios = [row[way][0] / row["anew"][0] for row in found.values() if row["anew"][0]]
        extra = statistics.mean(row[way][1] for row in found.values())
        rows.append((way, f"{statistics.mean(ratios):.3f}", f"{max(ratios):.3f}", f"{extra:.1f}"))
    lost = statistics.mean(row["lost"][0] for row in found.values())
    about = (
        f"{title}, {len(problems)} problems of 1,000 tasks on 100 nodes ({lost:.1f} tasks lost their node in the mean)"
    )
    header = ("", "mean cut by planning anew", "worst", "moves of tasks that had a node")
    ours = [way for way in _WAYS if way.startswith("consolidate")]
    return outcome.Table(about, header, tuple(rows)), sum(row[way][2] for row in found.values() for way in ours)


def _measure(problem: instances.Instance, change: Change) -> dict[str, list[int]]:
    """For each way the cut, the moves beyond the lost tasks, and the moves of a second run."""
    fresh = problem.snapshot()
    best = arguments.planner("consolidate", ("level=best",))
    now = change(fresh.placed(best(fresh).placement(fresh)))
    homeless = len(now.tasks) - len(now.placement())
    anew = best(now.placed({}))
    found = {"lost": [homeless, 0, 0], "anew": [anew.after.cut_bytes_per_s, 0, 0]}
    for way, (name, settings) in _WAYS.items():
        planner = arguments.planner(name, settings)
        plan = planner(now)
        again = planner(now.placed(plan.placement(now)))
        found[way] = [plan.after.cut_bytes_per_s, _beyond_the_lost(plan), len(again.moves)]
    return found


def _beyond_the_lost(plan: moves.Plan) -> int:
    return sum(move.source is not None for move in plan.moves)


def _edges_changed(snapshot: model.Snapshot) -> model.Snapshot:
    """One edge in twenty carries another amount (log-normal, sigma 1)."""
    dice = np.random.default_rng(5)
    chosen = set(dice.choice(len(snapshot.edges), len(snapshot.edges) // 20, replace=False).tolist())
    factor = np.exp(dice.normal(0, 1, len(snapshot.edges)))
    edges = tuple(
        dataclasses.replace(edge, bytes_per_s=math.ceil(edge.bytes_per_s * factor[i])) if i in chosen else edge
        for i, edge in enumerate(snapshot.edges)
    )
    return dataclasses.replace(snapshot, edges=edges)


def _node_gone(snapshot: model.Snapshot) -> model.Snapshot:
    """A node with tasks is gone; the smallest, so that tight clusters still fit, and all others have 6 % more room."""
    loads = measures.node_loads(snapshot, snapshot.placement())
    used = [node for node in snapshot.nodes if loads[node.name]]
    gone = min(used, key=lambda node: (node.capacity, node.name))
    rest = [node for node in snapshot.nodes if node != gone]
    roomier = tuple(model.Node(node.name, math.ceil(node.capacity * 1.06)) for node in rest)
    return dataclasses.replace(snapshot, nodes=roomier)
