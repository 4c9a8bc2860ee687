"""What the agent of a driver measured of its last batches: who sent how much to whom, who worked how long.

Made by observe, read by plan.
"""

import dataclasses
from collections.abc import Mapping

Pairs = Mapping[str, Mapping[str, int]]  # bytes, from → to, executors as Spark numbers them


@dataclasses.dataclass(frozen=True, slots=True)
class Query:
    """The last batches of one query: fifty to a hundred, once there were so many."""

    name: str
    batches: int
    seconds: float  # that they took: what passed between two of them is not in it
    batch_ms: float  # in the mean
    batch_p90_ms: float
    run_ms: Mapping[str, float]  # by executor
    rows: Mapping[str, int]  # by executor
    pairs: Pairs  # what was shuffled


@dataclasses.dataclass(frozen=True, slots=True)
class Traffic:
    """All of it, at one moment."""

    at_s: float  # since 1970, by the API server's clock
    queries: tuple[Query, ...]

    @property
    def begins_s(self) -> float:
        """The first batch of it began then at the latest."""
        return self.at_s - max((one.seconds for one in self.queries), default=0.0)
