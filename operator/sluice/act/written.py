"""What became of one step, and what an answer of the API server means for it. Used by the writers of this room."""

import dataclasses

from sluice.transport import wire
from sluice.values import outcomes, steps
from sluice.values.streamjob import Body


@dataclasses.dataclass(frozen=True)
class Written:
    """Done if there is no failure."""

    step: steps.Step
    failure: outcomes.Failure | None = None
    body: Body | None = None  # a StreamJob or pod as it stands since


def said(step: steps.Step, answer: wire.Answer) -> Written:
    """What a plain answer means."""
    if answer.ok:
        return Written(step, body=answer.body if answer.body.get("kind") in ("Pod", "StreamJob") else None)
    return failed(step, _kind(answer), answer.sentence)


def failed(step: steps.Step, kind: outcomes.Kind, sentence: str) -> Written:
    """A step that was not done."""
    return Written(step, failure=outcomes.Failure(step, kind, sentence))


def _kind(answer: wire.Answer) -> outcomes.Kind:
    causes = (answer.body.get("details") or {}).get("causes") or ()
    if answer.status == 404 or any(cause.get("reason") == "NamespaceTerminating" for cause in causes):
        return "Gone"
    if answer.status == 409:
        return "Conflict"
    return "Unavailable" if answer.status == 401 else "Refused"  # 401: our token is on its way to being renewed
