"""Every field of a StreamJob's spec by its name in the CRD, and what a change of it asks for. Read by build and plan.

The counterpart of :func:`sluice.values.streamjob.read_spec`: what is as by default is left out, so that a field that a
later release adds changes nothing for jobs that never spoke of it.
"""

import dataclasses
import enum
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from sluice.values import streamjob
from sluice.values.streamjob import Body, Spec


class Asks(enum.IntEnum):
    """What a change asks for, the mildest first."""

    NOTHING = 0  # it is read at every decision
    LIFE = 1  # the job stops, or comes back as it was
    SCALE = 2  # executors come or go
    ROLL = 3  # executors are replaced, one at a time
    HANDOVER = 4  # another driver takes over


@dataclasses.dataclass(frozen=True)
class Field:
    """A field: where the CRD has it, how it is found in a Spec, what its change asks for."""

    path: str
    read: Callable[[Spec], Any]
    asks: Asks


def _memory(size_bytes: int) -> str:
    for suffix, scale in (("Gi", 1 << 30), ("Mi", 1 << 20), ("Ki", 1 << 10)):
        if size_bytes and size_bytes % scale == 0:
            return f"{size_bytes // scale}{suffix}"
    return str(size_bytes)


def _duration(length_s: float | None) -> str | None:
    if length_s is None:
        return None
    return f"{length_s:.0f}s" if length_s == int(length_s) else f"{length_s * 1000:.0f}ms"


_CLAIM = "checkpoint.volume.persistentVolumeClaim.claimName"
TABLE = (
    Field("image", lambda s: s.image, Asks.HANDOVER),
    Field("imagePullPolicy", lambda s: s.image_pull_policy, Asks.HANDOVER),
    Field("imagePullSecrets", lambda s: [{"name": name} for name in s.image_pull_secrets], Asks.HANDOVER),
    Field("serviceAccount.name", lambda s: s.account.name, Asks.HANDOVER),
    Field("serviceAccount.annotations", lambda s: s.account.annotations, Asks.HANDOVER),
    Field("application.file", lambda s: s.application.file, Asks.HANDOVER),
    Field("application.mainClass", lambda s: s.application.main_class, Asks.HANDOVER),
    Field("application.args", lambda s: list(s.application.args), Asks.HANDOVER),
    Field("application.packages", lambda s: list(s.application.packages), Asks.HANDOVER),
    Field("application.pyFiles", lambda s: list(s.application.py_files), Asks.HANDOVER),
    Field("mode", lambda s: "RealTime" if s.real_time else "MicroBatch", Asks.HANDOVER),
    Field("checkpoint.location", lambda s: s.checkpoint.location, Asks.HANDOVER),
    Field(_CLAIM, lambda s: s.checkpoint.claim, Asks.HANDOVER),
    Field("driver.cores", lambda s: s.driver.cores, Asks.HANDOVER),
    Field("driver.memory", lambda s: _memory(s.driver.memory_bytes), Asks.HANDOVER),
    Field("driver.template", lambda s: s.driver.template, Asks.HANDOVER),
    Field("executors.count", lambda s: s.executors.count, Asks.SCALE),
    Field("executors.min", lambda s: s.executors.minimum, Asks.NOTHING),
    Field("executors.max", lambda s: s.executors.maximum, Asks.NOTHING),
    Field("executors.maxPerNode", lambda s: s.executors.max_per_node, Asks.NOTHING),
    Field("executors.cores", lambda s: s.executors.cores, Asks.HANDOVER),
    Field("executors.memory", lambda s: _memory(s.executors.memory_bytes), Asks.HANDOVER),
    Field("executors.template", lambda s: s.executors.template, Asks.ROLL),
    Field("sparkConf", lambda s: s.spark_conf, Asks.HANDOVER),
    Field("slo.batchLatency", lambda s: _duration(s.slo.batch_latency_s), Asks.NOTHING),
    Field("slo.lag", lambda s: s.slo.lag, Asks.NOTHING),
    Field("placement.mode", lambda s: s.placement.mode, Asks.NOTHING),
    Field("placement.policy", lambda s: s.placement.policy, Asks.NOTHING),
    Field("placement.near", lambda s: s.placement.near, Asks.NOTHING),
    Field("placement.maxMovesPerHour", lambda s: s.placement.max_moves_per_hour, Asks.NOTHING),
    Field("rebalance.mode", lambda s: s.rebalance.mode, Asks.NOTHING),
    Field("rebalance.lever.enabled", lambda s: s.rebalance.lever, Asks.NOTHING),
    Field("rebalance.lever.keepOrder", lambda s: s.rebalance.keep_order, Asks.NOTHING),
    Field("rebalance.latency.enabled", lambda s: s.rebalance.latency, Asks.NOTHING),
    Field("rebalance.latency.by", lambda s: s.rebalance.by, Asks.NOTHING),
    Field("rebalance.timeout.enabled", lambda s: s.rebalance.timeout, Asks.HANDOVER),
    Field("update.strategy", lambda s: s.update.strategy, Asks.NOTHING),
    Field("update.drainTimeout", lambda s: _duration(s.update.drain_timeout_s), Asks.NOTHING),
    Field("update.warmUp", lambda s: s.update.warm_up, Asks.NOTHING),
    Field("update.rollback.batches", lambda s: s.update.rollback_batches, Asks.NOTHING),
    Field("restart.policy", lambda s: s.restart.policy, Asks.NOTHING),
    Field("restart.backoff.initial", lambda s: _duration(s.restart.initial_s), Asks.NOTHING),
    Field("restart.backoff.max", lambda s: _duration(s.restart.longest_s), Asks.NOTHING),
    Field("suspend", lambda s: s.suspend, Asks.LIFE),
)
_REQUIRED = {"image", "application.file", "checkpoint.location"}
_EMPTY = Spec("", streamjob.Application(""), streamjob.Checkpoint(""))
_DEFAULTS = {field.path: field.read(_EMPTY) for field in TABLE}


def asks(field: Field, *values: Any) -> Asks:
    """What a field asks for that has, or goes from and to, these values: with and without a gate are two templates."""
    return Asks.ROLL if field.path == "placement.mode" and "Off" in values else field.asks


def spoken(spec: Spec, mildest: Asks = Asks.NOTHING) -> dict[str, Any]:
    """Path and value of what is not as by default, of the fields whose change asks for at least this."""
    found = {field.path: field.read(spec) for field in TABLE if asks(field, field.read(spec)) >= mildest}
    return {path: value for path, value in found.items() if path in _REQUIRED or value != _DEFAULTS[path]}


def nested(flat: Mapping[str, Any]) -> Body:
    """Paths and values as the CRD nests them."""
    spec: dict[str, Any] = {}
    for path, value in flat.items():
        *parents, last = path.split(".")
        at = spec
        for parent in parents:
            at = at.setdefault(parent, {})
        at[last] = value
    return spec


def differences(old: Any, new: Any, path: str) -> Iterator[tuple[str, Any, Any]]:
    """Where two values differ: path, before, after; None where there is nothing. Mappings are looked into."""
    if old == new:
        return
    if not isinstance(old, Mapping | None) or not isinstance(new, Mapping | None) or not (old or new):
        yield path, old, new
        return
    old, new = old or {}, new or {}
    for key in sorted({*old, *new}):
        yield from differences(old.get(key), new.get(key), f"{path}.{key}" if key.isidentifier() else f"{path}[{key}]")
