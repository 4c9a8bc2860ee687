"""A driver that runs: whether it has its executors, what is said of those that are missing, and for how long."""

import pytest

from plan import made
from sluice import build
from sluice.plan import changes, life
from sluice.values import names, streamjob


def judge(view):
    return life.judge(view, build.Surroundings())


EXECUTORS = [
    ("all of four run", {"count": 4}, 4, True),
    ("one of four is missing", {"count": 4}, 3, False),
    ("one is missing and three are enough", {"count": 4, "minimum": 3}, 3, True),
    ("fewer than enough", {"count": 4, "minimum": 3}, 2, False),
]


@pytest.mark.parametrize(("executors", "running", "ready"), [e[1:] for e in EXECUTORS], ids=[e[0] for e in EXECUTORS])
def test_a_job_is_ready_with_all_executors_or_as_many_as_it_says_are_enough(executors, running, ready):
    job = made.job(executors=streamjob.Executors(**executors))
    revision = changes.revision(job)
    driver = made.driver(labels={**made.driver().labels, names.REVISION: revision})
    pods = [made.executor(number) for number in range(1, running + 1)]
    assert judge(made.view(job, driver, *pods)).ready is ready


def test_what_executors_wait_for_is_said():
    gated = judge(made.view(made.job(status=made.begun()), made.driver(), made.waiting()))
    assert gated.reason == "ExecutorsMissing"
    assert f"{made.waiting().name} waits for its node" in gated.message
    full = made.waiting(gates=(), unschedulable="0/3 nodes are available: 3 Insufficient cpu.")
    assert "Insufficient cpu" in judge(made.view(made.job(status=made.begun()), made.driver(), full)).message


UNMADE = [
    ("a moment ago", 50, 0, ""),
    ("for a minute", 61, 0, "has made only 0 of 2 pods"),
    ("one of them for a minute", 61, 1, "has made only 1 of 2 pods"),
]


@pytest.mark.parametrize(("waited_s", "pods", "said"), [u[1:] for u in UNMADE], ids=[u[0] for u in UNMADE])
def test_executors_that_are_not_even_made_are_said_to_be_so_with_where_to_look(waited_s, pods, said):
    job = made.job(status=made.begun(), executors=streamjob.Executors(count=2))
    labels = {**made.driver().labels, names.REVISION: changes.revision(job)}
    driver = made.driver(labels=labels, ready_s=made.NOW_S - waited_s)
    verdict = judge(made.view(job, driver, *(made.executor() for _ in range(pods))))
    assert ("describe quota" in verdict.message) is bool(said)
    assert said in verdict.message


def test_a_job_that_loses_an_executor_has_ten_minutes_again_and_a_minute_until_it_asks_for_quotas():
    ready = {"type": "Ready", "status": "True", "lastTransitionTime": "2027-01-15T07:00:00Z"}
    status = made.begun(since="2027-01-15T07:00:00Z") | {"conditions": [ready]}
    verdict = judge(made.view(made.job(status=status), made.driver(ready_s=made.NOW_S - 3500)))
    assert (verdict.reason, verdict.stuck, verdict.look_again_s) == ("ExecutorsMissing", False, 61)
    assert "quota" not in verdict.message


def since(status, ready, at):
    """With the condition Ready as it stands since then."""
    turned = {"type": "Ready", "status": ready, "reason": "x", "lastTransitionTime": at}
    return {**status, "conditions": [turned]}


OLD = made.begun(since="2027-01-01T00:00:00Z")
UNREADY = {
    "an old driver that has just lost an executor": (since(OLD, "True", "2027-01-01T00:01:00Z"), 61),
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
    verdict = judge(made.view(made.job(status=status), made.driver(attempt, ready_s=made.NOW_S - 3000)))
    assert (verdict.look_again_s, verdict.stuck) == (look_again_s, look_again_s is None)
    assert ("for more than 10 minutes" in verdict.message) is verdict.stuck


def test_a_driver_that_is_not_ready_itself_is_said_to_be():
    verdict = judge(made.view(made.job(status=made.begun()), made.driver(ready=False, ready_s=0.0), made.executor()))
    assert (verdict.phase, verdict.reason, verdict.ready) == ("Running", "DriverNotReady", False)
    assert verdict.message.startswith(f"{made.driver().name} is not ready yet, 1 of 1 executors run")
