"""What a changed spec asks for, and the name of what stands now: its revision.

A revision is six hex digits of what pods would notice (:mod:`sluice.values.fields`); what is as by default is no part
of it, so that neither a new operator nor a new field of the CRD restarts a job. `classify` says in words what a change
asks for before anything happens: for the event, and for `sluice plan -f`.
"""

import dataclasses
import hashlib
import json
from collections.abc import Sequence
from typing import Any

from sluice.build import config
from sluice.values import fields, names
from sluice.values.fields import Asks
from sluice.values.streamjob import Spec, StreamJob

_WORDS = {
    Asks.NOTHING: "nothing to restart",
    Asks.LIFE: "stop or start",
    Asks.SCALE: "scale executors",
    Asks.ROLL: "roll executors",
    Asks.HANDOVER: "hand over the driver",
}
_BESIDE = "another one comes up beside it and takes over between two batches"
_RESTART = "driver and executors are restarted"
_RECREATE = "update.strategy is Recreate, so driver and executors are restarted"
_NOTES = {
    "update.drainTimeout": "counts for drivers made from now on",
    "checkpoint.location": "the stream starts from what the new place holds",
    "mode": "the checkpoint must suit the new mode",
}
_LONGEST = 60


@dataclasses.dataclass(frozen=True)
class Change:
    """One field, what it was and is, and what that asks for."""

    field: str
    before: Any
    after: Any
    asks: Asks

    def explain(self) -> str:
        """As a person reads it."""
        note = _NOTES.get(self.field)
        said = f"{self.field}: {_short(self.before)} → {_short(self.after)}: {_WORDS[self.asks]}"
        return f"{said} ({note})" if note else said


def revision(job: StreamJob) -> str:
    """Six hex digits of what the pods of a job are made of."""
    said = json.dumps(config.record(job), sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(said.encode()).hexdigest()[:6]


def classify(old: Spec, new: Spec) -> tuple[Change, ...]:
    """Every field that differs, what asks for most first."""
    found = [
        Change(path, before, after, fields.asks(field, field.read(old), field.read(new)))
        for field in fields.TABLE
        for path, before, after in fields.differences(field.read(old), field.read(new), field.path)
    ]
    return tuple(sorted(found, key=lambda change: (-change.asks, change.field)))


def between(old: StreamJob, new: StreamJob) -> tuple[Change, ...]:
    """The same of two jobs: a restart that was asked for is a change, too."""
    found = classify(old.spec, new.spec)
    if old.restarted == new.restarted:
        return found
    return (Change(f"metadata.annotations[{names.RESTARTED}]", old.restarted, new.restarted, Asks.HANDOVER), *found)


def restarts(changes: Sequence[Change]) -> bool:
    """Whether pods must be replaced: a restart, as long as nothing is rolled or handed over."""
    return any(change.asks >= Asks.SCALE for change in changes)


def verdict(changes: Sequence[Change], new: Spec) -> str:
    """What all of them together lead to, in one sentence."""
    if not changes:
        return "nothing differs"
    most = max(change.asks for change in changes)
    if not restarts(changes):
        return _WORDS[most]
    if new.suspend:
        return f"{_WORDS[most]}: the job is suspended, so it counts once the job is resumed"
    if new.update.strategy == "Recreate":
        return f"{_WORDS[most]}: {_RECREATE}"
    return f"{_WORDS[most]}: {_BESIDE if most == Asks.HANDOVER else _RESTART}"


def _short(value: Any) -> str:
    if value is None or value == "":
        return "nothing"
    said = value if isinstance(value, str) else json.dumps(value, sort_keys=True, ensure_ascii=False)
    return said if len(said) <= _LONGEST else f"{said[: _LONGEST - 1]}…"
