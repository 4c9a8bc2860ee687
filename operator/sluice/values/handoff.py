"""`status.handoff`: how one driver takes over from another, or did. `status.givenUp`: what is not tried any more.

Read and written by plan alone.
"""

import dataclasses
from typing import Any

from sluice.values import driver_state
from sluice.values.streamjob import Body

PREPARING = "Preparing"  # the new driver comes up beside the old, and waits at its gate
DRAINING = "Draining"  # the old one ends its batch
REPLACING = "Replacing"  # the old one ends, then the new one starts: both at once is not wanted, or has no room
TAKING = "Taking"  # only the new one may write
PROVING = "Proving"  # it has committed a batch; some more, and it has proved itself
DONE = "Done"
CANCELLED = "Cancelled"  # the old one goes on
ROLLED_BACK = "RolledBack"  # the new one had written; what ran before it runs again
_LONGEST = 1024  # of a sentence, as the CRD has it
_ON = (PREPARING, DRAINING, REPLACING, TAKING, PROVING)


@dataclasses.dataclass(frozen=True)
class Handoff:
    """The last one; none yet if it has no phase."""

    phase: str = ""
    why: str = ""
    message: str = ""  # where it stands, or how it ended
    old_pod: str = ""
    old_revision: str = ""
    pod: str = ""
    revision: str = ""
    attempt: int = 0
    uid: str = ""  # of the new driver; empty: it was not seen yet
    since_s: float = 0.0  # of this phase
    waiting: int = 0  # queries at the new driver's gate
    waiting_s: float = 0.0  # since when there are so many
    from_batch: int | None = None  # the last of the old driver
    to_batch: int | None = None  # the first of the new one
    pause_ms: int | None = None  # between their commits
    slo_met: bool = False  # by the old driver, at its end
    late_from: int | None = None  # the batch since which the new one misses it
    degraded: bool = False  # cancelled, and then done by ending the old driver first

    @property
    def before(self) -> bool:
        """Whether the old driver is the one that runs the job."""
        return self.phase in (PREPARING, DRAINING)

    @property
    def moves(self) -> bool:
        """Whether it only brings the driver to another node: there is no revision to try."""
        return self.revision == self.old_revision

    @property
    def on(self) -> bool:
        """Whether it is under way."""
        return self.phase in _ON

    def write(self) -> Body:
        """As `status.handoff` says it; None takes a field away."""
        return {
            "phase": self.phase,
            "why": self.why[:_LONGEST],
            "message": self.message[:_LONGEST],
            "from": {"pod": self.old_pod, "revision": self.old_revision},
            "to": {"pod": self.pod, "revision": self.revision, "attempt": self.attempt, "uid": self.uid},
            "since": driver_state.timestamp(self.since_s),
            "waiting": self.waiting,
            "waitingSince": driver_state.timestamp(self.waiting_s) if self.waiting else None,
            "fromBatch": self.from_batch,
            "toBatch": self.to_batch,
            "pauseMs": self.pause_ms,
            "sloMet": self.slo_met or None,
            "lateFrom": self.late_from,
            "degraded": self.degraded or None,
        }


def read(status: Body) -> Handoff:
    """From a StreamJob's whole status."""
    found: dict[str, Any] = status.get("handoff") or {}
    if not found:
        return Handoff()
    old, new = found["from"], found["to"]
    return Handoff(
        phase=found["phase"],
        why=found.get("why", ""),
        message=found.get("message", ""),
        old_pod=old["pod"],
        old_revision=old["revision"],
        pod=new["pod"],
        revision=new["revision"],
        attempt=new["attempt"],
        uid=new.get("uid", ""),
        since_s=driver_state.seconds(found["since"]),
        waiting=found.get("waiting", 0),
        waiting_s=driver_state.seconds(found["waitingSince"]) if "waitingSince" in found else 0.0,
        from_batch=found.get("fromBatch"),
        to_batch=found.get("toBatch"),
        pause_ms=found.get("pauseMs"),
        slo_met=found.get("sloMet", False),
        late_from=found.get("lateFrom"),
        degraded=found.get("degraded", False),
    )


@dataclasses.dataclass(frozen=True)
class GivenUp:
    """A revision that failed, and the one that runs instead until the spec is changed."""

    revision: str
    instead: str
    why: str
    at_s: float

    def write(self) -> Body:
        """As `status.givenUp` says it."""
        at = driver_state.timestamp(self.at_s)
        return {"revision": self.revision, "instead": self.instead, "why": self.why[:_LONGEST], "at": at}


def read_given_up(status: Body) -> GivenUp | None:
    """From a StreamJob's whole status."""
    found: dict[str, Any] = status.get("givenUp") or {}
    if not found:
        return None
    return GivenUp(found["revision"], found["instead"], found["why"], driver_state.seconds(found["at"]))
