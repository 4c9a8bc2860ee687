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


def this(found: Body) -> Body:
    """Of an object's metadata, what a patch for exactly this version of it says: any other is a conflict."""
    return {"uid": found["uid"], "resourceVersion": found["resourceVersion"]}


def _kind(answer: wire.Answer) -> outcomes.Kind:
    details = answer.body.get("details") or {}
    if any(cause.get("reason") == "NamespaceTerminating" for cause in details.get("causes") or ()):
        return "Gone"
    match answer.status:
        case 404:  # one that names nothing: the API server is starting, and does not serve this kind yet
            return "Gone" if details.get("name") else "Unavailable"
        case 409:
            return "Conflict"
        case 401:  # our token is on its way to being renewed
            return "Unavailable"
        case _:
            return "Refused"
