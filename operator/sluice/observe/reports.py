"""What the drivers of all jobs say in their Leases: read with care, for a driver is its user's code, and kept slim.

Every Lease is renewed each ten seconds. Only news is shown and wakes its job: at once where it decides something, else
when what was shown has grown old. Part of the mirror.
"""

import dataclasses
import datetime
import math
from collections.abc import Mapping
from typing import Any

import orjson

from sluice.values import reports
from sluice.values.streamjob import Body

Key = tuple[str, str]  # namespace and name of a StreamJob
_MOST_SLOW, _LONGEST_NUMBER = 32, 10
REFRESH_S = 60.0  # numbers that are shown may be so old: each refresh is a write of a status, and its echo
_SAID = "agent.sluice.dev/"
_MOST_DRIVERS, _MOST_QUERIES, _LONGEST = 8, 20, 64 << 10
_VERSION = 1
_PHASES = ("gate", "running", "parked", "ended")
_DRAINS = ("none", "draining", "quiet", "stopped", "timed-out")
_ON_ITS_WAY = ("Starting", "Waiting")  # nobody need hear of it at once: it passes, or is told with the next refresh
_NOTHING = reports.Report(0.0, "")


class Reports:
    """The reports that count, by job and driver."""

    def __init__(self) -> None:
        self._leases: dict[Key, str] = {}  # uids
        self._shown: dict[Key, dict[str, reports.Report]] = {}

    def of(self, key: Key) -> Mapping[str, reports.Report]:
        """By name of the driver's pod."""
        return self._shown.get(key, {})

    def see(self, key: Key, lease: Body) -> tuple[bool, bool]:
        """The metadata of a Lease as it is now. Returns whether the Lease is new, and whether its job should look."""
        is_new = self._leases.get(key) != lease["uid"]
        self._leases[key] = lease["uid"]
        shown = {} if is_new else self._shown.get(key, {})
        said = {name: text for name, text in (lease.get("annotations") or {}).items() if name.startswith(_SAID)}
        now: dict[str, reports.Report] = {}
        due = False
        for name in sorted(said)[-_MOST_DRIVERS:]:
            pod = name[len(_SAID) :]
            old, new = shown.get(pod), read(said[name])
            if new is not None:
                fresh = _is_due(old, new)
                now[pod] = new if fresh or old is None else _still(old, new)
                due = due or fresh
        self._shown[key] = now
        return is_new, due

    def forget(self, key: Key, uid: str) -> None:
        """The Lease is gone."""
        if self._leases.get(key) == uid:
            del self._leases[key]
            self._shown.pop(key, None)

    def keep(self, namespace: str, found: Mapping[str, str]) -> None:
        """All Leases there are in a namespace (or everywhere), name by uid: the others are gone."""
        for key, uid in list(self._leases.items()):
            if uid not in found and (not namespace or key[0] == namespace):
                self.forget(key, uid)


def read(text: str) -> reports.Report | None:
    """An annotation; None if it makes no sense, or is of another version."""
    if len(text) > _LONGEST:
        return None
    try:
        found = orjson.loads(text)
        if found["version"] != _VERSION:
            return None
        return reports.Report(
            at_s=datetime.datetime.fromisoformat(found["at"]).timestamp(),
            phase=_text(found["phase"], 32),
            refused=_text(found.get("refused"), 512),
            problem=_text(found.get("problem"), 512),
            queries=tuple(_query(one) for one in (found.get("queries") or ())[:_MOST_QUERIES]),
            order=_whole(found.get("order")) or 0,
            gate_open=_flag(found.get("gateOpen")),
            application=_text(found.get("application"), 128),
            **_drain(found.get("drain") or {}),
        )
    except (ValueError, KeyError, TypeError, AttributeError, OverflowError):
        return None


def _drain(found: Any) -> dict[str, str]:
    state = _text(found.get("state"), 32) or "none"
    if state not in _DRAINS:
        raise ValueError(f"drain.state={state!r}: allowed are {', '.join(_DRAINS)}")
    return {"drain": state, "drain_id": _text(found.get("id"), 64), "drain_problem": _text(found.get("problem"), 512)}


