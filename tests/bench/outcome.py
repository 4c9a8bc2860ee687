"""What a bench says: tables for a reader, bars for a verdict. Values only; ``python -m bench`` files them."""

import dataclasses
from collections.abc import Sequence


@dataclasses.dataclass(frozen=True)
class Table:
    """Rows under a header, and a sentence on what they show."""

    title: str
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]

    def lines(self) -> list[str]:
        """The table in Markdown."""
        body = [self.header, ("---",) * len(self.header), *self.rows]
        return [f"**{self.title}**", "", *("| " + " | ".join(row) + " |" for row in body), ""]


@dataclasses.dataclass(frozen=True)
class Bar:
    """One figure and its limit: at most that, or at least."""

    name: str
    value: float
    limit: float
    at_least: bool = False

    def holds(self) -> bool:
        """Whether the figure keeps to its limit."""
        return self.value >= self.limit if self.at_least else self.value <= self.limit

    def line(self) -> str:
        """`bar <name> <value> <limit> ok|short`."""
        sign = ">=" if self.at_least else "<="
        return f"bar {self.name} {self.value:.4g} {sign}{self.limit:g} {'ok' if self.holds() else 'short'}"


@dataclasses.dataclass(frozen=True)
class Outcome:
    """All that one bench found."""

    tables: tuple[Table, ...]
    bars: tuple[Bar, ...]

    def __add__(self, other: "Outcome") -> "Outcome":
        return Outcome(self.tables + other.tables, self.bars + other.bars)


def total(outcomes: Sequence[Outcome]) -> Outcome:
    """Several outcomes as one."""
    return sum(outcomes, Outcome((), ()))
