"""A node gets more of its core, or less, in the midst of a phase: how many batches until Lever has cut them anew.

Each batch is matched to the steps by the moment it began, as Spark's progress has it. Counted are those begun after a
step; the one in flight is neither nor. The optimum of a level is where its last batches are: the bound, work over
capacity, leaves out what Spark does beside a batch's tasks, so to come within a tenth of it would say more of that
than of learning. That the last ones are near the bound is a bar of its own.
"""

import dataclasses
import statistics
from typing import Any

from bench import ledger, outcome, rebalance_seen, rebalance_stage, rebalance_tasks
from bench.rebalance_seen import Batch
from bench.rebalance_stage import Way

_ROUNDS = 2
_FULL = 45  # percent of a core, of each of the three nodes
_STEPS = ((2, 11), (2, 45), (0, 11), (0, 45), (1, 22), (1, 45), (2, 11), (2, 45))  # node, percent
_EACH, _LAST = 25, 10  # batches of a level, and those that say where it settles
_NEAR = 0.1
_MOST_BATCHES, _MOST_OF_THE_BOUND = 4, 1.1
_LEVER = Way("Lever", 3, rebalance={"mode": "Act", "latency": {"enabled": False}})


@dataclasses.dataclass(frozen=True)
class Level:
    """What came of one step."""

    what: str
    took_s: list[float]
    settled_s: float
    bound_s: float

    @property
    def batches(self) -> int:
        """Until one was near."""
        return rebalance_seen.until_near(self.took_s, self.settled_s, _NEAR)

    def row(self) -> tuple[str, ...]:
        """Of the table."""
        first = ", ".join(f"{took_s:.2f}" for took_s in self.took_s[:6])
        settled = f"{self.settled_s:.2f} ({self.settled_s / self.bound_s:.2f})"
        return self.what, str(self.batches), first, settled


def run(book: ledger.Ledger) -> outcome.Outcome:
    """Each round is remembered."""
    rounds = [book.once(f"step {number}", _measure) for number in range(_ROUNDS)]
    found = [level for one in rounds for level in levels(one)]
    header = ("node: % of a core", "batches until near", "s, the first six", "s, the last ten (of the bound)")
    title = (
        f"Lever, warm, on three executors with {_FULL} % of a core each, one of which changes: batches begun after it"
        f" until one, and the next, took at most {_NEAR:.0%} longer than the median of the last {_LAST}"
    )
    bars = (
        outcome.Bar("step-batches", statistics.median(level.batches for level in found), _MOST_BATCHES),
        outcome.Bar(
            "step-settled-of-the-bound",
            statistics.median(level.settled_s / level.bound_s for level in found),
            _MOST_OF_THE_BOUND,
        ),
    )
    return outcome.Outcome((outcome.Table(title, header, tuple(level.row() for level in found)),), bars)


def levels(measured: dict[str, Any]) -> list[Level]:
    """Of one round: the batches between a step and the next one that none of the two has hit."""
    batches = [Batch(**one) for one in measured["batches"]]
    ends_s = [*measured["at_s"][1:], batches[-1].ended_s]
    shares, found = [_FULL] * 3, []
    for (node, percent), from_s, to_s in zip(_STEPS, measured["at_s"], ends_s, strict=True):
        what, shares[node] = f"{node + 1}: {shares[node]} → {percent}", percent
        took_s = [one.took_s for one in rebalance_seen.within(batches, from_s, to_s)]
        bound_s = measured["cpu_s"] / (sum(shares) / 100)
        found.append(Level(what, took_s, statistics.median(took_s[-_LAST:]), bound_s))
    return found


def _measure() -> dict[str, Any]:
    """One job, all steps."""
    batches: list[Batch] = []
    at_s: list[float] = []
    phase = _LEVER.phase(_EACH * (1 + len(_STEPS)))
    with (
        rebalance_stage.running(rebalance_stage.ROWS, rebalance_stage.STEPS, (phase,), rebalance_stage.COPIES) as job,
        rebalance_stage.slowed([_FULL] * 3),
    ):
        for said in rebalance_stage.listen(job, (_LEVER,)):
            if "batch" in said:
                batches.append(rebalance_seen.batch(said))
            if "batch" in said and len(batches) >= _EACH * (1 + len(at_s)) and len(at_s) < len(_STEPS):
                at_s.append(rebalance_stage.slow(*_STEPS[len(at_s)]))
                print(f"step {len(at_s)}/{len(_STEPS)} after batch {batches[-1].number}", flush=True)
        cpu_s = rebalance_tasks.cpu_s(rebalance_tasks.sums(job, _LEVER.name))
    return {"batches": [dataclasses.asdict(one) for one in batches], "at_s": at_s, "cpu_s": cpu_s}
