"""One of three executors' nodes is slowed four times: how long a batch takes, cut and watched in one way or another.

All ways take turns in one driver, under the same quotas. The bound is the work of a batch over the CPU there is.
"""

import statistics
from typing import Any

from bench import ledger, outcome, rebalance_stage, rebalance_tasks
from bench.rebalance_stage import Way

_SHARES = (45, 45, 11)  # percent of a core, by node
_ROUNDS, _BATCHES = 4, 50  # that count, of each way in each round
_TUNED = ("1.5", "0.5")  # the best of those tried on the prototype
_PAPERS = ("1", "0.5")  # Lever's section 5: looked for every 100 ms, from half of the tasks on, past the median
_STOCK = "stock, a partition a slot"
_OURS = (Way("Lever", 3, rebalance={"mode": "Act", "latency": {"enabled": False}}),)
_TUNINGS = (
    *(Way(f"{parts} partitions", parts) for parts in (6, 12, 24, 48)),
    *(Way(f"{parts} partitions, speculation", parts, _TUNED) for parts in (3, 6, 12, 24, 48)),
    Way("3 partitions, the paper's speculation", 3, _PAPERS),
)
_WAYS = (Way(_STOCK, 3), *_TUNINGS, *_OURS)


def run(book: ledger.Ledger) -> outcome.Outcome:
    """Each round is remembered."""
    rounds = [book.once(f"slow {number}", _round) for number in range(_ROUNDS)]
    found = {way.name: [took for one in rounds for took in one["took_s"][way.name]] for way in _WAYS}
    median_s = {name: statistics.median(took_s) for name, took_s in found.items()}
    bound_s = statistics.median(one["cpu_s"] for one in rounds) / (sum(_SHARES) / 100)
    best = min((way.name for way in _TUNINGS), key=lambda name: median_s[name])
    ours_s = min(median_s[way.name] for way in _OURS)
    rows = tuple(
        (name, str(len(took_s)), f"{median_s[name]:.2f}", f"{_p90(took_s):.2f}", f"{median_s[name] / bound_s:.2f}")
        for name, took_s in found.items()
    )
    header = ("how it is cut and watched", "batches", "s, median", "s, p90", "of the bound")
    title = (
        f"{rebalance_stage.ROWS} rows a batch on three executors with {', '.join(map(str, _SHARES))} % of a core; the"
        f" bound, the CPU time of a batch's tasks over all three, is {bound_s:.2f} s"
    )
    bars = (
        outcome.Bar("one-slow-batch-of-the-bound", ours_s / bound_s, 1.1),
        outcome.Bar("one-slow-below-stock", 1 - ours_s / median_s[_STOCK], 0.6, at_least=True),
        outcome.Bar("one-slow-below-the-best-tuning", 1 - ours_s / median_s[best], 0.1, at_least=True),
    )
    return outcome.Outcome((outcome.Table(title, header, rows),), bars)


def _p90(values: list[float]) -> float:
    return sorted(values)[int(0.9 * (len(values) - 1))]


def _round() -> dict[str, Any]:
    """Every way once, in a job of its own."""
    told, took_s = rebalance_stage.measure(_WAYS, _BATCHES, _SHARES)
    return {"took_s": took_s, "cpu_s": rebalance_tasks.cpu_s(told[_STOCK])}
