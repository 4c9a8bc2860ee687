"""A new revision that starts after the old driver has ended: given up if it comes to nothing, and only then."""

import dataclasses

import pytest

from plan import made
from plan.handovers import (
    AROUND,
    NEW_NAME,
    OLD,
    OLD_REVISION,
    OPEN,
    REVISION,
    RUNS,
    begun,
    created,
    deleted,
    its_executor,
    judge,
    new,
    running,
    view,
    written,
)
from sluice import build
from sluice.plan import life
from sluice.values import driver_state, handoff, records, reports

RECREATED = dataclasses.replace(made.spec().update, strategy="Recreate")
STARTING = reports.Report(made.NOW_S, "Starting")
BUSY = running(committed=-1, in_flight=42)


def recreated(seen):
    spec = dataclasses.replace(seen.job.spec, update=RECREATED)
    return dataclasses.replace(seen, job=dataclasses.replace(seen.job, spec=spec))


def stopping(driver=OLD, current=None, **more):
    """The old driver, which ends first."""
    return recreated(view(driver, made.executor(), told={OLD.name: OPEN}, current=current, **more))


def test_what_ran_is_remembered_before_it_ends():
    verdict = judge(stopping())
    now = verdict.handoff
    assert (now.phase, now.old_pod, now.old_revision) == (handoff.REPLACING, OLD.name, OLD_REVISION)
    assert (now.pod, now.revision, now.attempt) == (NEW_NAME, REVISION, 2)
    assert deleted(verdict) == {OLD.name}
    again = judge(stopping(now=now))
    assert (again.handoff, deleted(again)) == (handoff.read({"handoff": written(now)}), {OLD.name})


NO_BETTER = {
    "is not ready": {"driver": dataclasses.replace(OLD, ready=False, ready_s=0.0)},
    "has failed before": {"current": made.begun(restarts=1)},
    "runs in place of a revision that was given up": {
        "given_up": handoff.GivenUp(OLD_REVISION, REVISION, "why", made.NOW_S)
    },
}


@pytest.mark.parametrize("seen", NO_BETTER.values(), ids=NO_BETTER)
def test_nothing_is_to_go_back_to_where_the_old_driver(seen):
    verdict = judge(stopping(**seen))
    assert (verdict.reason, verdict.handoff) == ("SpecChanged", None)


def test_nor_where_it_wrote_another_checkpoint():
    place = dataclasses.replace(made.spec().checkpoint, location="s3a://b/other")
    verdict = judge(dataclasses.replace(stopping(), former=made.spec(checkpoint=place)))
    assert (verdict.reason, verdict.handoff) == ("SpecChanged", None)


def test_of_a_revision_that_had_not_proved_itself_the_one_before_is_remembered():
    proving = dataclasses.replace(begun(handoff.PROVING), pod=OLD.name, old_revision="abcdef", old_pod="before")
    assert judge(stopping(now=proving)).handoff.old_revision == "abcdef"


def test_it_starts_under_the_number_that_was_set_aside_and_has_its_time_from_then():
    now = begun(handoff.REPLACING, since_s=80)
    verdict = judge(recreated(view(now=now, said={})))
    assert (verdict.driver.attempt, verdict.driver.pod) == (2, NEW_NAME)
    assert created(verdict)[-1]["metadata"]["name"] == NEW_NAME
    assert (verdict.handoff.phase, verdict.handoff.since_s) == (handoff.REPLACING, made.NOW_S)


def test_a_spec_that_is_changed_again_meanwhile_is_what_starts():
    now = dataclasses.replace(begun(handoff.REPLACING), revision="abcdef", pod="clicks-abcdef-2")
    verdict = judge(recreated(view(now=now, said={})))
    assert (verdict.handoff.revision, verdict.handoff.pod) == (REVISION, verdict.driver.pod)
    assert verdict.handoff.old_revision == OLD_REVISION


def starting(said=None, since_s=20.0, executor=None, **pod):
    """The new driver, and what it says."""
    current = {**made.begun(2), "revision": REVISION, "phase": "Running"}
    since = driver_state.timestamp(made.NOW_S - since_s)
    current["driver"] = {**current["driver"], "pod": NEW_NAME, "uid": "uid-2", "since": since}
    pods = (new(**{"ready_s": made.NOW_S - since_s + 5, **pod}), its_executor(**(executor or {})))
    now = begun(handoff.REPLACING, since_s)
    heard = {OLD.name: dataclasses.replace(RUNS, drain="stopped")} | ({NEW_NAME: said} if said else {})
    return recreated(view(*pods, now=now, said=heard, told={NEW_NAME: OPEN}, current=current))


def running_nothing():
    return dataclasses.replace(running(), queries=())


