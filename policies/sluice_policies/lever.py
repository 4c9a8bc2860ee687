"""Lever: before a batch is cut, predict who would straggle and give each executor what it can carry.

Called by the agent between two micro-batches (in Real-Time Mode between two long batches): in come the last batch's
finish times and what arrived since, out go rows per executor and what was learned. The plugin cuts the input.

Paper: Jin et al., "Towards Low-Latency Batched Stream Processing by Pre-Scheduling", TPDS 2019, sections 3.2-3.4.
Objective: all executors finish together, so that the batch ends as early as its rows allow.
Cost: O(n log n); a step over 1,000 executors stays under a millisecond (`make bench NAME=papers`).
It never looks at a clock, never starves a live executor, never gives rows to a dead one, never loses a row.

The default (`variant="all"`) cuts by Eq. 7 over all executors. Where it leaves the paper, and the effect:
- The median group takes part. The published one leaves it alone: with three executors (50, 50 and 12 % of a core) its
  batch lasts 1.20 x the bound, and of two equal stragglers the second keeps everything, because the helpers' load is
  updated while the sum over them is not (Alg. 1 lines 30 and 34). `tests/policies/test_lever_paper.py` shows both.
- A capacity is a rate learned from the rows really carried: by `gain` towards rows / finish. Where the rows were cut
  by Eq. 7 this is Eq. 1-2 up to a common factor that cancels in Eq. 7; where they were not (a gate was lifted, an
  executor joined), Eq. 1-2 alone would blame the executor for the plan.
- `gain` 0.6 instead of 1: the noise of one batch counts 60 %. Who became faster is averaged in rows per second, who
  became slower in seconds per row, the lower of the two means: rows too many keep everybody waiting, rows too few are a
  part more for each of the others. 4 x slower is so learned to 5 % in three batches; in rates it takes four.
- No quartiles and no inputRatio: a cut in proportion needs no classes, and it scales with whatever arrives.

The published one (:mod:`sluice_policies.lever_published`) is there for comparison, chosen by `variant="published"`.
"""

import dataclasses
from collections.abc import Mapping
from typing import NamedTuple

from sluice_policies import bounds, lever_published, shares
from sluice_policies.lever_types import Batch, Share, State

VARIANTS = ("all", "published")


@dataclasses.dataclass(frozen=True)
class Args:
    """How to learn and how to cut."""

    variant: str = "all"
    """`all`: Eq. 7 over all executors. `published`: quartiles and helpers as printed, no learning from real rows."""
    gain: float = 0.6
    """How much of a newly measured rate is believed at once, 0.05 to 1. K of Eq. 1 is gain x C/t. Only `all`."""
    floor: float = 0.02
    """The least share, as a part of an equal one, 0 to 1: who gets no rows is never measured again. Only `all`."""
    helpers: int = 4
    """r of section 3.4.1: how many of the faster group take over rows, 1 to 1,000. Only `published`."""
    reading: str = "letter"
    """`letter`: Algorithm 1 as printed. `meant`: as its figures must have run, see the module. Only `published`."""

    def __post_init__(self) -> None:
        bounds.one_of("variant", self.variant, VARIANTS)
        bounds.within("gain", self.gain, 0.05, 1.0)
        bounds.within("floor", self.floor, 0.0, 1.0)
        bounds.within("helpers", self.helpers, 1, 1000)
        bounds.one_of("reading", self.reading, lever_published.READINGS)


class Decision(NamedTuple):
    """The next batch's rows per executor (in the order of names), and what to hand to the next step."""

    shares: tuple[Share, ...]
    state: State


def step(state: State, batch: Batch, args: Args) -> Decision:
    """Learns from the last batch and cuts the next one."""
    if not batch.live:
        return Decision((), State(()))
    if args.variant == "published":
        return Decision(*lever_published.step(state, batch, args.helpers, args.reading))
    known = _learn(state, batch, args.gain)
    names = list(known) if len(known) == len(batch.live) else sorted(batch.live)
    # An executor nobody has measured is taken for an average one: it is neither flooded nor starved.
    mean = sum(known.values()) / len(known) if known else 1.0
    rates = [known.get(name, mean) for name in names]
    # A floor of less than a row would starve: where every one can have a row, every one gets one.
    least = max(int(args.floor * batch.rows / len(names)), 1 if args.floor > 0 and batch.rows >= len(names) else 0)
    rows = shares.cut(batch.rows, rates, least)
    return Decision(tuple(map(Share._make, zip(names, rows, strict=True))), State(tuple(known.items())))


def _learn(state: State, batch: Batch, gain: float) -> Mapping[str, float]:
    """Rates of the live executors in rows per second, in the order of names."""
    live = frozenset(batch.live)
    rates = dict(state.capacities)
    if not live.issuperset(rates):
        rates = {name: rate for name, rate in state.capacities if name in live}
    known = len(rates)
    for name, rows, finish_s in batch.measured:
        if rows and name in live:
            rate = rows / finish_s
            before = rates.get(name)
            rates[name] = rate if before is None else _between(before, rate, gain)
    # What was known is in the order of names; only someone new can have broken it.
    return rates if len(rates) == known else dict(sorted(rates.items()))


def _between(before: float, rate: float, gain: float) -> float:
    """The mean of two rates, the newer one weighed by `gain`: in rates upwards, in times a row downwards."""
    if rate >= before:
        return before + gain * (rate - before)
    return before * rate / (rate + gain * (before - rate))
