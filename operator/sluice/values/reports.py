"""What a driver says of itself, by its agent, in the job's Lease: as `images/agent/README.md` has it.

Made by observe, read by plan.
"""

import dataclasses


@dataclasses.dataclass(frozen=True, slots=True)
class Query:
    """One query of the program. A number that nobody knows is None."""

    id: str
    name: str  # the id where the user gave none
    engine: str  # MicroBatch or RealTime
    phase: str  # gate, running, parked or ended
    epoch: int = 0
    committed: int = -1  # the last batch that is; -1: none
    problem: str = ""
    batch: int | None = None  # the last that was measured
    batch_ms: int | None = None
    lag: float | None = None
    input_rows_per_s: float | None = None
    processed_rows_per_s: float | None = None
    warm: bool = False  # all that was ordered at the closed gate was done
    in_flight: int = -1  # the batch begun and not committed; -1: none
    committed_at_ms: int = 0  # since 1970, by the driver's clock; 0: it has committed nothing itself
    first_commit_at_ms: int = 0
    split: str | None = None  # empty: its input is cut; else why it is left alone; None: nobody says
    settled: bool | None = None  # Lever's shares are about the same as three batches ago; None: nobody says
    slow: tuple[str, ...] = ()  # executors that get much less than an equal part by them


@dataclasses.dataclass(frozen=True, slots=True)
class Report:
    """All of it, at one moment."""

    at_s: float  # since 1970, by the API server's clock
    phase: str  # Starting, Waiting, Running, Draining, Quiet, Stopped, DrainTimedOut, Ended, Silent, Unmanaged
    refused: str = ""  # why it does not follow the newest orders
    problem: str = ""  # why it is plain Spark, or a query of it unprotected
    drain_problem: str = ""
    queries: tuple[Query, ...] = ()
    order: int = 0  # the last one carried out
    gate_open: bool = False
    drain_id: str = ""
    drain: str = "none"  # none, draining, quiet, stopped or timed-out
    application: str = ""  # Spark's id of it

    @property
    def is_drained(self) -> bool:
        """Whether it writes no more, and has told its last commit."""
        return self.drain in ("quiet", "stopped")
