"""What the plugin said last of its job: read strictly, kept whole, with a bell for who waits for news.

From :mod:`sluice_agent.talk` to :mod:`sluice_agent.lease` and :mod:`sluice_agent.metrics`. See `state` in
`images/spark/plugin/PROTOCOL.md`.
"""

import dataclasses
import threading
from collections.abc import Callable, Mapping
from typing import Any

from sluice_agent import documents

PHASES = ("gate", "running", "parked", "ended")
DRAINS = ("none", "draining", "quiet", "stopped", "timed-out")
_DRAINING = {"draining": "Draining", "quiet": "Quiet", "stopped": "Stopped", "timed-out": "DrainTimedOut"}
MOST_QUERIES = 50
SILENT_AFTER_S = 60.0  # its poll comes every 20 s


@dataclasses.dataclass(frozen=True)
class Query:
    """One query of the application."""

    id: str
    name: str  # the id where the user gave none
    engine: str
    phase: str
    epoch: int
    committed: int  # -1: none
    in_flight: int
    problem: str
    warm: bool  # all that was ordered at the closed gate was done
    committed_at_ms: int  # since 1970, by the driver's clock; 0: it has committed nothing itself
    first_commit_at_ms: int


@dataclasses.dataclass(frozen=True)
class State:
    """The job as its driver sees it."""

    application: str
    serial: int  # of the orders carried out
    refused: str  # why the last ones were not
    gate_open: bool
    warm_up: str
    drain_id: str
    drain: str
    drain_problem: str
    unprotected: tuple[str, ...]
    queries: tuple[Query, ...]
    number: int = dataclasses.field(compare=False)  # the plugin's: no news by itself


class Heard:
    """The last state. Written by the server's loop, read by any thread."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self.state: State | None = None
        self.unmanaged = ""
        self._clock = clock
        self._at_s: float | None = None
        self._news = threading.Condition()
        self._count = 0

    def take(self, state: State) -> None:
        """The plugin said so just now."""
        with self._news:
            self._at_s = self._clock()
            if self._is_older(state):
                return
            if (self.state, self.unmanaged) != (state, ""):
                self.ring()
            self.state, self.unmanaged = state, ""

    def take_unmanaged(self, why: str) -> None:
        """The driver runs as plain Spark, and says so once."""
        with self._news:
            self.unmanaged = why
            self.ring()

    def _is_older(self, state: State) -> bool:
        """Several threads of the plugin send; the number tells which was written last."""
        before = self.state
        return before is not None and before.application == state.application and state.number <= before.number

    def ring(self) -> None:
        """Something is new; also of what others know."""
        with self._news:
            self._count += 1
            self._news.notify_all()

    def wait(self, seen: int, wait_s: float) -> int:
        """The number of the newest news, as soon as it is another one, or after a while."""
        with self._news:
            self._news.wait_for(lambda: self._count != seen, wait_s)
            return self._count

    def now(self) -> tuple[State | None, str]:
        """State and phase of one moment: whoever reads that a drain is quiet reads its last commits beside it."""
        with self._news:
            return self.state, self.phase

    @property
    def silent_s(self) -> float:
        """How long the plugin has said nothing; 0 before its first word."""
        return 0.0 if self._at_s is None else self._clock() - self._at_s

    @property
    def phase(self) -> str:
        """The driver in one word."""
        if self.unmanaged:
            return "Unmanaged"
        if self.state is None:
            return "Starting"
        return "Silent" if self.silent_s > SILENT_AFTER_S else phase(self.state)


def phase(state: State) -> str:
    """Where a driver stands: a drain outweighs its queries, one that runs outweighs one that waits."""
    if state.drain != "none":
        return _DRAINING[state.drain]
    phases = {query.phase for query in state.queries}
    if phases & {"running", "parked"} or (state.gate_open and not phases):
        return "Running"
    return "Waiting" if "gate" in phases or not phases else "Ended"


def read(found: Mapping[str, Any]) -> State:
    """The state in a document of the plugin's."""
    drain = documents.within(found, "drain", "state.")
    queries = documents.items(found, "queries", 10_000, "state.")
    # Ended ones leave late: those that live come first.
    alive = sorted((_query(item) for item in queries), key=lambda query: query.phase == "ended")
    return State(
        documents.sentence(found, "application", 100, "state."),
        documents.whole(found, "serial", where="state."),
        documents.sentence(found, "refusedOrders", where="state."),
        documents.flag(found, "gateOpen", "state."),
        documents.sentence(found, "warmUp", where="state."),
        documents.sentence(drain, "id", 64, "state.drain."),
        documents.one_of({"state": "none", **drain}, "state", DRAINS, "state.drain."),
        documents.sentence(drain, "problem", where="state.drain."),
        _unprotected(documents.within(found, "unprotected", "state.")),
        tuple(alive[:MOST_QUERIES]),
        documents.whole({"number": None, **found}, "number", where="state."),
    )


def _query(found: Any) -> Query:
    where = "state.queries."
    if not isinstance(found, dict):
        raise documents.wrong("state.queries", found, "a list of objects")
    name = documents.name(found, "id", where)
    return Query(
        name,
        documents.sentence(found, "name", 100, where) or name,
        documents.sentence(found, "engine", 20, where),
        documents.one_of(found, "phase", PHASES, where),
        documents.whole(found, "epoch", where=where),
        documents.whole({"committed": -1, **found}, "committed", -1, where=where),
        documents.whole({"inFlight": -1, **found}, "inFlight", -1, where=where),
        documents.sentence(found, "problem", where=where),
        documents.flag(found, "warm", where),
        documents.whole(found, "committedAtMs", where=where),
        documents.whole(found, "firstCommitAtMs", where=where),
    )


def _unprotected(found: Mapping[str, Any]) -> tuple[str, ...]:
    return tuple(documents.sentence(found, query, where="state.unprotected.") for query in list(found)[:MOST_QUERIES])
