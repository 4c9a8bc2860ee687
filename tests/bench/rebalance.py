"""``make bench NAME=rebalance``: the loops of minutes. One part per claim; each gives tables and bars."""

from bench import ledger, outcome, rebalance_day

PARTS = (rebalance_day,)


def run(book: ledger.Ledger) -> outcome.Outcome:
    """All parts."""
    return outcome.total([part.run(book) for part in PARTS])
