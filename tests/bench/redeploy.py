"""``make bench NAME=redeploy``: what a change costs a job that runs under load, on the cluster.

Parts come one after another, each is remembered.
"""

from bench import (
    ledger,
    outcome,
    redeploy_drains,
    redeploy_nodes,
    redeploy_pause,
    redeploy_points,
    redeploy_refusals,
    redeploy_rollback,
    redeploy_rolling,
)

_PARTS = (
    redeploy_pause,
    redeploy_rolling,
    redeploy_drains,
    redeploy_rollback,
    redeploy_points,
    redeploy_nodes,
    redeploy_refusals,
)


def run(book: ledger.Ledger) -> outcome.Outcome:
    """All parts."""
    return outcome.total([part.run(book) for part in _PARTS])
