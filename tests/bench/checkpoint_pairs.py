"""The jobs that are drained: every pair of kinds that Spark allows, in few jobs.

Values only; :mod:`bench.checkpoint_drains` runs them.
"""

import dataclasses
import itertools
from collections.abc import Iterator, Sequence

FACTORS = {
    "source": ("rate", "kafka", "file", "tick"),
    "sink": ("foreachBatch", "file", "kafka"),
    "state": ("none", "aggregation", "dedup", "join", "transformWithState"),
    "store": ("posix", "s3a"),
    "engine": ("MicroBatch", "RealTime"),
}
# What Spark 4.3 refuses in Real-Time Mode; `checkpoint_refusals` asks it.
NOT_IN_REAL_TIME = {"source": ("rate", "file"), "sink": ("foreachBatch", "file"), "state": ("join",)}
Pair = frozenset[tuple[str, str]]


@dataclasses.dataclass(frozen=True)
class Kinds:
    """One job; `tick` is the tests' own DSv2 source."""

    source: str
    sink: str
    state: str
    store: str
    engine: str

    def __str__(self) -> str:
        return " ".join(dataclasses.astuple(self))

    def pairs(self) -> set[Pair]:
        """All pairs of kinds it has."""
        return {frozenset(pair) for pair in itertools.combinations(dataclasses.asdict(self).items(), 2)}

    def allowed(self) -> bool:
        """Whether Spark runs it."""
        named = dataclasses.asdict(self)
        refused = any(named[factor] in values for factor, values in NOT_IN_REAL_TIME.items())
        return self.engine == "MicroBatch" or not refused


def covering() -> list[Kinds]:
    """Few jobs that have every pair between them: always the one that adds most."""
    left = set().union(*(kinds.pairs() for kinds in _all()))
    found: list[Kinds] = []
    while left:
        best = max(_all(), key=lambda kinds: len(kinds.pairs() & left))
        found.append(best)
        left -= best.pairs()
    return found


def refused_pairs() -> list[tuple[str, str]]:
    """What no job of the table can have together."""
    possible = set().union(*(kinds.pairs() for kinds in _all()))
    named: Sequence[list[tuple[str, str]]] = [[(factor, v) for v in values] for factor, values in FACTORS.items()]
    wanted = (frozenset(pair) for a, b in itertools.combinations(named, 2) for pair in itertools.product(a, b))
    return sorted(tuple(sorted(value for _, value in pair)) for pair in wanted if pair not in possible)  # type: ignore[misc]


def _all() -> Iterator[Kinds]:
    return (kinds for values in itertools.product(*FACTORS.values()) if (kinds := Kinds(*values)).allowed())
