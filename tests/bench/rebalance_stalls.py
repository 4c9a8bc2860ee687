"""A task of every fifth batch stalls for five seconds: how long the slowest batches take, by whoever watches.

The limits that stay as they are take turns in one driver; ours, which the agent sets anew between batches, is another
one, for a limit in `sparkConf` is the user's and left alone.
"""

import functools
import statistics
from typing import Any

from bench import ledger, outcome, rebalance_seen, rebalance_stage, rebalance_tasks
from bench.rebalance_stage import Way

_ROUNDS, _BATCHES = 2, 100
_PARTITIONS = 12
_STEPS = rebalance_stage.STEPS // 4  # beside a batch of a second no stall of five could become a third of itself
_NOBODY = "nobody"
_STATIC = (
    Way(_NOBODY, _PARTITIONS, kind="stalls"),
    Way("Spark, 1.5 times the median", _PARTITIONS, ("1.5", "0.5"), kind="stalls"),
    Way("Spark, 3 times the median", _PARTITIONS, ("3", "0.9"), kind="stalls"),
    Way("Spark, as in the paper", _PARTITIONS, ("1", "0.5"), kind="stalls"),
)
_WATCHED = {"mode": "Act", "latency": {"enabled": False}, "lever": {"enabled": False}}
_FIRST = Way("warm-up", _PARTITIONS, kind="stalls")  # does not count: each driver has JVMs of its own
_OURS = (Way("ours", _PARTITIONS, kind="stalls", rebalance=_WATCHED),)


def run(book: ledger.Ledger) -> outcome.Outcome:
    """Both drivers, remembered."""
    static = book.once("stalls static", functools.partial(_measure, _STATIC, rebalance_stage.COPIES))
    found = {**static, **book.once("stalls ours", functools.partial(_measure, _OURS, {}))}
    p99_s = {name: rebalance_seen.p99(one["took_s"]) for name, one in found.items()}
    best = min((way.name for way in _STATIC), key=lambda name: p99_s[name])
    rows = tuple(
        (name, str(len(one["took_s"])), f"{statistics.median(one['took_s']):.2f}", f"{p99_s[name]:.2f}",
         f"{one['run_s'] / found[_NOBODY]['run_s'] - 1:+.0%}")
        for name, one in found.items()
    )  # fmt: skip
    header = ("who watches", "batches", "s, median", "s, p99", "tasks' time a batch against nobody's")
    bars = (
        outcome.Bar("stalls-p99-below-nobody", 1 - p99_s["ours"] / p99_s[_NOBODY], 0.7, at_least=True),
        outcome.Bar("stalls-p99-of-the-best-limit-that-stays", p99_s["ours"] / p99_s[best], 1),
    )
    title = "A task of every fifth batch stalls for 5 s, whichever executor it is on; a second attempt does not"
    return outcome.Outcome((outcome.Table(title, header, rows),), bars)


def _measure(ways: tuple[Way, ...], conf: dict[str, str]) -> dict[str, Any]:
    told, took_s = rebalance_stage.measure((_FIRST, *ways), _BATCHES, rounds=_ROUNDS, conf=conf, steps=_STEPS)
    return {way.name: {"took_s": took_s[way.name], "run_s": rebalance_tasks.ran_s(told[way.name])} for way in ways}
