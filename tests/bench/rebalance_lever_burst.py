"""An input burst on one executor (Lever, section 5.5, Fig. 17): batches until all end together again; of `rebalance`.

The paper gives one node's receiver a burst. Here no node receives: an executor has a stretch of a batch's rows. So the
burst is at rows of one's stretch, which come three times, for twenty batches, after twenty without; again and again.
"""

import functools
import statistics
from collections.abc import Sequence
from typing import Any

from bench import ledger, outcome, rebalance_lever_ways, rebalance_stage, rebalance_tasks
from bench.rebalance_lever_ways import CONF, LEVER, PARTITIONS, SHARES, WARM_UP
from bench.rebalance_stage import WARM, Way

_CYCLE, _TURNS = 20, 3  # batches without a burst and as many with it; so often
_TAIL = 8  # the last batches of a burst: what it settles at
_NEAR = 1.1
_AHEAD = 3  # batches that are to be near, by their median
_PAPER = {"slow": 6, "fast": 7}
_MOST = 6


def run(book: ledger.Ledger, rows: int) -> outcome.Outcome:
    """Each executor in its turn, remembered as one."""
    found = book.once("lever bursts", functools.partial(_measure, rows))
    counts: dict[str, list[int]] = {"slow": [], "fast": []}
    firsts: dict[str, list[float]] = {"slow": [], "fast": []}
    for place, took_s in enumerate(found["took_s"]):
        which = "slow" if found["nodes"][place] == found["slow"] else "fast"
        for burst_s in bursts(took_s):
            counts[which].append(until_near(burst_s))
            firsts[which].append(burst_s[0] / statistics.median(burst_s[-_TAIL:]))
    shown = tuple(
        (
            f"a {which} node", str(len(counts[which])), f"{_PAPER[which]} batches",
            f"{statistics.median(counts[which]):g} batches (of bursts {min(counts[which])} to {max(counts[which])})",
            f"{statistics.median(firsts[which]):.2f}", _WHY[which],
        )
        for which in counts
    )  # fmt: skip
    header = ("burst on", "bursts", "paper", "ours, until near", "first batch, of what it settles at", "why")
    title = (
        "Lever 5.5, Fig. 17: words counted; lines at one executor's stretch come three times, from one batch on. Near:"
        f" a batch, and the median of {_AHEAD} from it on, is within {_NEAR - 1:.0%} of where the burst settles, the"
        f" median of its last {_TAIL}. The paper's burst is a receiver's, and its batches queue"
    )
    bars = tuple(
        outcome.Bar(f"burst-on-a-{which}-node-batches", statistics.median(counts[which]), _MOST) for which in counts
    )
    return outcome.Outcome((outcome.Table(title, header, shown),), bars)


_WHY = {
    "slow": "most of its small part is the burst; each batch takes 60 % off the error, for so much a new speed counts",
    "fast": "no group has to be left before it is helped; its neighbours' rows get dearer as the cut comes nearer",
}


def bursts(took_s: Sequence[float]) -> list[Sequence[float]]:
    """The batches of each burst, of all batches from the first on."""
    begins = range(_CYCLE, len(took_s) - _CYCLE + 1, 2 * _CYCLE)
    return [took_s[begin : begin + _CYCLE] for begin in begins]


def until_near(burst_s: Sequence[float]) -> int:
    """After how many batches of a burst the next ones take as long as its last ones."""
    most_s = _NEAR * statistics.median(burst_s[-_TAIL:])
    near = (
        at
        for at in range(len(burst_s) - _AHEAD + 1)
        if max(burst_s[at], statistics.median(burst_s[at : at + _AHEAD])) <= most_s
    )
    return next(near, len(burst_s))


def _measure(rows: int) -> dict[str, Any]:
    """One query for each executor: what it has learned stays from burst to burst, as in a user's."""
    ways = [
        Way(f"burst {place}", PARTITIONS, rebalance=LEVER, kind=f"burst-{place}-{_CYCLE}")
        for place in range(PARTITIONS)
    ]
    phases = [WARM_UP.phase(WARM), *(way.phase(2 * _CYCLE * _TURNS) for way in ways)]
    with (
        rebalance_stage.running(rows, rebalance_stage.STEPS, phases, CONF) as job,
        rebalance_stage.slowed(SHARES),
    ):
        took_s = dict(rebalance_stage.follow(job, [WARM_UP, *ways], len(phases)))
        found = rebalance_tasks.nodes(job)
    return {
        "took_s": [took_s[way.name] for way in ways],
        "nodes": [found[number] for number in sorted(found, key=int)],
        "slow": rebalance_lever_ways.nodes()[SHARES.index(min(SHARES))],
    }
