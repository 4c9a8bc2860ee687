"""The sums of what batches did, per query and executor. From :mod:`sluice_agent.talk` to :mod:`sluice_agent.metrics`.

Who is gone leaves: an executor when its query ended a batch without it for a minute, a query when it has ended. Bounded
whatever is said: beyond the most, the stalest leave first.
"""

import bisect
from collections.abc import Callable, Sequence

from sluice_agent import batches, heard, traffic

BATCH_S = (0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 60.0, 300.0)
TASK_S = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 20.0, 60.0)
MOST_PARTS = 2000  # of a query and an executor each
_EXECUTOR_GONE_S, _QUERY_GONE_S = 60.0, 300.0
_MIDDLE = 33 / 32  # of a bucket, whose upper edge is 1/16 above its lower one


class Histogram:
    """Counts below some edges."""

    def __init__(self, edges: Sequence[float]) -> None:
        self.edges = edges
        self.counts = [0] * (len(edges) + 1)
        self.sum = 0.0

    def add(self, value: float, count: int = 1) -> None:
        """So many values."""
        self.counts[bisect.bisect_left(self.edges, value)] += count
        self.sum += value * count


class Part:
    """What one executor did for one query."""

    def __init__(self) -> None:
        self.sums = dict.fromkeys(batches.WORK, 0.0)
        self.tasks = Histogram(TASK_S)
        self.at_s = 0.0

    def add(self, work: batches.Work, at_s: float) -> None:
        """Its share of a batch."""
        self.at_s = at_s
        for field, value in work.sums.items():
            self.sums[field] += value
        for edge_s, count in work.task_s:
            self.tasks.add(edge_s * _MIDDLE, count)


class Query:
    """What the batches of one query did."""

    def __init__(self) -> None:
        self.batches = 0
        self.rows = self.dropped = self.own_s = 0.0
        self.part_s: dict[str, float] = {}
        self.took = Histogram(BATCH_S)
        self.at_s = 0.0
        self.last: batches.Batch

    def add(self, batch: batches.Batch, at_s: float) -> None:
        """One more."""
        self.at_s, self.last = at_s, batch
        self.batches += 1
        self.rows += batch.rows
        self.dropped += batch.dropped
        self.own_s += batch.own_s
        self.took.add(batch.took_s)
        for part, took_s in batch.part_s.items():
            self.part_s[part] = self.part_s.get(part, 0.0) + took_s


class Tally:
    """Of one driver, since the agent started."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self.queries: dict[str, Query] = {}  # by name
        self.parts: dict[tuple[str, str], Part] = {}  # by the query's name and the executor's id
        self.refused = 0  # documents of the plugin
        self.traffic = traffic.Traffic()
        self._clock = clock

    def add(self, batch: batches.Batch) -> None:
        """A batch has ended."""
        now_s = self._clock()
        self.traffic.add(batch)
        query = self.queries.get(batch.name) or Query()
        query.add(batch, now_s)
        self.queries[batch.name] = query  # only now: other threads look
        for executor, work in batch.executors.items():
            self.parts.setdefault((batch.name, executor), Part()).add(work, now_s)
        for key, part in list(self.parts.items()):
            if key[0] == batch.name and now_s - part.at_s > _EXECUTOR_GONE_S:
                del self.parts[key]
        self._bound()

    def keep(self, state: heard.State) -> None:
        """Queries that no longer live leave."""
        alive = {query.name for query in state.queries if query.phase != "ended"}
        now_s = self._clock()
        for name, query in list(self.queries.items()):
            if name not in alive and now_s - query.at_s > _QUERY_GONE_S:
                self._drop(name)

    def _bound(self) -> None:
        while len(self.queries) > heard.MOST_QUERIES:
            self._drop(min(self.queries, key=lambda name: self.queries[name].at_s))
        if len(self.parts) > MOST_PARTS:
            stalest = sorted(self.parts, key=lambda key: self.parts[key].at_s)
            for key in stalest[: len(self.parts) - MOST_PARTS]:
                del self.parts[key]

    def _drop(self, name: str) -> None:
        del self.queries[name]
        self.traffic.forget(name)
        for key in [key for key in self.parts if key[0] == name]:
            del self.parts[key]
