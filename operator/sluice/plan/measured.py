"""The conditions that only the plugin can tell: Protected, SLOMet, CheckpointHealthy. Called by plan.conditions; pure.

Without it nothing is measured, and that is said; unknown is not good.
"""

from collections.abc import Sequence

from sluice.plan import inside
from sluice.values import reports, streamjob

Found = tuple[bool | None, str, str]  # whether it holds, reason, message
_UNPROTECTED = "Sluice starts no second driver, but nothing in the checkpoint itself would stop one"
_UNMEASURED = "no driver of this job has the Sluice plugin, so nothing is measured inside it"
_BEFORE = "this driver was started without the Sluice plugin: `sluice restart` starts one with it"
_NO_DRIVER: Found = (None, "NoDriver", "no driver runs")
_NOT_HEARD: Found = (None, "NotHeard", "the driver has not said yet how it stands")
_NO_BATCH: Found = (None, "NoBatch", "no batch has ended yet")
_SILENT: Found = (None, "Silent", "nothing was heard from inside the driver for a minute")
_NO_SLO: Found = (True, "NoSLO", "spec.slo asks for nothing")
_GUARDED = "each query drains before its driver ends, and stops writing when another has taken its checkpoint"
_HEALTHY = "each query has committed a batch; status.queries says which"


def protected(seen: inside.Inside) -> Found:
    """Whether every query is gated, drained and fenced."""
    if without := _without(seen):
        return False, "NoPlugin", _UNPROTECTED if without == _UNMEASURED else without
    if seen.said is None or seen.said.phase == "Starting":
        return _NOT_HEARD if seen.lives or seen.begins else _NO_DRIVER
    return _guarded(seen.said)


def _guarded(said: reports.Report) -> Found:
    if said.phase == "Unmanaged":
        return False, "Unmanaged", said.problem
    if said.problem:
        return False, "QueryUnprotected", said.problem
    if open_to_others := [one for one in _alive(said.queries) if one.problem]:
        return False, "NotExclusive", f"{open_to_others[0].name}: {open_to_others[0].problem}"
    if said.phase == "Silent":
        return _SILENT
    return (True, "Guarded", _GUARDED) if said.queries else (None, "NoQuery", "no query has been started yet")


def slo_met(seen: inside.Inside, slo: streamjob.Slo) -> Found:
    """Whether the last batch of each query is as spec.slo wants it."""
    if nothing := missing(seen):
        return nothing
    if slo == streamjob.Slo():
        return _NO_SLO
    alive = _alive(seen.said.queries) if seen.said else []
    missed = [late for one in alive if (late := _late(one, slo))]
    unknown = [why for one in alive if (why := _unknown(one, slo))]
    if missed or unknown or not alive:
        return [*missed, *unknown, _NO_BATCH][0]
    return True, "Met", "the last batch of each query is as spec.slo wants it"


def checkpoint_healthy(seen: inside.Inside) -> Found:
    """Whether every query goes on from its checkpoint."""
    if nothing := missing(seen):
        return nothing
    queries = seen.said.queries if seen.said else ()
    if seen.said and (why := inside.failed(seen.said)):
        return False, "QueryRefused", why
    if not queries or any(one.committed < 0 for one in _alive(queries)):
        return _NO_BATCH
    return True, "Committed", _HEALTHY


def _without(seen: inside.Inside) -> str:
    """Why there is no plugin, if there is none; nothing where there is, or may soon be."""
    if not seen.ever or (seen.begins and not seen.plugged):
        return _UNMEASURED
    return _BEFORE if seen.lives and not seen.plugged else ""


def missing(seen: inside.Inside) -> Found | None:
    """Why nothing is known from inside; None if something is."""
    if without := _without(seen):
        return None, "NotMeasured", without
    if seen.said is None or seen.said.phase == "Starting":
        return _NOT_HEARD if seen.lives or seen.begins else _NO_DRIVER
    if seen.said.phase == "Unmanaged":
        return None, "NotMeasured", seen.said.problem
    return _SILENT if seen.said.phase == "Silent" else None


def _alive(queries: Sequence[reports.Query]) -> list[reports.Query]:
    return [one for one in queries if one.phase != "ended"]


def _late(query: reports.Query, slo: streamjob.Slo) -> Found | None:
    """What of the SLO it misses."""
    wanted_ms = (slo.batch_latency_s or 0.0) * 1000
    if _has_latency(query, slo) and query.batch_ms is not None and query.batch_ms > wanted_ms:
        took = f"batch {query.batch} of {query.name} took {query.batch_ms} ms"
        return False, "BatchTooSlow", f"{took}, spec.slo.batchLatency is {wanted_ms:.0f} ms"
    if slo.lag is not None and query.lag is not None and query.lag > slo.lag:
        return False, "LagTooHigh", f"{query.lag:.0f} records wait for {query.name}, spec.slo.lag is {slo.lag}"
    return None


def _unknown(query: reports.Query, slo: streamjob.Slo) -> Found | None:
    """What of the SLO cannot be said of it."""
    if query.batch is None:
        return _NO_BATCH
    if slo.batch_latency_s is not None and not _has_latency(query, slo):
        return None, "NotMeasured", f"how long records of {query.name} take in Real-Time Mode is not measured"
    if slo.lag is not None and query.lag is None:
        return None, "NotMeasured", f"the sources of {query.name} do not tell how many records wait"
    return None


def _has_latency(query: reports.Query, slo: streamjob.Slo) -> bool:
    """A batch of Real-Time Mode is as long as its trigger says, whatever its records wait."""
    return slo.batch_latency_s is not None and query.engine != "RealTime"