def _query(found: Any) -> reports.Query:
    if found["phase"] not in _PHASES or not found["id"]:
        raise ValueError(f"phase={found['phase']!r}: allowed are {', '.join(_PHASES)}, and id must be there")
    name = _text(found["id"], 64)
    return reports.Query(
        id=name,
        name=_text(found.get("name"), 128) or name,
        engine=_text(found.get("engine"), 32),
        phase=found["phase"],
        epoch=_whole(found.get("epoch")) or 0,
        committed=_batch(found.get("committed")),
        problem=_text(found.get("problem"), 512),
        batch=_whole(found.get("batch"), least=-1),
        batch_ms=_whole(found.get("batchMs")),
        lag=_number(found.get("lag")),
        input_rows_per_s=_number(found.get("inputRowsPerSecond")),
        processed_rows_per_s=_number(found.get("processedRowsPerSecond")),
        warm=_flag(found.get("warm")),
        in_flight=_batch(found.get("inFlight")),
        committed_at_ms=_whole(found.get("committedAtMs")) or 0,
        first_commit_at_ms=_whole(found.get("firstCommitAtMs")) or 0,
        split=None if found.get("split") is None else _text(found["split"], 256),
        settled=None if found.get("settled") is None else _flag(found["settled"]),
        slow=_numbers(found.get("slow")),
    )


def _is_due(old: reports.Report | None, new: reports.Report) -> bool:
    if _news(old or _NOTHING) != _news(new):
        return True
    return old is not None and new.at_s >= old.at_s + REFRESH_S and _words(old) != _words(new)


def _news(report: reports.Report) -> tuple[Any, ...]:
    """What a job is woken for at once."""
    phase = "" if report.phase in _ON_ITS_WAY and not any(one.warm for one in report.queries) else report.phase
    drain = report.drain_id, report.drain, report.drain_problem
    queries = tuple(_fixed(one) for one in report.queries if one.phase != "gate" or one.problem or one.warm)
    return phase, report.refused, report.problem, drain, queries


def _fixed(query: reports.Query) -> tuple[Any, ...]:
    """What no batch changes but the first."""
    return query.id, query.phase, query.problem, query.warm, query.first_commit_at_ms > 0, query.split, query.slow


def _still(old: reports.Report, new: reports.Report) -> reports.Report:
    """What is shown goes on being shown, but for what a slower loop waits for: that is true now or useless."""
    settled = {one.id: one.settled for one in new.queries}
    if all(one.settled == settled.get(one.id) for one in old.queries):
        return old
    queries = tuple(dataclasses.replace(one, settled=settled.get(one.id)) for one in old.queries)
    return dataclasses.replace(old, queries=queries)


def _words(report: reports.Report) -> tuple[Any, ...]:
    return report.phase, report.queries


def _text(found: Any, longest: int) -> str:
    if not isinstance(found, str | None):
        raise TypeError(f"{found!r}: allowed is text")
    return (found or "")[:longest]


def _numbers(found: Any) -> tuple[str, ...]:
    """Executors, as Spark numbers them."""
    if not isinstance(found, list | None) or not all(isinstance(one, str) and one.isdecimal() for one in found or ()):
        raise TypeError(f"{found!r}: allowed is a list of executors' numbers, as text")
    return tuple(one[:_LONGEST_NUMBER] for one in (found or ())[:_MOST_SLOW])


def _flag(found: Any) -> bool:
    if not isinstance(found, bool | None):
        raise TypeError(f"{found!r}: allowed is true or false")
    return bool(found)


def _batch(found: Any) -> int:
    """A batch's number, -1 for none."""
    number = _whole(found, least=-1)
    return -1 if number is None else number


def _whole(found: Any, least: int = 0) -> int | None:
    number = _number(found, least)
    return None if number is None else int(number)


def _number(found: Any, least: int = 0) -> float | None:
    """As the status may have it; None where it is left out."""
    if found is None:
        return None
    if not isinstance(found, int | float) or isinstance(found, bool):
        raise TypeError(f"{found!r}: allowed is a number")
    if not least <= found <= 1 << 53 or not math.isfinite(found):
        raise ValueError(f"{found}: allowed is a number from {least}")
    return found
