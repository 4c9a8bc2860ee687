"""What is made of a batch for the next one of its query: Lever's shares, and when a straggler's task runs once more.

Called by :mod:`sluice_agent.talk` with each batch's measures; goes back to the plugin in the same answer. The deciding
is :mod:`sluice_policies`'; here is what is remembered from batch to batch. The operator's weights are the slower loop:
where an executor has less than an equal one, its learned share is cut down by as much.
"""

import collections
import dataclasses
import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from sluice_agent import batches, board, heard, orders
from sluice_policies import lever, lever_types, timeout

_PER_SLOT = 1
_LEAST_S = 0.05  # a shorter scan is mostly Spark's own work for a task, and tells nothing of an executor
_BEATEN = 2.0  # times as long as until the copy was done
_PERIOD_TASKS = 1000  # whose latencies decide when one counts as a straggler
_STEADY_BATCHES, _STEADY = 3, 0.1  # means of so many, in parts of an equal one: single ones carry their noise
_SLOW_FROM, _SLOW_TO = 0.5, 0.7  # of an equal part: below the first one is slow, until it has the second
_LEVER, _TIMEOUT = lever.Args(), timeout.Args()
Shares = Mapping[str, float]


@dataclasses.dataclass
class Learned:
    """Of one query."""

    capacities: lever_types.State = dataclasses.field(default_factory=lambda: lever_types.State(()))
    shares: collections.deque[Shares] = dataclasses.field(
        default_factory=lambda: collections.deque(maxlen=2 * _STEADY_BATCHES)
    )
    stretch: collections.deque[float] = dataclasses.field(
        default_factory=lambda: collections.deque(maxlen=_PERIOD_TASKS)
    )
    left: str = ""  # why its input is not cut
    slow: frozenset[str] = frozenset()  # who has much less than an equal part

    @property
    def settled(self) -> bool:
        """Whether the shares of its last batches are about those of the batches before."""
        shares = list(self.shares)
        return len(shares) == self.shares.maxlen and _near(shares[:_STEADY_BATCHES], shares[_STEADY_BATCHES:])


class Balancer:
    """Of one driver. Only the server's loop comes here, others look."""

    def __init__(self, on: board.Board) -> None:
        self.queries: dict[str, Learned] = {}  # by id
        self._board = on

    def after(self, batch: batches.Batch) -> dict[str, Any]:
        """What the plugin is told about the next batch; what is left out is Spark's."""
        said: dict[str, Any] = {"query": batch.query}
        wanted = self._board.orders.balance if self._board.orders else None
        if wanted is None:
            self.queries.pop(batch.query, None)
            return said
        learned = self.queries.pop(batch.query, None) or Learned()
        self.queries[batch.query] = learned  # the last one, so that the first is the stalest
        if len(self.queries) > heard.MOST_QUERIES:
            del self.queries[next(iter(self.queries))]
        told = {**_cut(learned, batch, wanted), **_watched(learned, batch, wanted)}
        return {**said, **told} if wanted.act else said


def _cut(learned: Learned, batch: batches.Batch, wanted: orders.Balance) -> dict[str, Any]:
    learned.left = batch.cut
    if not batch.crew or not (wanted.lever or wanted.weights):
        learned.slow = frozenset()
        return {}
    shares = _weighed(_carried(learned, batch) if wanted.lever else {}, batch.crew, wanted.weights)
    learned.shares.append(shares)
    learned.slow = _slow(learned)
    return {"shares": shares, "perSlot": _PER_SLOT, "whole": wanted.whole}


def _carried(learned: Learned, batch: batches.Batch) -> Shares:
    """Lever's step: what each can carry of the next batch."""
    scans = list(_scans(learned, batch))
    long_enough = max((one.finish_s for one in scans), default=0.0) >= _LEAST_S
    rows = max(sum(one.rows for one in scans), len(batch.crew))
    seen = lever_types.Batch(tuple(scans) if long_enough else (), tuple(sorted(batch.crew)), rows)
    decided = lever.step(learned.capacities, seen, _LEVER)
    learned.capacities = decided.state
    return {name: part / rows for name, part in decided.shares}


def _scans(learned: Learned, batch: batches.Batch) -> Iterator[lever_types.Measured]:
    """What each has read, and in which time.

    Of one that was beaten by a copy it is known what it was given, and that it would have taken longer; without that it
    would keep the part it cannot carry. How much longer nobody knows: twice, until it has carried a part of its own.
    """
    told = learned.shares[-1] if batch.pieces and learned.shares else _weighed({}, batch.crew, {})
    known = dict(learned.capacities.capacities)
    for name, work in batch.executors.items():
        given = round(told.get(name, 0.0) * batch.rows) if work.beaten_s else work.scan_rows
        finish_s = max(work.scan_s, _BEATEN * work.beaten_s)
        proves = not work.beaten_s or given < known.get(name, math.inf) * finish_s
        if given and finish_s > 0 and proves:
            yield lever_types.Measured(name, given, finish_s)


def _weighed(carried: Shares, crew: Mapping[str, int], weights: Shares) -> Shares:
    """Parts of one: as carried, or by slots, each times its weight."""
    mean = sum(weights.values()) / len(weights) if weights else 1.0
    parts = {name: carried.get(name, slots) * weights.get(name, mean) for name, slots in crew.items()}
    total = sum(parts.values())
    return {name: round(max(part / total, 1e-6), 6) for name, part in parts.items()}


def _watched(learned: Learned, batch: batches.Batch, wanted: orders.Balance) -> dict[str, Any]:
    """Algorithm 1 of Du & Gupta over the tasks of the last batches, in times of the median of a task's stage."""
    if not wanted.timeout:
        return {}
    for times, count in batch.stretch:
        learned.stretch.extend([times] * min(count, _PERIOD_TASKS))
    found = timeout.step(learned.stretch, _TIMEOUT)
    if found is None:
        return {}
    # Stages of all sizes share one setting, so the absolute one, which counts for the smallest alone, is left out.
    settings = dict(timeout.speculation(found, len(batch.crew) + 1, len(batch.crew), _TIMEOUT))
    names = ("multiplier", "quantile")
    return {"speculation": {name: float(settings[f"spark.speculation.{name}"]) for name in names}}


def _slow(learned: Learned) -> frozenset[str]:
    now = list(learned.shares)[-_STEADY_BATCHES:]
    if len(now) < _STEADY_BATCHES:
        return frozenset()
    equal = len(now) / len(now[-1])
    carried = {name: sum(one.get(name, 0.0) for one in now) / equal for name in now[-1]}
    limits = {name: _SLOW_TO if name in learned.slow else _SLOW_FROM for name in carried}
    return frozenset(name for name, part in carried.items() if part < limits[name])


def _near(before: Sequence[Shares], now: Sequence[Shares]) -> bool:
    crew = now[-1].keys()
    if any(one.keys() != crew for one in (*before, *now)):
        return False
    drifts = (sum(one[name] for one in now) - sum(one[name] for one in before) for name in crew)
    return max(map(abs, drifts)) <= _STEADY * len(now) / len(crew)
