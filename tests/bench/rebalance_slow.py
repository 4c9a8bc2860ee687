"""One of three executors' nodes is slowed four times: how long a batch takes, cut and watched in one way or another.

First all that Spark itself can be set to is tried for some batches. What came out best then takes turns with stock, the
paper's settings and ours, in one driver under the same quotas. The bound is the work of a batch over the CPU there is.
"""

import functools
import itertools
import statistics
from collections.abc import Mapping, Sequence
from typing import Any

from bench import ledger, outcome, rebalance_stage, rebalance_tasks
from bench.rebalance_stage import Way

_SHARES = (45, 45, 11)  # percent of a core, by node
_ROUNDS, _BATCHES = 2, 100  # that count, of each way in each round
_TRIED, _BEST = 15, 2  # batches of each setting that is tried; so many of those go on
_SPECULATIONS = {
    "": ("100", "0.75"),  # none: nothing takes so many times the median
    ", speculation": ("1.5", "0.5"),
    ", the paper's speculation": ("1", "0.5"),  # Lever's section 5: looked for every 100 ms, from half of the tasks on
}
_TUNINGS = tuple(
    Way(f"{parts} partitions{how}", parts, _SPECULATIONS[how])
    for parts, how in itertools.product((3, 6, 12, 24, 48), _SPECULATIONS)
)
_STOCK, _PAPERS = _TUNINGS[0], _TUNINGS[2]
_LEVER = Way("Lever", 3, rebalance={"mode": "Act", "latency": {"enabled": False}})
_Taken = Mapping[str, Sequence[float]]


def run(book: ledger.Ledger) -> outcome.Outcome:
    """The settings and each round are remembered."""
    tried = book.once("slow settings", _try)
    best = sorted(_TUNINGS[1:], key=lambda way: statistics.median(tried[way.name]))[:_BEST]
    ways = tuple({way.name: way for way in (_STOCK, _PAPERS, *best, _LEVER)}.values())
    rounds = [book.once(f"slow {number}", functools.partial(_round, ways)) for number in range(_ROUNDS)]
    found = {way.name: [took for one in rounds for took in one["took_s"][way.name]] for way in ways}
    bound_s = statistics.median(one["cpu_s"] for one in rounds) / (sum(_SHARES) / 100)
    return outcome.Outcome((_of_settings(tried, bound_s), _of_rounds(found, bound_s)), _bars(found, bound_s))


def _of_settings(tried: _Taken, bound_s: float) -> outcome.Table:
    title = f"What Spark can be set to, tried for {_TRIED} warm batches each; the best {_BEST} go on"
    rows = tuple(
        (name, f"{statistics.median(took_s):.2f}", f"{statistics.median(took_s) / bound_s:.2f}")
        for name, took_s in tried.items()
    )
    return outcome.Table(title, ("how it is cut and watched", "s, median", "of the bound"), rows)


def _of_rounds(found: _Taken, bound_s: float) -> outcome.Table:
    rows = tuple(_row(name, took_s, bound_s) for name, took_s in found.items())
    header = ("how it is cut and watched", "batches", "s, median", "s, p90", "of the bound")
    title = (
        f"{rebalance_stage.ROWS} rows a batch on three executors with {', '.join(map(str, _SHARES))} % of a core; the"
        f" bound, the CPU time of a batch's tasks over all three, is {bound_s:.2f} s. A partition a slot without"
        " speculation is stock"
    )
    return outcome.Table(title, header, rows)


def _row(name: str, took_s: Sequence[float], bound_s: float) -> tuple[str, ...]:
    median_s, p90_s = statistics.median(took_s), sorted(took_s)[int(0.9 * (len(took_s) - 1))]
    return name, str(len(took_s)), f"{median_s:.2f}", f"{p90_s:.2f}", f"{median_s / bound_s:.2f}"


def _bars(found: _Taken, bound_s: float) -> tuple[outcome.Bar, ...]:
    median_s = {name: statistics.median(took_s) for name, took_s in found.items()}
    ours_s, stock_s = median_s.pop(_LEVER.name), median_s.pop(_STOCK.name)
    return (
        outcome.Bar("one-slow-batch-of-the-bound", ours_s / bound_s, 1.1),
        outcome.Bar("one-slow-below-stock", 1 - ours_s / stock_s, 0.6, at_least=True),
        outcome.Bar("one-slow-below-the-best-tuning", 1 - ours_s / min(median_s.values()), 0.1, at_least=True),
    )


def _try() -> dict[str, list[float]]:
    """Each setting but stock once, in one job."""
    _, took_s = rebalance_stage.measure(_TUNINGS[1:], _TRIED, _SHARES)
    return took_s


def _round(ways: Sequence[Way]) -> dict[str, Any]:
    """Every way once, in a job of its own."""
    told, took_s = rebalance_stage.measure(ways, _BATCHES, _SHARES)
    return {"took_s": took_s, "cpu_s": rebalance_tasks.cpu_s(told[_STOCK.name])}
