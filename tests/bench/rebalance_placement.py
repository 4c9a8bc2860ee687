"""A job whose executors exchange very unequal amounts, placed by Kubernetes' own scheduler, and by Sluice.

The scheduler's turn comes before and after. Sluice's has two ends: where executors were put before anything was
measured, and where they sit once its moves are judged. Each time the same batches, on links of 50 Mbit/s.
"""

import functools
import statistics
from collections.abc import Mapping
from typing import Any

from bench import ledger, outcome, rebalance_cuts, rebalance_links, rebalance_place

_EXECUTORS, _SLOTS = 4, (3, 3, 3)
_BATCHES = 60
_MOVES_S = 1800.0  # ten minutes of rest after the start, a move, a hundred batches on which it is judged
_SENDER = rebalance_links.Sender("skewed", _EXECUTORS)
_THEIRS = ("the default scheduler", "the default scheduler, again")
_FIRST, _THEN = "Sluice, before anything is measured", "Sluice, after its moves"


def run(book: ledger.Ledger) -> outcome.Outcome:
    """Three jobs one after another, each remembered."""
    found = {
        _THEIRS[0]: book.once("placement off 0", functools.partial(_measure, "Off"))["first"],
        **_named(book.once("placement act", functools.partial(_measure, "Act"))),
        _THEIRS[1]: book.once("placement off 1", functools.partial(_measure, "Off"))["first"],
    }
    theirs_s = statistics.median(took_s for name in _THEIRS for took_s in found[name]["took_s"])
    bars = (
        outcome.Bar("placement-cross-bytes-by-the-optimum", by_optimum(found[_THEN]), 1.05),
        outcome.Bar("placement-batch-time-by-the-spread", statistics.median(found[_THEN]["took_s"]) / theirs_s, 0.95),
    )
    header = ("who placed it", "executors by node", "MB between nodes a batch", "of the optimum", "s, median", "s, p90")
    title = (
        f"{_EXECUTORS} executors, three at most on each of three nodes, links of {rebalance_links.RATE}; four fifths of"
        " what one sends go to one other"
    )
    rows = tuple(_row(name, one) for name, one in found.items())
    return outcome.Outcome((outcome.Table(title, header, rows),), bars)


def by_optimum(seen: Mapping[str, Any]) -> float:
    """What crosses between nodes, by the least that could."""
    best = rebalance_cuts.least(seen["pairs"], list(seen["homes"]), seen["slots"])
    return rebalance_cuts.crossing(seen["pairs"], seen["homes"]) / best


def _named(found: Mapping[str, Any]) -> dict[str, Any]:
    return {_FIRST: found["first"], _THEN: found["then"]}


def _row(name: str, seen: Mapping[str, Any]) -> tuple[str, ...]:
    crossed_mb = rebalance_cuts.crossing(seen["pairs"], seen["homes"]) / seen["batches"] / 1e6
    took_s = sorted(seen["took_s"])
    return (
        name, rebalance_cuts.spread(seen["homes"]), f"{crossed_mb:.1f}", f"{by_optimum(seen):.2f}",
        f"{statistics.median(took_s):.2f}", f"{took_s[int(0.9 * (len(took_s) - 1))]:.2f}",
    )  # fmt: skip


def _measure(mode: str) -> dict[str, Any]:
    """One job; under `Act` until a move was judged, or half an hour without one."""
    with rebalance_links.stage(_SLOTS) as (stage, slots):
        job = _SENDER.start(stage, mode=mode)
        job.wait("condition=Ready")

        def seen(what: str) -> dict[str, Any]:
            found = {**rebalance_links.measured((job,), _BATCHES)[job.name], "slots": slots}
            print(f"placement {mode}, {what}: {statistics.median(found['took_s']):.2f} s a batch", flush=True)
            return found

        rebalance_links.next_batches((job,), rebalance_links.WARM)
        found = {"first": seen("first")}
        if mode == "Act":
            rebalance_place.seen_within(_MOVES_S, lambda: rebalance_links.moved((job,)))
            found["then"] = seen("then")
        return found
