"""`sluice why JOB`: what is not as it should be, what happened last, what was decided and on what grounds."""

import argparse
from collections.abc import Iterator

from sluice.cli import cluster, words
from sluice.values.streamjob import Body

_GOOD = {"Progressing": "False"}  # of all other conditions True is the good one


def add(verbs: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """The words of this verb."""
    parser = verbs.add_parser("why", help="what is not as it should be with a job, and why")
    parser.add_argument("job", help="a StreamJob")
    cluster.add_words(parser)
    parser.set_defaults(run=run)


def run(said: argparse.Namespace) -> str:
    """What to print."""
    asked = cluster.connect(said)
    job, told = asked.job(said.job), asked.events(said.job)
    status = job.get("status", {})
    if said.output == "json":
        return words.as_json(_found(status, told))
    return "\n".join(_lines(job, told))


def _amiss(status: Body) -> list[Body]:
    found = status.get("conditions", ())
    return [one for one in found if one["status"] != _GOOD.get(one["type"], "True")]


def _lines(job: Body, told: list[Body]) -> Iterator[str]:
    status = job.get("status", {})
    yield _sentence(f"{job['metadata']['name']} is {status.get('phase', 'not looked at yet')}", status.get("message"))
    if not status:
        yield "No operator has written its status: is one running, and does it watch this namespace?"
    for one in _amiss(status):
        yield _sentence(f"- {one['type']} is {one['status']}, {one.get('reason', '-')}", one.get("message"))
    yield from _failure(status.get("driver", {}))
    yield from _handover(status)
    if decisions := status.get("decisions"):
        yield "\nDecided, the latest at the end:"
        for one in decisions:
            yield f"  {one['at']}  {one['kind']} {one['subject']}: {one['what']}, because {one['why']}"
    if told:
        yield "\nTold, the latest at the end:"
        for event in told:
            yield f"  {cluster.event_at(event)}  {event.get('reason', '-')}: {event.get('message', '')}"


def _sentence(what: str, more: str | None) -> str:
    return f"{what}: {more}" if more else what


def _failure(driver: Body) -> Iterator[str]:
    if last := driver.get("lastFailure"):
        code = f"exit code {last['exitCode']}" if "exitCode" in last else "no exit code"
        yield f"- Attempt {last.get('attempt', '-')} failed at {last.get('at', '-')}: {last.get('reason', '-')}, {code}"
        yield from (f"    {line}" for line in last.get("message", "").splitlines())
    if driver.get("retryAt"):
        yield f"- It starts again at {driver['retryAt']}."


def _handover(status: Body) -> Iterator[str]:
    if handoff := status.get("handoff"):
        yield f"- Handover, {handoff['phase']} since {handoff['since']}: {handoff.get('message', '-')}"
    if given_up := status.get("givenUp"):
        revisions = f"revision {given_up['revision']} is not tried again, {given_up['instead']} runs"
        yield f"- Since {given_up['at']} {revisions}, until spec is changed or a restart asked for: {given_up['why']}"


def _found(status: Body, told: list[Body]) -> Body:
    return {
        "phase": status.get("phase"),
        "message": status.get("message"),
        "amiss": _amiss(status),
        "driver": status.get("driver", {}),
        "handoff": status.get("handoff", {}),
        "givenUp": status.get("givenUp", {}),
        "decisions": status.get("decisions", []),
        "events": [
            {"at": cluster.event_at(event), "reason": event.get("reason"), "message": event.get("message")}
            for event in told
        ],
    }
