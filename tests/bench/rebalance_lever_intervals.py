"""Batch intervals from a quarter of a second to ten (Lever, section 5.8, Fig. 20b); part of `rebalance`.

An interval is the input that comes in its time. Batches begin when the last one is done: what is compared is how long
they take, and the wait for an interval's end is no part of that.
"""

import functools
import statistics
from typing import Any

from bench import ledger, outcome, rebalance_lever_ways, rebalance_stage
from bench.rebalance_lever_ways import CONF, COUNT, OURS, PARTITIONS, SHARES, STOCK, WARM_UP, less
from bench.rebalance_stage import WARM

_PAPERS_S = 2.0  # the interval at which the workloads run
_BATCHES = {0.25: 40, 0.5: 40, 1.0: 30, 2.0: 20, 5.0: 12, 10.0: 8}
_PAPER = {0.25: "21.5 %", 0.5: "27.8 %", 2.0: "43.4 %"}


def run(book: ledger.Ledger, rows: int) -> outcome.Outcome:
    """Remembered as one; `rows` come in the paper's interval."""
    found = book.once("lever intervals", functools.partial(_measure, rows))
    shown = []
    for interval_s in _BATCHES:
        stock_s, ours_s = (statistics.median(found[f"{interval_s:g} {how}"]) for how in (STOCK, OURS))
        shown.append((
            f"{interval_s:g} s", str(_rows(rows, interval_s)), f"{stock_s:.2f}", f"{ours_s:.2f}",
            _PAPER.get(interval_s, "drawn, not printed"), f"{100 * less(ours_s, stock_s):.1f} %",
            "more of a batch is Spark's own, and the less there is to gain" if interval_s < 1 else
            "more of a batch is work, and work is what is cut",
        ))  # fmt: skip
    header = ("interval", "lines", "s a batch, stock", "Lever", "below stock, paper", "ours", "why")
    title = (
        "Lever 5.8, Fig. 20b, words counted: the input of so long an interval. Fig. 20a, the number of helpers, has no"
        " counterpart: all executors help"
    )
    return outcome.Outcome((outcome.Table(title, header, tuple(shown)),), ())


def _rows(rows: int, interval_s: float) -> int:
    return max(PARTITIONS, round(rows * interval_s / _PAPERS_S))


def _measure(rows: int) -> dict[str, Any]:
    """Stock and Lever in turns, from the short to the long."""
    ways, phases = [], [WARM_UP.phase(WARM)]
    for interval_s, batches in _BATCHES.items():
        pair = rebalance_lever_ways.ways_of(COUNT, STOCK, OURS, rows=_rows(rows, interval_s))
        ways += pair
        phases += [way.phase(WARM + batches) for way in pair]
    with (
        rebalance_stage.running(rows, rebalance_stage.STEPS, phases, CONF) as job,
        rebalance_stage.slowed(SHARES),
    ):
        took_s = dict(rebalance_stage.follow(job, [WARM_UP, *ways], len(phases)))
    names = [f"{interval_s:g} {how}" for interval_s in _BATCHES for how in (STOCK, OURS)]
    return {name: took_s[way.name][WARM:] for name, way in zip(names, ways, strict=True)}
