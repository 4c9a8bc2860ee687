"""Ours for half an hour after a node slowed down: nothing swings, at most one executor moves; part of `rebalance`.

The job, the nodes and what is looked at are those of :mod:`bench.rebalance_runtime`.
"""

import functools

from bench import ledger, outcome, rebalance_runtime, rebalance_seen

_SWING, _MOST_SWINGS, _MOST_MOVES = 0.03, 1, 1  # a tenth of an equal part; one turn is a step too far, two are a swing


def run(book: ledger.Ledger) -> outcome.Outcome:
    """One run, remembered."""
    kept = book.once("half an hour", functools.partial(rebalance_runtime.measure, rebalance_runtime.BOTH, None))
    looks = [rebalance_seen.kept_look(one) for one in kept["looks"]]
    after = [one for one in looks if one.at_s >= kept["at_s"]]
    parts = [part for _, part in rebalance_seen.parts(after, kept["executor"])]
    weights = [look.weights[kept["executor"]] for look in after if kept["executor"] in look.weights]
    swings = {what: rebalance_seen.turns(values, _SWING) for what, values in (("read", parts), ("weight", weights))}
    moved = rebalance_seen.moves(after)
    ends = f"{parts[0]:.1%} → {parts[-1]:.1%}"
    rows = ((str(len(after)), str(moved), ends, f"{min(parts):.1%}", str(swings["read"]), str(swings["weight"])),)
    header = (
        "looks", "moves", "slow node's part of the input", "least",
        f"turns of that by more than {_SWING:.0%}", "of its weight",
    )  # fmt: skip
    title = f"{rebalance_runtime.BOTH.way.name}, for half an hour after the node slowed down"
    bars = (
        outcome.Bar("half-hour-moves", moved, _MOST_MOVES),
        outcome.Bar("half-hour-swings", max(swings.values()), _MOST_SWINGS),
    )
    return outcome.Outcome((outcome.Table(title, header, rows),), bars)
