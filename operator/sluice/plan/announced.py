"""Decisions that people are told of by an event. Called by plan.status; pure."""

from collections.abc import Iterator

from sluice.plan import verdicts
from sluice.values import steps, views

_REASONS = {
    "Move": "ExecutorMoves",
    "Keep": "MoveKept",
    "Undo": "MoveUndone",
    "Abandon": "MoveAbandoned",
    "Size": "SizingAdvice",
}
_WARNINGS = ("Undo",)


def tell(view: views.JobView, verdict: verdicts.Verdict) -> Iterator[steps.Tell]:
    """One for each of the verdict's."""
    job = view.job
    for one in verdict.decisions:
        if one.kind in _REASONS:
            message = f"{one.subject}: {one.what}: {one.why}"
            yield steps.Tell(job.namespace, job.name, job.uid, one.kind in _WARNINGS, _REASONS[one.kind], message)
