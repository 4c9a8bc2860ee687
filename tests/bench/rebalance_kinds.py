"""Jobs of other kinds with one node slowed, or two, or none: Lever beside stock, none of them worse for it."""

import functools
import statistics
from typing import Any

from bench import ledger, outcome, rebalance_stage, rebalance_tasks
from bench.rebalance_stage import Way

_ROUNDS, _BATCHES = 2, 100
_STEPS = rebalance_stage.STEPS // 4  # so many batches of each kind take an hour; what they are held to is stock
_ONE_SLOW, _TWO_SLOW, _NONE_SLOW = (45, 45, 11), (70, 15, 15), (34, 34, 34)
_LEVER = {"mode": "Act", "latency": {"enabled": False}}
_JOBS = {  # kind, partitions, shares
    "Python functions": ("python", 3, _ONE_SLOW),
    "Kafka, 3 partitions": ("kafka", 3, _ONE_SLOW),
    "Kafka, 48 partitions": ("kafka", 48, _ONE_SLOW),
    "an aggregation behind the scan": ("stateful", 3, _ONE_SLOW),
    "rows of unequal cost": ("uneven", 3, _ONE_SLOW),
    "two of three slow": ("plain", 3, _TWO_SLOW),
    "none slow": ("plain", 3, _NONE_SLOW),
}
_NOISE = 0.05
_PERCENT = 100


def run(book: ledger.Ledger) -> outcome.Outcome:
    """Each kind, remembered."""
    found = {name: book.once(f"kind {name}", functools.partial(_measure, *job)) for name, job in _JOBS.items()}
    ratios = {name: one["lever_s"] / one["stock_s"] for name, one in found.items()}
    rows = tuple(
        (
            name,
            "/".join(map(str, _JOBS[name][2])),
            f"{one['stock_s']:.2f}",
            f"{one['lever_s']:.2f}",
            f"{ratios[name]:.2f}",
        )
        for name, one in found.items()
    )
    header = ("job", "% of a core, by node", "s a batch, stock", "with Lever", "of stock")
    bars = (
        outcome.Bar("kinds-worst-of-stock", max(ratios.values()), 1 + _NOISE),
        outcome.Bar("none-slow-of-stock", ratios["none slow"], 1 + _NOISE),
        outcome.Bar("own-percent-of-batch", max(one["own_percent"] for one in found.values()), 1),
    )
    title = f"Medians of {_ROUNDS * _BATCHES} batches each, in turns"
    return outcome.Outcome((outcome.Table(title, header, rows),), bars)


def _measure(kind: str, partitions: int, shares: tuple[int, ...]) -> dict[str, Any]:
    stock, lever = Way("stock", partitions, kind=kind), Way("lever", partitions, rebalance=_LEVER, kind=kind)
    told, took_s = rebalance_stage.measure((stock, lever), _BATCHES, shares, _ROUNDS, steps=_STEPS)
    return {
        "stock_s": statistics.median(took_s["stock"]),
        "lever_s": statistics.median(took_s["lever"]),
        "own_percent": _PERCENT * rebalance_tasks.own_share(told["lever"]),
    }
