"""How long a driver that runs may be without its executors, or not ready itself."""

import pytest

from plan import made
from sluice import build
from sluice.plan import life


def judge(view):
    return life.judge(view, build.Surroundings())


def since(status, ready, at):
    """With the condition Ready as it stands since then."""
    turned = {"type": "Ready", "status": ready, "reason": "x", "lastTransitionTime": at}
    return {**status, "conditions": [turned]}


OLD = made.begun(since="2027-01-01T00:00:00Z")
UNREADY = {
    "an old driver that has just lost an executor": (since(OLD, "True", "2027-01-01T00:01:00Z"), 601),
    "one that lost it nine minutes ago": (since(OLD, "False", "2027-01-15T07:51:00Z"), 61),
    "one that lost it ten minutes ago": (since(OLD, "False", "2027-01-15T07:50:00Z"), None),
    "one that never had it": (OLD, None),
    "the next attempt of a job that has long been down": (
        since(made.begun(2, since="2027-01-15T07:59:00Z"), "False", "2027-01-01T00:01:00Z"),
        541,
    ),
}


@pytest.mark.parametrize(("status", "look_again_s"), UNREADY.values(), ids=UNREADY)
def test_a_missing_executor_has_its_time_from_when_the_job_was_last_ready(status, look_again_s):
    attempt = status["driver"]["attempt"]
    verdict = judge(made.view(made.job(status=status), made.driver(attempt)))
    assert (verdict.look_again_s, verdict.stuck) == (look_again_s, look_again_s is None)
    assert ("for more than 10 minutes" in verdict.message) is verdict.stuck


def test_a_driver_that_is_not_ready_itself_is_said_to_be():
    verdict = judge(made.view(made.job(status=made.begun()), made.driver(ready=False, ready_s=0.0), made.executor()))
    assert (verdict.phase, verdict.reason, verdict.ready) == ("Running", "DriverNotReady", False)
    assert verdict.message.startswith(f"{made.driver().name} is not ready yet, 1 of 1 executors run")
