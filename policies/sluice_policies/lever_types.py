"""What goes into a step of :mod:`sluice_policies.lever` and what is remembered between two. Values only.

Named tuples, not dataclasses: a step makes one per executor, and a thousand frozen dataclasses cost a millisecond.
"""

import dataclasses
from typing import NamedTuple

from sluice_policies import bounds


class Measured(NamedTuple):
    """One executor in the last batch."""

    name: str
    rows: int
    finish_s: float
    """From the job's start to the end of its last task on this executor (NFT, section 3.2); 1 us at least."""


class Share(NamedTuple):
    """The rows of the next batch that an executor is to carry."""

    name: str
    rows: int


@dataclasses.dataclass(frozen=True)
class Batch:
    """What is known when the next batch is about to be cut; in any order."""

    measured: tuple[Measured, ...]
    """The last batch, each executor once. Who carried nothing may be left out."""
    live: tuple[str, ...]
    """Who can take rows now. A name not in here is dead: it gets nothing and is forgotten."""
    rows: int
    """How many rows the next batch holds, 0 to 10**15."""
    arrived: tuple[Share, ...] = ()
    """Only for `published`: the rows each executor's receiver took in. Empty: an equal part each."""

    def __post_init__(self) -> None:
        bounds.within("rows", self.rows, 0, 10**15)
        bounds.distinct("live", self.live)
        bounds.distinct("measured", [one.name for one in self.measured])
        bounds.distinct("arrived", [one.name for one in self.arrived])
        for name, rows, finish_s in self.measured:
            # One comparison each on the good way: this runs for every executor of every batch.
            if not (rows == 0 or (0 < rows <= 10**15 and 1e-6 <= finish_s <= 1e9)):
                bounds.within(f"measured[{name}].rows", rows, 0, 10**15)
                bounds.within(f"measured[{name}].finish_s", finish_s, 1e-6, 1e9)
        if self.arrived and sum(one.rows for one in self.arrived) != self.rows:
            arrived = sum(one.rows for one in self.arrived)
            raise ValueError(f"arrived={arrived} rows in all: allowed is rows={self.rows}")


class State(NamedTuple):
    """What was learned: a capacity per executor, in the order of names. Start with ``State(())``."""

    capacities: tuple[tuple[str, float], ...]
    """`all`: rows per second. `published`: rows per batch (C of Eq. 1)."""
