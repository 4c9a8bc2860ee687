"""`status.driver`: which attempt was begun, and how the last one that failed ended. Read and written by plan alone."""

import dataclasses
import datetime

from sluice.values.streamjob import Body

LONGEST_WORDS = 1024  # of a driver's last ones


@dataclasses.dataclass(frozen=True)
class Failure:
    """How an attempt ended that should not have."""

    attempt: int
    exit_code: int
    reason: str  # CamelCase: OutOfMemory, ImagePull, …
    message: str  # our sentence in the first line, the driver's last words below
    at_s: float

    @property
    def sentence(self) -> str:
        """What happened, without the last words."""
        return self.message.partition("\n")[0]


@dataclasses.dataclass(frozen=True)
class DriverState:
    """The attempt that was begun last. Recorded before its pod is made, with its uid once that was seen."""

    attempt: int = 0  # 0: none yet
    pod: str = ""
    uid: str = ""  # empty: its pod was not seen yet
    revision: str = ""
    rolled_to: str = ""  # the revision it was brought to while it ran
    ordered_s: float | None = None  # when it was last told something about its executors
    restarts: int = 0  # in a row, since it last was healthy for a while
    since_s: float = 0.0
    retry_s: float | None = None  # not before
    last_failure: Failure | None = None

    def write(self) -> Body:
        """As `status.driver` says it; None takes a field away."""
        return {
            "attempt": self.attempt,
            "pod": self.pod,
            "uid": self.uid,
            "restarts": self.restarts,
            "since": timestamp(self.since_s),
            "retryAt": None if self.retry_s is None else timestamp(self.retry_s),
            "rolledTo": self.rolled_to or None,
            "orderedAt": None if self.ordered_s is None else timestamp(self.ordered_s),
            "lastFailure": None if self.last_failure is None else _write_failure(self.last_failure),
        }


def read(status: Body) -> DriverState:
    """From a StreamJob's whole status."""
    driver = status.get("driver") or {}
    failed = driver.get("lastFailure")
    retry, ordered = driver.get("retryAt"), driver.get("orderedAt")
    return DriverState(
        attempt=driver.get("attempt", 0),
        pod=driver.get("pod", ""),
        uid=driver.get("uid", ""),
        revision=status.get("revision", ""),
        rolled_to=driver.get("rolledTo") or "",
        ordered_s=None if ordered is None else seconds(ordered),
        restarts=driver.get("restarts", 0),
        since_s=seconds(driver["since"]) if "since" in driver else 0.0,
        retry_s=None if retry is None else seconds(retry),
        last_failure=None if failed is None else _read_failure(failed),
    )


def _write_failure(failure: Failure) -> Body:
    return {
        "attempt": failure.attempt,
        "exitCode": failure.exit_code,
        "reason": failure.reason,
        "message": failure.message,
        "at": timestamp(failure.at_s),
    }


def _read_failure(found: Body) -> Failure:
    return Failure(found["attempt"], found["exitCode"], found["reason"], found["message"], seconds(found["at"]))


def timestamp(at_s: float) -> str:
    """Seconds since 1970 as Kubernetes writes a moment: in UTC, whole seconds."""
    return datetime.datetime.fromtimestamp(int(at_s), datetime.UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def seconds(text: str) -> float:
    """Seconds since 1970 of a moment as Kubernetes writes it."""
    return datetime.datetime.fromisoformat(text).timestamp()
