"""What is seen of a job around the moment when a node changes: its batches, and looks at what Sluice makes of it. Pure.

A batch is told by the program (:mod:`bench.rebalance_job`); what is looked at, and how often, says who measures.
"""

import dataclasses
import datetime
import itertools
import statistics
from collections.abc import Mapping, Sequence
from typing import Any

_SHIFTED = 0.85  # of its usual part of the input: less than noise makes of it
MOVES = ("Move", "Undo")  # kinds of decisions
_UNSETTLED, _SLOW = "have not settled", "can carry less than half"


@dataclasses.dataclass(frozen=True)
class Batch:
    """One that has ended, in seconds since 1970."""

    number: int
    began_s: float
    lasted_s: float  # all of it
    took_s: float  # its tasks

    @property
    def ended_s(self) -> float:
        """When the next one could begin."""
        return self.began_s + self.lasted_s


@dataclasses.dataclass(frozen=True)
class Look:
    """What agent and operator say at one moment."""

    at_s: float
    batch: int  # the last one that was measured
    rows: Mapping[str, float]  # that each executor has read until then
    balanced: tuple[str, str]  # reason and message of the condition
    weights: Mapping[str, float]  # in the orders
    moves: tuple[tuple[str, str], ...]  # decisions to move an executor: when, what


def batch(said: Mapping[str, Any]) -> Batch:
    """As the program tells it."""
    began_s = datetime.datetime.fromisoformat(said["began"]).timestamp()
    return Batch(said["batch"], began_s, said["lasted_s"], said["took_s"])


def kept_look(kept: Mapping[str, Any]) -> Look:
    """As JSON has kept it."""
    reason, message = kept["balanced"]
    moved = tuple((at, what) for at, what in kept["moves"])
    return Look(**{**kept, "balanced": (reason, message), "moves": moved})


def within(batches: Sequence[Batch], from_s: float, to_s: float) -> list[Batch]:
    """Those that began and ended in a span of time: whatever changed at its ends, it was none of theirs."""
    return [one for one in batches if one.began_s >= from_s and one.ended_s <= to_s]


def hit(batches: Sequence[Batch], at_s: float) -> list[Batch]:
    """Those that ran at a moment or later."""
    return [one for one in batches if one.ended_s > at_s]


def until_near(took_s: Sequence[float], goal_s: float, near: float) -> int:
    """Which batch is the first that comes so near to the goal, with the next one; one more than there are: none."""
    quick = [one <= goal_s * (1 + near) for one in took_s]
    pairs = itertools.pairwise(quick)
    return next((number for number, both in enumerate(pairs, 1) if all(both)), len(quick) + 1)


def p99(values: Sequence[float]) -> float:
    """Of one turn."""
    return sorted(values)[int(0.99 * (len(values) - 1))]


def parts(looks: Sequence[Look], executor: str) -> list[tuple[Look, float]]:
    """Which part of the input an executor read from each look to the next, with the later look."""
    found = []
    for before, now in itertools.pairwise(looks):
        rows = {name: many - before.rows.get(name, 0.0) for name, many in now.rows.items()}
        if now.batch > before.batch and sum(rows.values()) > 0:
            found.append((now, rows.get(executor, 0.0) / sum(rows.values())))
    return found


def agent_saw(looks: Sequence[Look], batches: Sequence[Batch], executor: str, at_s: float) -> int | None:
    """Which batch begun after a moment was the first to give an executor less; None: none did."""
    later = {one.number for one in batches if one.began_s >= at_s}
    found = parts(looks, executor)
    usual = statistics.median(part for look, part in found if look.at_s <= at_s)
    shifted = (look.batch for look, part in found if look.batch in later and part < _SHIFTED * usual)
    return next((sum(number <= last for number in later) for last in shifted), None)


def operator_saw_s(looks: Sequence[Look], at_s: float) -> float | None:
    """How long after a moment the operator said who is slow, or what shifts, or shifted it itself; None: it did not."""
    before = next(look for look in reversed(looks) if look.at_s <= at_s)
    news = (look for look in looks if look.at_s > at_s and _is_news(before, look))
    return next((look.at_s - at_s for look in news), None)


def _is_news(before: Look, now: Look) -> bool:
    named = _SLOW in now.balanced[1] and _SLOW not in before.balanced[1]
    return named or now.weights != before.weights or (shifts(now) and not shifts(before))


def shifts(look: Look) -> bool:
    """Whether the operator says that something does."""
    reason, message = look.balanced
    return reason == "Shifting" or _UNSETTLED in message


def moves(looks: Sequence[Look]) -> int:
    """How often an executor was moved, ways back included."""
    return len({move for look in looks for move in look.moves})


def turns(values: Sequence[float], least: float) -> int:
    """How often a series goes the other way, by so much at least."""
    turned, heading = 0, 0
    low, high = (values[0], values[0]) if values else (0.0, 0.0)
    for value in values:
        low, high = min(low, value), max(high, value)
        if heading >= 0 and value <= high - least:
            turned, heading, low = turned + (heading > 0), -1, value
        elif heading <= 0 and value >= low + least:
            turned, heading, high = turned + (heading < 0), 1, value
    return turned
