"""Carries out steps, stage by stage: the front of the room. Called by the cycle, which tells observe of the outcome."""

import asyncio

from sluice.act import objects, patches, stories
from sluice.act.written import Written
from sluice.transport import failures
from sluice.transport import wire as transport
from sluice.values import outcomes, steps, streamjob

_BY_NAME = steps.Create | steps.Try | steps.Delete  # decided on no version: what moved meanwhile is met anew, at once
_TRIES = 3  # else one busy object, or a quota that others count on too, holds up all that the look would have done


async def carry_out(wanted: steps.Steps, wire: transport.Wire) -> outcomes.Outcome:
    """The steps of a stage side by side, all of them; the first stage with a failure is the last.

    LostLeadership passes through: then nothing more is written, and there is nobody to tell.
    """
    done: list[steps.Step] = []
    bodies: list[streamjob.Body] = []
    for stage in wanted.stages:
        written = await _together(stage, wire)
        done += [one.step for one in written if one.failure is None]
        bodies += [one.body for one in written if one.body is not None]
        failed = tuple(one.failure for one in written if one.failure and not isinstance(one.step, steps.Tell))
        if failed:
            return outcomes.Outcome(tuple(done), failed, tuple(bodies))
    return outcomes.Outcome(tuple(done), (), tuple(bodies))


async def _together(stage: tuple[steps.Step, ...], line: transport.Wire) -> list[Written]:
    """Waits for all, whatever becomes of one: a write that is under way is not to be forgotten."""
    found = await asyncio.gather(*(_one(step, line) for step in stage), return_exceptions=True)
    for one in found:
        if isinstance(one, BaseException):
            raise one
    return [one for one in found if not isinstance(one, BaseException)]


async def _one(step: steps.Step, line: transport.Wire) -> Written:
    try:
        for _ in range(_TRIES):
            written = await _write(step, line)
            if not _is_met_anew(written):
                break
        return written
    except failures.Unavailable as why:
        return Written(step, failure=outcomes.Failure(step, "Unavailable", str(why)))


def _is_met_anew(written: Written) -> bool:
    conflicts = written.failure is not None and written.failure.kind == "Conflict"
    return conflicts and isinstance(written.step, _BY_NAME)


async def _write(step: steps.Step, line: transport.Wire) -> Written:
    match step:
        case steps.RecordStatus():
            return await patches.record_status(step, line)
        case steps.Create():
            return await objects.make(step, line)
        case steps.Try():
            return await objects.ask(step, line)
        case steps.Delete():
            return await objects.take_away(step, line)
        case steps.PatchPod():
            return await patches.patch_pod(step, line)
        case steps.Tell():
            return await stories.tell(step, line)
