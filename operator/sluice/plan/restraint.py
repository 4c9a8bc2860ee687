"""What holds a job's executors where they are: mode, budget, cooldown, what did not help. Pure.

For plan.wishes and plan.moving. All of it stands in the status: `maxMovesPerHour` counts what `status.placement.moves`
says of the last hour, ways back included; a move that did not help is remembered for a day, and while the record is
full there are no further ones.
"""

from collections.abc import Iterable

from sluice.values import driver_state, handoff, moves, streamjob

LEAST_BATCHES = 20  # fewer say nothing
COOLDOWN_S = 600.0  # after a start, a handover, a move
_HOUR_S, _DAY_S = 3600.0, 86_400.0
_MOST = 32  # moves that are remembered
_ALONE_S = {moves.UNDONE: _DAY_S, moves.OBSERVED: _DAY_S, moves.MISSED: _HOUR_S}


def holds(job: streamjob.StreamJob, now_s: float) -> str:
    """Why no executor of the job may move now; nothing if one may."""
    if job.spec.placement.mode == "Off":
        return "placement.mode is Off"
    if not _rests(job) or handoff.read(job.status).on:
        return "it is on its way to another state"
    record = moves.read(job.status)
    if record.now:
        return "a move is under way"
    if not has_budget(job, record, now_s):
        return f"placement.maxMovesPerHour is {job.spec.placement.max_moves_per_hour}"
    if len(remembered(record.past, now_s)) >= _MOST:
        return f"{_MOST} moves of the last day are remembered"
    left_s = _changed_s(job, record) + COOLDOWN_S - now_s
    return f"{left_s:.0f} s are to pass since its last change" if left_s > 0 else ""


def has_budget(job: streamjob.StreamJob, record: moves.Record, now_s: float) -> bool:
    """Whether one more may be begun within the hour."""
    begun = [one.at_s for one in record.past] + ([record.now.at_s] if record.now else [])
    return sum(now_s - at_s < _HOUR_S for at_s in begun) < job.spec.placement.max_moves_per_hour


def left_alone(record: moves.Record, now_s: float) -> set[tuple[str, str]]:
    """From where to where nothing of the job goes for now."""
    return {(one.source, one.target) for one in record.past if now_s - one.ended_s < _ALONE_S.get(one.outcome, 0.0)}


def remembered(past: Iterable[moves.Past], now_s: float) -> tuple[moves.Past, ...]:
    """What still counts."""
    return tuple(one for one in past if now_s - one.ended_s < _ALONE_S.get(one.outcome, _HOUR_S))


def _rests(job: streamjob.StreamJob) -> bool:
    conditions = {found["type"]: found["status"] for found in job.status.get("conditions", ())}
    settled = conditions.get("Ready") == "True" and conditions.get("Progressing") == "False"
    return settled and job.status.get("phase") == "Running"


def _changed_s(job: streamjob.StreamJob, record: moves.Record) -> float:
    began_s, handed_over_s = driver_state.read(job.status).since_s, handoff.read(job.status).since_s
    return max(began_s, handed_over_s, *(one.ended_s for one in record.past), 0.0)
