"""`/v1/traffic` beside the metrics: who sends how much to whom, for the operator's placement.

Exact pairs are no metrics: their number is the square of the executors'. Summed over the last batches, 50 to 100 of
them. Part of :mod:`sluice_agent.tally`; :mod:`sluice_agent.metrics` serves it.
"""

import collections
from typing import Any

from sluice_agent import batches, documents, heard

_HALF_BATCHES = 50


class _Sum:
    """Of up to half a window of batches."""

    def __init__(self) -> None:
        self.batch_s: list[float] = []
        self.run_ms: collections.Counter[str] = collections.Counter()
        self.rows: collections.Counter[str] = collections.Counter()
        self.pairs: collections.Counter[tuple[str, str]] = collections.Counter()

    def add(self, batch: batches.Batch) -> None:
        self.batch_s.append(batch.took_s)
        for name, work in batch.executors.items():
            self.run_ms[name] += round(1000 * work.sums["runMs"])
            self.rows[name] += int(work.sums["rows"])
        for one, row in batch.pairs.items():
            for other, sent in row.items():
                self.pairs[one, other] += int(sent)


class Traffic:
    """Of one driver's queries."""

    def __init__(self) -> None:
        self._halves: dict[str, tuple[_Sum, _Sum]] = {}

    def add(self, batch: batches.Batch) -> None:
        """A batch has ended."""
        older, newer = self._halves.pop(batch.name, (_Sum(), _Sum()))
        if len(newer.batch_s) == _HALF_BATCHES:
            older, newer = newer, _Sum()
        newer.add(batch)
        self._halves[batch.name] = older, newer
        if len(self._halves) > heard.MOST_QUERIES:
            self.forget(next(iter(self._halves)))

    def forget(self, name: str) -> None:
        """A query is gone."""
        self._halves.pop(name, None)

    def document(self, at: str) -> dict[str, Any]:
        """As the operator reads it."""
        queries = {name: _written(*halves) for name, halves in self._halves.items()}
        return {"version": documents.VERSION, "at": at, "queries": queries}


def _written(older: _Sum, newer: _Sum) -> dict[str, Any]:
    batch_s = sorted(older.batch_s + newer.batch_s)
    run_ms, rows, pairs = older.run_ms + newer.run_ms, older.rows + newer.rows, older.pairs + newer.pairs
    sent: dict[str, dict[str, int]] = {}
    for (one, other), size in pairs.items():
        sent.setdefault(one, {})[other] = size
    return {
        "batches": len(batch_s),
        "seconds": sum(batch_s),
        "batchMs": [1000 * sum(batch_s) / len(batch_s), 1000 * batch_s[int(0.9 * (len(batch_s) - 1))]],
        "executors": {name: {"runMs": run_ms[name], "rows": rows[name]} for name in sorted(run_ms)},
        "pairs": sent,
    }
