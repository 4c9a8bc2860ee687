"""``make bench NAME=redeploy``: what a change costs a job that runs under load, on the cluster.

Parts come one after another, each is remembered.
"""

from bench import ledger, outcome, redeploy_pause

_PARTS = (redeploy_pause,)


def run(book: ledger.Ledger) -> outcome.Outcome:
    """All parts."""
    return outcome.total([part.run(book) for part in _PARTS])
