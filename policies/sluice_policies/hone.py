"""Hone: of the writers of one operator on one node, the one with the largest backlog sends next.

Called by the plugin's send side in Real-Time Mode whenever the shared link is free: in come backlogs, out comes who
sends. The order within one writer's queue is not its business: tuples of a queue leave in the order they came
(section 3.2).

Paper: Li et al., "Hone: Mitigating Stragglers in Distributed Stream Processing With Tuple Scheduling", TPDS 2021,
section 4.3, Algorithm 1. Objective: the largest backlog over all queues and all time; at most 3 + ceil(log2 N) times
the optimum in hindsight (Theorem 1). Cost: O(N). It never reorders a queue, never lets an empty queue send under
`largest`, never looks ahead.

Deviations: none in the choice. Ties, which the paper leaves open, go to the first name. `burst` is section 5's
aggregation: a chosen queue may send that many tuples before the next choice. Two controls, both measured in `make
bench NAME=papers`:
- `paper-round-robin` is section 4.4's: the turn goes to the next queue every slot, *even an empty one*, so the link
  idles.
- `round-robin` skips empty queues. It is what a real sender does, and the honest baseline: it keeps the link busy, so
  its mean delay is LBF's, and only the largest backlog differs.
"""

import dataclasses
from collections.abc import Mapping
from typing import NamedTuple

from sluice_policies import bounds

RULES = ("largest", "paper-round-robin", "round-robin")


@dataclasses.dataclass(frozen=True)
class Args:
    """Who sends next, and how much."""

    rule: str = "largest"
    """`largest` backlog first, or one of the controls `paper-round-robin` and `round-robin`."""
    burst: int = 1
    """Tuples a chosen queue may send before the next choice, 1 to 10,000."""

    def __post_init__(self) -> None:
        bounds.one_of("rule", self.rule, RULES)
        bounds.within("burst", self.burst, 1, 10_000)


class Turn(NamedTuple):
    """Who sends, and how many tuples at most. `sender` is also what the next step wants to know."""

    sender: str | None
    tuples: int


def step(backlogs: Mapping[str, int], last: str | None, args: Args) -> Turn:
    """The next turn; `last` is the sender of the turn before, None at the start."""
    choose = {"largest": _largest, "paper-round-robin": _next, "round-robin": _next_with_work}[args.rule]
    sender = choose(backlogs, last)
    # The paper's round robin keeps its turn even where there is nothing to send.
    return Turn(sender, min(args.burst, backlogs.get(sender, 0)) if sender is not None else 0)


def _largest(backlogs: Mapping[str, int], last: str | None) -> str | None:
    del last  # what was sent before does not count
    most = max(backlogs.values(), default=0)
    if most <= 0:
        return None
    return min(name for name, backlog in backlogs.items() if backlog == most)


def _next(backlogs: Mapping[str, int], last: str | None) -> str | None:
    names = sorted(backlogs)
    after = [name for name in names if last is not None and name > last]
    return next(iter(after or names), None)


def _next_with_work(backlogs: Mapping[str, int], last: str | None) -> str | None:
    with_work = sorted(name for name, backlog in backlogs.items() if backlog > 0)
    if not with_work:
        return last  # nobody sends; the turn stays where it was
    after = [name for name in with_work if last is not None and name > last]
    return (after or with_work)[0]
