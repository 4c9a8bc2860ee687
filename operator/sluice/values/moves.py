"""`status.placement.move`, the executor that is on its way to another node, and `status.placement.moves`, those before.

Read and written by plan alone. The record is bounded: :mod:`sluice.plan.restraint` says what has to be remembered.
"""

import dataclasses
from typing import Any, Literal

from sluice.values import driver_state
from sluice.values.streamjob import Body

MOVING = "Moving"  # its replacement comes up on the node, then it goes
WATCHED = "Watched"  # it is there; so many batches as before, and it is judged
Cause = Literal["Traffic", "Load"]
TRAFFIC: Cause = "Traffic"  # it is to be where those are that it talks to
LOAD: Cause = "Load"  # its node does more than the others

BETTER = "Better"  # it stays
UNDONE = "Undone"  # it did not help
UNDO = "Undo"  # the way back
MISSED = "Missed"  # it never arrived
UNJUDGED = "Unjudged"  # something else changed meanwhile
OBSERVED = "Observed"  # it would have been, but placement.mode is Observe
_LONGEST = 512


@dataclasses.dataclass(frozen=True, slots=True)
class Measures:
    """What some batches of a job cost, and how far the one that moves was from those it talks to."""

    batches: int
    batch_ms: float  # in the mean
    rows: int
    bytes: int  # between the executor and others
    cross_bytes: int  # of them between nodes

    @property
    def cross_share(self) -> float:
        """The part of its bytes that crosses between nodes: it does not change with the load."""
        return self.cross_bytes / self.bytes if self.bytes else 0.0

    @property
    def rows_per_batch(self) -> float:
        """The load."""
        return self.rows / self.batches if self.batches else 0.0


@dataclasses.dataclass(frozen=True, slots=True)
class Wish:
    """What the plan of all jobs would have of one."""

    executor: str  # its pod
    source: str
    target: str
    cause: Cause
    why: str
    before: Measures


@dataclasses.dataclass(frozen=True, slots=True)
class Move:
    """One that is under way, or watched."""

    wish: Wish
    phase: str
    at_s: float  # it was begun
    since_s: float  # of this phase
    driver: str  # whose executor it is; its pod
    newest: int  # its youngest executor when it was begun, as Spark counts: who comes later has a higher number
    replacement: str = ""  # the pod that came in its place
    undoes: bool = False

    def write(self) -> Body:
        """As `status.placement.move` says it; None takes a field away."""
        before = self.wish.before
        return {
            "phase": self.phase,
            "executor": self.wish.executor,
            "from": self.wish.source,
            "to": self.wish.target,
            "cause": self.wish.cause,
            "why": self.wish.why[:_LONGEST],
            "at": driver_state.timestamp(self.at_s),
            "since": driver_state.timestamp(self.since_s),
            "driver": self.driver,
            "newest": self.newest,
            "replacement": self.replacement or None,
            "undoes": self.undoes or None,
            "before": {
                "batches": before.batches,
                "batchMs": round(before.batch_ms, 1),
                "rows": before.rows,
                "bytes": before.bytes,
                "crossBytes": before.cross_bytes,
            },
        }


@dataclasses.dataclass(frozen=True, slots=True)
class Past:
    """One that is over."""

    at_s: float  # it was begun
    ended_s: float
    source: str
    target: str
    outcome: str

    def write(self) -> Body:
        """As an entry of `status.placement.moves`."""
        return {
            "at": driver_state.timestamp(self.at_s),
            "ended": driver_state.timestamp(self.ended_s),
            "from": self.source,
            "to": self.target,
            "outcome": self.outcome,
        }


@dataclasses.dataclass(frozen=True)
class Record:
    """All that is remembered of a job's moves."""

    now: Move | None = None
    past: tuple[Past, ...] = ()  # the last one last

    def write(self) -> dict[str, Any]:
        """As fields of `status.placement`."""
        return {"move": self.now.write() if self.now else None, "moves": [one.write() for one in self.past]}


def read(status: Body) -> Record:
    """From a StreamJob's whole status."""
    placement: dict[str, Any] = status.get("placement") or {}
    past = tuple(
        Past(
            driver_state.seconds(one["at"]), driver_state.seconds(one["ended"]), one["from"], one["to"], one["outcome"]
        )
        for one in placement.get("moves", ())
    )
    return Record(_read_move(placement["move"]) if placement.get("move") else None, past)


def _read_move(found: Body) -> Move:
    cost = found["before"]
    before = Measures(cost["batches"], cost["batchMs"], cost["rows"], cost["bytes"], cost["crossBytes"])
    return Move(
        wish=Wish(found["executor"], found["from"], found["to"], found["cause"], found["why"], before),
        phase=found["phase"],
        at_s=driver_state.seconds(found["at"]),
        since_s=driver_state.seconds(found["since"]),
        driver=found["driver"],
        newest=found["newest"],
        replacement=found.get("replacement") or "",
        undoes=bool(found.get("undoes")),
    )
