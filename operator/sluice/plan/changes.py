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

from sluice.build import Surroundings, config, executors
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
_WAYS = {Asks.SCALE: "scale executors", Asks.ROLL: "roll executors one at a time"}
_RESTART = "driver and executors are restarted"
_RECREATE = "update.strategy is Recreate, so driver and executors are restarted"
_NOTES = {
    "update.drainTimeout": "counts for drivers made from now on",
    "checkpoint.location": "the stream starts from what the new place holds",
    "mode": "the checkpoint must suit the new mode",
    "rebalance.mode": "spark.speculation stays as the driver was started with",
    "rebalance.timeout.enabled": "spark.speculation is read at its start",
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
        Change(path, before, after, _asks(field, old, new))
        for field in fields.TABLE
        for path, before, after in fields.differences(field.read(old), field.read(new), field.path)
    ]
    return tuple(sorted(found, key=lambda change: (-change.asks, change.field)))


def _asks(field: fields.Field, old: Spec, new: Spec) -> Asks:
    """Spark itself sets the CPU of each executor, to what it read when it began: for another one it must begin anew."""
    found = fields.asks(field, field.read(old), field.read(new))
    return Asks.HANDOVER if found == Asks.ROLL and _cpu(old) != _cpu(new) else found


def _cpu(spec: Spec) -> str:
    try:
        return executors.cpu_request(executors.template(StreamJob("", "", spec), Surroundings()))
    except ValueError:  # nothing can be made of it, which is said when it is tried
        return ""


def between(old: StreamJob, new: StreamJob) -> tuple[Change, ...]:
    """The same of two jobs: a restart that was asked for is a change, too."""
    found = classify(old.spec, new.spec)
    if old.restarted == new.restarted:
        return found
    return (Change(f"metadata.annotations[{names.RESTARTED}]", old.restarted, new.restarted, Asks.HANDOVER), *found)


def rolls(changes: Sequence[Change], new: Spec) -> bool:
    """Whether a driver with the plugin runs on meanwhile. In Real-Time Mode a query ends with any of its executors."""
    return most(changes) in _WAYS and not new.real_time


def most(changes: Sequence[Change]) -> Asks:
    """What they ask for at most."""
    return max((change.asks for change in changes), default=Asks.NOTHING)


def verdict(changes: Sequence[Change], new: Spec, *, plugged: bool | None = False) -> str:
    """What all of them together lead to, in one sentence; `plugged`: its driver has the plugin, None: who knows."""
    if not changes:
        return "nothing differs"
    asked = most(changes)
    if asked < Asks.SCALE:
        return _WORDS[asked]
    if new.suspend:
        return f"{_WORDS[asked]}: the job is suspended, so it counts once the job is resumed"
    unless = "" if plugged else f"; if it has no Sluice plugin, {_RESTART}"
    if plugged is not False and rolls(changes, new):
        return f"{_WAYS[asked]}: the driver runs on{unless}"
    if new.update.strategy == "Recreate":
        return f"{_WORDS[asked]}: {_RECREATE}"
    return f"{_WORDS[asked]}: {_RESTART}" if plugged is False else f"{_WORDS[asked]}: {_BESIDE}{unless}"


def _short(value: Any) -> str:
    if value is None or value == "":
        return "nothing"
    said = value if isinstance(value, str) else json.dumps(value, sort_keys=True, ensure_ascii=False)
    return said if len(said) <= _LONGEST else f"{said[: _LONGEST - 1]}…"
