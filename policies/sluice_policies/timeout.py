"""Adaptive timeout and selective replay, as Spark's speculation; and which of three techniques a situation calls for.

Called by the agent between two micro-batches: in come the latencies of the last period, out comes the timeout above
which a straggler is run a second time, and the settings that make Spark do so. Not possible in Real-Time Mode, where
a task has one attempt: the status says so.

Paper: Du & Gupta, DCC 2016, section 3.1 (Algorithm 1) and 5.1.4 (Figures 4 and 5, Table 4).
Objective: the tail, at the price of a few replays. Cost: O(n log n) in the latencies of a period.
It never kills what runs, never replays everything, never applies two techniques to one situation.

Deviations, and their effect:
- With fewer than `least_samples` latencies there is no timeout: a 99.9th percentile of ten tasks is their maximum.
- Percentiles are nearest-rank, which the paper leaves open: a timeout is then always a latency that occurred.
- "One technique" is chosen by the paper's own crossovers, 58 % of queue use and 49 % of CPU. They were measured on
  one cluster ("this intersection point may differ"), hence `Args`; a technique in use keeps its place within
  `margin`, so that a figure at the limit does not flap.
- Never earlier than `least_times` the median. Of tasks that were cut to be alike the 90th percentile is 1.0 to 1.2
  medians: noise, and with it every third task ran twice. A copy begun after m medians is done after m + 1, so little is
  lost by waiting for half a median more.
- Spark's absolute threshold is ignored where the tasks outnumber the slots of one executor, so the timeout is set as a
  multiple of the median as well.
"""

import dataclasses
import math
from collections.abc import Sequence
from typing import NamedTuple

from sluice_policies import bounds

_MOST_MULTIPLIER = 100.0


@dataclasses.dataclass(frozen=True)
class Args:
    """Algorithm 1's constants and the crossovers of section 5.1.4; the defaults are the paper's."""

    ratio: float = 2.0
    """How much longer than the lower percentile the upper one must be to call it a tail, 1 to 100."""
    least_samples: int = 20
    """Fewer latencies than this give no timeout, 1 to 100,000."""
    quantile: float = 0.3
    """Which part of the tasks must be done before Spark looks for stragglers, 0.05 to 1."""
    least_times: float = 1.5
    """How many times the median a task may take at the least before Spark replays it, 1 to 100."""
    queue_use: float = 0.58
    """From this use of the input queues on a shared queue beats the timeout (Figure 4), 0 to 1."""
    cpu_use: float = 0.49
    """From this use of the CPU on replays cost more than they bring (Figure 5), 0 to 1."""
    thres: float = 1.2
    """Slowest over fastest task from which on a situation counts as heterogeneous, 1 to 100."""
    margin: float = 0.03
    """How far past a crossover before the technique in use is given up, 0 to 0.5."""

    def __post_init__(self) -> None:
        bounds.within("ratio", self.ratio, 1, 100)
        bounds.within("least_samples", self.least_samples, 1, 100_000)
        bounds.within("quantile", self.quantile, 0.05, 1)
        bounds.within("least_times", self.least_times, 1, 100)
        bounds.within("queue_use", self.queue_use, 0, 1)
        bounds.within("cpu_use", self.cpu_use, 0, 1)
        bounds.within("thres", self.thres, 1, 100)
        bounds.within("margin", self.margin, 0, 0.5)


class Timeout(NamedTuple):
    """When a straggler is replayed, and why then."""

    timeout_ms: float
    percentile: float
    """Which percentile of the last period this is: 90, 95 or 99.9."""
    median_ms: float


class Situation(NamedTuple):
    """What decides between the techniques (Table 4); uses as parts of 1."""

    queue_use: float
    cpu_use: float
    tasks_per_worker: int
    slow_over_fast: float


def step(latencies_ms: Sequence[float], args: Args) -> Timeout | None:
    """Algorithm 1: the timeout of the next period from the latencies of the last one; None when they are too few."""
    if len(latencies_ms) < args.least_samples:
        return None
    ordered = sorted(latencies_ms)
    bounds.within("latencies_ms", ordered[0], 0, 1e9)
    bounds.within("latencies_ms", ordered[-1], 0, 1e9)
    p90, p95, p99, p999 = (percentile(ordered, p) for p in (90, 95, 99, 99.9))
    median = percentile(ordered, 50)
    if p99 > args.ratio * p90:
        return Timeout(p90, 90, median)
    if p999 > args.ratio * p95:
        return Timeout(p95, 95, median)
    return Timeout(p999, 99.9, median)


def percentile(ordered: Sequence[float], p: float) -> float:
    """The smallest of the sorted values that at least p percent do not exceed (nearest rank)."""
    # 99.9 is no exact double: 0.999 x 1000 must be the 999th, not the 1000th.
    rank = math.ceil(round(p * len(ordered) / 100, 9))
    return ordered[max(rank, 1) - 1]


def speculation(
    timeout: Timeout | None, tasks: int, slots_per_executor: int, args: Args
) -> tuple[tuple[str, str], ...]:
    """Spark's settings for a timeout, in the order of names; off when there is none.

    They can be set on the live conf between batches; `spark.speculation` itself must be true from the start, so "off"
    is a multiplier nothing reaches.
    """
    if timeout is None:
        return (("spark.speculation.multiplier", f"{_MOST_MULTIPLIER:g}"),)
    multiplier = timeout.timeout_ms / timeout.median_ms if timeout.median_ms > 0 else _MOST_MULTIPLIER
    settings = {
        "spark.speculation.multiplier": f"{min(max(multiplier, args.least_times), _MOST_MULTIPLIER):.3f}",
        "spark.speculation.quantile": f"{args.quantile:g}",
    }
    if tasks <= slots_per_executor:
        settings["spark.speculation.task.duration.threshold"] = f"{math.ceil(timeout.timeout_ms)}ms"
    return tuple(sorted(settings.items()))


def choose(situation: Situation, current: str, args: Args) -> str:
    """`balance`, `queue`, `timeout` or `none`: one technique per situation (Table 4). `current` is the one in use."""
    bounds.one_of("current", current, ("balance", "queue", "timeout", "none"))

    def limit(crossover: float, *, low_side: bool) -> float:
        return crossover + (args.margin if low_side else -args.margin)

    # The technique in use may go `margin` past its crossover.
    calm = situation.cpu_use < limit(args.cpu_use, low_side=current != "balance")
    short = situation.queue_use < limit(args.queue_use, low_side=current != "queue")
    if situation.slow_over_fast > args.thres and not calm:
        return "balance"
    if situation.tasks_per_worker >= 2 and not short:
        return "queue"
    return "timeout" if calm and short else "none"