DIED = {"phase": "Failed", "ready": False, "ended": records.Ended(1, at_s=made.NOW_S)}
PULL = {"phase": "Pending", "ready": False, "waiting": "ErrImagePull"}
PENDING = {"phase": "Pending", "ready": False}
FULL = {**PENDING, "unschedulable": "no CPU"}
FAULTS = {
    "it ends": ({**DIED}, "exit code 1"),
    "a query fails": ({"said": running(phase="ended", problem="no such column")}, "no such column"),
    "its image cannot be pulled": ({"since_s": 61, **PULL}, "cannot be pulled"),
    "it does not come up": ({"since_s": 601, **PENDING}, "not ready 10 minutes"),
    "its program hangs before Spark": (
        {"since_s": 601, "said": STARTING, "executor": PENDING},
        "not started Spark 10 minutes",
    ),
    "it begins no query": ({"since_s": 601, "said": running_nothing()}, "committed nothing 10 minutes"),
    "its first batch does not end": ({"since_s": 601, "said": BUSY}, "committed nothing 10 minutes"),
}


@pytest.mark.parametrize(("seen", "words"), FAULTS.values(), ids=FAULTS)
def test_the_revision_before_runs_again_when(seen, words):
    verdict = judge(starting(**seen))
    assert verdict.handoff.phase == handoff.ROLLED_BACK
    assert (verdict.given_up.revision, verdict.given_up.instead) == (REVISION, OLD_REVISION)
    assert words in verdict.given_up.why


KILLED = {"phase": "Failed", "ready": False, "reason": "Evicted", "ended": records.Ended(137, at_s=made.NOW_S)}
WAITS = {
    "it comes up": {"since_s": 599, **PENDING},
    "a registry does not answer for a moment": {"since_s": 59, **PULL},
    "it fits nowhere": {"since_s": 700, **FULL},
    "its executors fit nowhere": {"since_s": 700, "said": BUSY, "executor": FULL},
    "it works on its first batch": {"since_s": 599, "said": BUSY},
    "it was evicted": {**KILLED},
}


@pytest.mark.parametrize("seen", WAITS.values(), ids=WAITS)
def test_it_is_not_to_blame_while(seen):
    verdict = judge(starting(**seen))
    assert verdict.given_up is None
    assert verdict.handoff is None or verdict.handoff.phase == handoff.REPLACING


def test_its_first_commit_ends_the_pause_and_from_there_it_is_watched_as_any_that_took_over():
    said = running(committed=42, batch=42, committed_at_ms=31_000, first_commit_at_ms=31_000)
    now = judge(starting(said)).handoff
    assert (now.phase, now.to_batch, now.pause_ms) == (handoff.PROVING, 42, 30_000)


def test_one_that_has_nothing_to_do_has_begun_after_ten_minutes():
    assert judge(starting(running(committed=-1), since_s=601)).handoff.phase == handoff.PROVING


def test_of_one_that_says_nothing_it_is_enough_that_it_runs_for_ten_minutes():
    assert judge(starting(since_s=590)).handoff.phase == handoff.REPLACING
    assert judge(starting(since_s=620)).handoff.phase == handoff.DONE


REFUSED = {
    "no pod can be made of it": ({}, {"spec": {"containers": "text"}}, True),
    "the API server refuses its pod": ({"refused": "unknown volume"}, {}, True),
    "a quota leaves no room for it": ({"refused": "exceeded quota: small"}, {}, False),
}


@pytest.mark.parametrize(("seen", "template", "is_its_fault"), REFUSED.values(), ids=REFUSED)
def test_a_revision_of_which_there_is_no_pod_is_given_up_where(seen, template, is_its_fault):
    found = recreated(view(now=begun(handoff.REPLACING, since_s=61), said={}, **seen))
    driver = dataclasses.replace(found.job.spec.driver, template=template)
    job = dataclasses.replace(found.job, spec=dataclasses.replace(found.job.spec, driver=driver))
    first = life.judge(dataclasses.replace(found, job=job), AROUND)
    if not first.given_up:
        begun_ = {**job.status, "revision": first.driver.revision, "driver": first.driver.write(), "phase": "Starting"}
        job = dataclasses.replace(job, status={**begun_, "handoff": written(begun(handoff.REPLACING, 61))})
        first = life.judge(dataclasses.replace(found, job=job), AROUND)
    assert (first.given_up is not None) == is_its_fault


def test_a_job_that_ends_or_is_suspended_meanwhile_is_not_on_its_way_any_more():
    suspended = starting()
    spec = dataclasses.replace(suspended.job.spec, suspend=True)
    suspended = dataclasses.replace(suspended, job=dataclasses.replace(suspended.job, spec=spec), pods=())
    assert judge(suspended).handoff.phase == handoff.DONE
    ended = starting(phase="Succeeded", ready=False, ended=records.Ended(0, at_s=made.NOW_S))
    once = dataclasses.replace(ended.job.spec, restart=dataclasses.replace(ended.job.spec.restart, policy="OnFailure"))
    ended = dataclasses.replace(ended, job=dataclasses.replace(ended.job, spec=once))
    assert (judge(ended).phase, judge(ended).handoff.phase) == ("Completed", handoff.DONE)


def test_a_job_without_the_plugin_goes_back_as_well():
    seen = starting(**DIED)
    assert life.judge(seen, build.Surroundings()).given_up.instead == OLD_REVISION
