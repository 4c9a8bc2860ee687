"""A day of noisy load, minute by minute, drawn once from a seed: what six jobs read and shuffle, and how nodes fare.

Nothing here knows where an executor sits. A job's executors are slots; whoever comes in place of one has its slot. In a
job that is fickle who talks to whom is drawn anew when anybody moves, so that no plan keeps what it promised.
"""

import dataclasses
import math
import random
from collections.abc import Mapping

MINUTES = 24 * 60
NODES = tuple(f"node{number}" for number in range(1, 7))
BATCH_S = 5.0


@dataclasses.dataclass(frozen=True)
class Kind:
    """A job, as the trace draws it."""

    name: str
    slots: int
    policy: str
    most_moves: int  # an hour
    shape: str  # alike, blocks or fickle: who talks to whom
    rows_per_s: int


KINDS = (
    Kind("clicks", 6, "consolidate", 12, "alike", 20_000),
    Kind("views", 4, "consolidate", 2, "blocks", 8_000),
    Kind("orders", 5, "consolidate", 6, "fickle", 5_000),
    Kind("carts", 4, "turbostream", 3, "blocks", 12_000),
    Kind("bids", 6, "stromax", 4, "alike", 16_000),
    Kind("fraud", 5, "stromax", 1, "fickle", 6_000),
)


@dataclasses.dataclass(frozen=True)
class Minute:
    """Of one job."""

    rows: int
    noise: float  # of its batches' time
    pairs: Mapping[tuple[int, int], float]  # bytes for each row, by slots


class Trace:
    """The same seed gives the same day."""

    def __init__(self, seed: int) -> None:
        self._seed = seed
        self._phases = {kind.name: random.Random(f"{seed} {kind.name}").uniform(0, 2 * math.pi) for kind in KINDS}

    def of(self, kind: Kind, minute: int, moved: int) -> Minute:
        """What a job reads and shuffles in a minute; `moved`: how often one of its executors was."""
        dice = random.Random(f"{self._seed} {kind.name} {minute}")
        tide = 1 + 0.6 * math.sin(2 * math.pi * minute / MINUTES + self._phases[kind.name])
        burst = 2.0 if dice.random() < 0.02 else 1.0
        rows = round(kind.rows_per_s * 60 * tide * burst * math.exp(dice.gauss(0, 0.15)))
        pairs = {pair: weight * math.exp(dice.gauss(0, 0.1)) for pair, weight in self._shape(kind, minute, moved)}
        return Minute(rows, math.exp(dice.gauss(0, 0.05)), pairs)

    def speed(self, node: str, minute: int) -> float:
        """A neighbour takes a third of a node for some hours."""
        dice = random.Random(f"{self._seed} {node}")
        begins = dice.randrange(MINUTES)
        return 0.65 if begins <= minute < begins + 180 else 1.0

    def _shape(self, kind: Kind, minute: int, moved: int) -> list[tuple[tuple[int, int], float]]:
        """Blocks change twice a day, as keys do; who is fickle talks to two others."""
        pairs = [(one, other) for one in range(kind.slots) for other in range(kind.slots) if one != other]
        if kind.shape == "alike":
            return [(pair, 100.0 / kind.slots) for pair in pairs]
        era = moved if kind.shape == "fickle" else minute // (MINUTES // 2)
        order = list(range(kind.slots))
        random.Random(f"{self._seed} {kind.name} {era}").shuffle(order)
        place = {slot: number // 2 for number, slot in enumerate(order)}
        return [(pair, 60.0 if place[pair[0]] == place[pair[1]] else 4.0) for pair in pairs]
