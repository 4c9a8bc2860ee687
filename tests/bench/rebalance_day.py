"""A day of the placement loop on a noisy trace: does it keep its budget, and undo nothing twice? Part of `rebalance`.

The same day is played with nobody moving, so the tables say what the moves were worth, and what they cost in restarts.
"""

import collections
import functools
import itertools
import time
from collections.abc import Sequence
from typing import Any

from bench import ledger, outcome, rebalance_trace, rebalance_world

_SEEDS = (1, 2)
_HOUR_S, _DAY_S = 3600, 86_400
_BUDGETS = {kind.name: kind.most_moves for kind in rebalance_trace.KINDS}


def run(book: ledger.Ledger) -> outcome.Outcome:
    """A day for each seed."""
    days = [book.once(f"day {seed}", functools.partial(measure, seed)) for seed in _SEEDS]
    return outcome.total([_told(seed, day) for seed, day in zip(_SEEDS, days, strict=True)]) + outcome.Outcome(
        (), bars(days)
    )


def measure(seed: int, minutes: int = rebalance_trace.MINUTES) -> dict[str, Any]:
    """What came of one day; of its first minutes."""
    began_s = time.process_time()
    moved, still = (rebalance_world.World(rebalance_trace.Trace(seed)) for _ in range(2))
    moved.run(minutes)
    still.rest(minutes)
    return {
        "begun": [[one.job, one.at_s, one.source, one.target, one.undoes] for one in moved.begun],
        "outcomes": dict(moved.outcomes),
        "cross": [dict(moved.cross_bytes), dict(still.cross_bytes)],
        "batch_ms": [dict(moved.batch_ms), dict(still.batch_ms)],
        "cpu_s": time.process_time() - began_s,
    }


def bars(days: Sequence[dict[str, Any]]) -> tuple[outcome.Bar, ...]:
    """Of all days the worst."""
    return (
        outcome.Bar("rebalance-day-moves-within-budget", max(fullest_hour(day["begun"]) for day in days), 1.0),
        outcome.Bar("rebalance-day-undone-twice", sum(undone_twice(day["begun"]) for day in days), 0),
        outcome.Bar("rebalance-day-cross-bytes-by-none-moved", max(_ratio(day["cross"]) for day in days), 0.9),
        outcome.Bar("rebalance-day-batch-time-by-none-moved", max(_ratio(day["batch_ms"]) for day in days), 1.0),
    )


def fullest_hour(begun: Sequence[Sequence[Any]]) -> float:
    """The most moves of a job that were begun within an hour, ways back included, by its budget."""
    times = collections.defaultdict(list)
    for job, at_s, *_ in begun:
        times[job].append(at_s)
    return max(
        (
            sum(0 <= later_s - at_s < _HOUR_S for later_s in of_job) / _BUDGETS[job]
            for job, of_job in times.items()
            for at_s in of_job
        ),
        default=0.0,
    )


def undone_twice(begun: Sequence[Sequence[Any]]) -> int:
    """Ways of a job that were taken back a second time within a day."""
    undone = collections.defaultdict(list)
    for job, at_s, source, target, undoes in begun:
        if undoes:
            undone[job, source, target].append(at_s)
    return sum(later_s - at_s < _DAY_S for times in undone.values() for at_s, later_s in itertools.pairwise(times))


def _ratio(pair: Sequence[dict[str, float]]) -> float:
    moved, still = pair
    return sum(moved.values()) / sum(still.values())


def _told(seed: int, day: dict[str, Any]) -> outcome.Outcome:
    rows = []
    for kind in rebalance_trace.KINDS:
        mine = [one for one in day["begun"] if one[0] == kind.name]
        cross, still = (part.get(kind.name, 0) for part in day["cross"])
        took, before = (part.get(kind.name, 0) for part in day["batch_ms"])
        rows.append(
            (
                kind.name, kind.policy, kind.shape, str(sum(not one[4] for one in mine)),
                str(sum(one[4] for one in mine)), f"{cross / still:.2f}", f"{took / before:.2f}",
            )
        )  # fmt: skip
    ends = ", ".join(f"{name} {count}" for name, count in sorted(day["outcomes"].items()))
    title = f"24 simulated hours, seed {seed}: six jobs on six nodes, one executor on each at first ({ends})"
    header = ("", "policy", "who talks", "moves", "undone", "cross bytes by none moved", "batch time by none moved")
    return outcome.Outcome((outcome.Table(title, header, tuple(rows)),), ())
