"""What the drivers of all jobs say in their Leases: read with care, for a driver is its user's code, and kept slim.

Every Lease is renewed each ten seconds. Only news is shown and wakes its job: at once where it decides something, else
when what was shown has grown old. Part of the mirror.
"""

import datetime
import math
from collections.abc import Mapping
from typing import Any

import orjson

from sluice.values import reports
from sluice.values.streamjob import Body

Key = tuple[str, str]  # namespace and name of a StreamJob
REFRESH_S = 60.0  # numbers that are shown may be so old: each refresh is a write of a status, and its echo
_SAID = "agent.sluice.dev/"
_MOST_DRIVERS, _MOST_QUERIES, _LONGEST = 8, 20, 64 << 10
_VERSION = 1
_PHASES = ("gate", "running", "parked", "ended")
_ON_ITS_WAY = ("Starting", "Waiting")  # nobody need hear of it at once: it passes, or is told with the next refresh
_NOTHING = ("", "", "", "", ())


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
                now[pod] = new if fresh or old is None else old
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
            drain_problem=_text((found.get("drain") or {}).get("problem"), 512),
            queries=tuple(_query(one) for one in (found.get("queries") or ())[:_MOST_QUERIES]),
        )
    except (ValueError, KeyError, TypeError, AttributeError, OverflowError):
        return None


def _query(found: Any) -> reports.Query:
    if found["phase"] not in _PHASES or not found["id"]:
        raise ValueError(f"phase={found['phase']!r}: allowed are {', '.join(_PHASES)}, and id must be there")
    name, committed = _text(found["id"], 64), _whole(found.get("committed"), least=-1)
    return reports.Query(
        id=name,
        name=_text(found.get("name"), 128) or name,
        engine=_text(found.get("engine"), 32),
        phase=found["phase"],
        epoch=_whole(found.get("epoch")) or 0,
        committed=-1 if committed is None else committed,
        problem=_text(found.get("problem"), 512),
        batch=_whole(found.get("batch"), least=-1),
        batch_ms=_whole(found.get("batchMs")),
        lag=_number(found.get("lag")),
        input_rows_per_s=_number(found.get("inputRowsPerSecond")),
        processed_rows_per_s=_number(found.get("processedRowsPerSecond")),
    )


def _is_due(old: reports.Report | None, new: reports.Report) -> bool:
    if old is None:
        return _news(new) != _NOTHING
    if _news(old) != _news(new):
        return True
    return new.at_s >= old.at_s + REFRESH_S and _words(old) != _words(new)


def _news(report: reports.Report) -> tuple[Any, ...]:
    """What a job is woken for at once."""
    phase = "" if report.phase in _ON_ITS_WAY else report.phase
    queries = tuple((one.id, one.phase, one.problem) for one in report.queries if one.phase != "gate" or one.problem)
    return phase, report.refused, report.problem, report.drain_problem, queries


def _words(report: reports.Report) -> tuple[Any, ...]:
    return report.phase, report.queries


def _text(found: Any, longest: int) -> str:
    if not isinstance(found, str | None):
        raise TypeError(f"{found!r}: allowed is text")
    return (found or "")[:longest]


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
