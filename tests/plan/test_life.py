"""What a driver needs next: from what is seen of a job to a phase, a reason, and steps."""

import dataclasses

import pytest

from plan import made
from sluice import build
from sluice.plan import changes, ended, life
from sluice.values import names, steps, streamjob

AROUND = build.Surroundings()


def judge(view):
    return life.judge(view, AROUND)


def created(verdict):
    return [s.manifest["metadata"]["name"] for stage in verdict.stages for s in stage if isinstance(s, steps.Create)]


def deleted(verdict):
    return [s.uid for stage in verdict.stages for s in stage if isinstance(s, steps.Delete)]


def pod_name(attempt, job=None):
    return names.driver_pod("clicks", changes.revision(job or made.job()), attempt)


def test_a_new_job_is_begun_with_everything_its_driver_needs_before_it():
    verdict = judge(made.view())
    assert (verdict.phase, verdict.driver.attempt, verdict.driver.uid) == ("Starting", 1, "")
    kinds = [[s.manifest["kind"] for s in stage] for stage in verdict.stages]
    assert kinds[-1] == ["Pod"]
    assert sorted(kinds[-2]) == [
        "ConfigMap",
        "Lease",
        *["PodDisruptionBudget"] * 2,
        "RoleBinding",
        "Service",
        "ServiceAccount",
    ]
    assert created(verdict)[-1] == pod_name(1)


def test_a_start_that_was_recorded_and_not_made_is_made_under_the_same_name():
    verdict = judge(made.view(made.job(status=made.begun(3, "Starting", uid=""))))
    assert created(verdict)[-1] == pod_name(3)
    assert verdict.driver.attempt == 3


def test_a_driver_that_was_seen_and_is_gone_is_followed_by_the_next_attempt():
    verdict = judge(made.view(made.job(status=made.begun(3))))
    assert created(verdict)[-1] == pod_name(4)
    assert f"{pod_name(3)} is gone" in verdict.message


def test_a_running_driver_with_its_executors_is_ready_and_left_alone():
    verdict = judge(made.view(made.job(status=made.begun()), made.driver(), made.executor()))
    assert (verdict.phase, verdict.reason, verdict.ready) == ("Running", "Running", True)
    assert created(verdict) == deleted(verdict) == []


WAITING = [
    ("ImagePull", {"waiting": "ImagePullBackOff", "waiting_message": "no such image"}, "spec.image"),
    ("ContainerConfig", {"waiting": "CreateContainerConfigError", "waiting_message": "no secret x"}, "no secret x"),
    ("Unschedulable", {"unschedulable": "0/3 nodes are available", "node": ""}, "spec.driver.memory"),
    ("DriverStarting", {}, "is Pending"),
]


@pytest.mark.parametrize(("reason", "seen", "hint"), WAITING, ids=[w[0] for w in WAITING])
def test_why_a_driver_does_not_start_is_a_reason_with_a_hint(reason, seen, hint):
    job = made.job(status=made.begun(since="2027-01-15T07:59:00Z"))
    verdict = judge(made.view(job, made.driver(phase="Pending", ready=False, **seen)))
    assert (verdict.phase, verdict.reason, verdict.stuck) == ("Starting", reason, False)
    assert hint in verdict.message
    assert verdict.look_again_s == pytest.approx(541)


def test_a_start_that_takes_too_long_is_called_stuck():
    job = made.job(status=made.begun(since="2027-01-15T07:40:00Z"))
    verdict = judge(made.view(job, made.driver(phase="Pending", ready=False)))
    assert verdict.stuck
    assert "for more than 10 minutes" in verdict.message


FAILURES = [
    ("OutOfMemory", made.ended(exit_code=137, reason_ended="OOMKilled"), "raise spec.driver.memory"),
    ("ApplicationError", made.ended(), "exit code 1"),
    ("ExecutorsFailed", made.ended(exit_code=11), "describe quota"),
    ("Killed", made.ended(exit_code=143), "killed from outside"),
    ("ContainerConfig", made.ended(exit_code=127), "entry point"),
    ("EndedByItself", made.ended(exit_code=0), "needs OnFailure"),
    ("Evicted", made.ended(reason="Evicted", message="node was low on memory"), "low on memory"),
    ("NodeLost", made.ended(reason="NodeLost"), "ended with its node node1"),
    ("OutOfcpu", made.driver(phase="Failed", reason="OutOfcpu", message="no cpu left", ready=False), "no cpu left"),
]


@pytest.mark.parametrize(("reason", "driver", "hint"), FAILURES, ids=[f[0] for f in FAILURES])
def test_a_driver_that_failed_waits_out_its_backoff_and_says_why(reason, driver, hint):
    verdict = judge(made.view(made.job(status=made.begun()), driver))
    assert (verdict.phase, verdict.reason, verdict.driver.restarts) == ("Restarting", reason, 1)
    assert hint in verdict.message
    assert verdict.driver.retry_s == made.NOW_S + 5
    assert created(verdict) == []


def test_the_last_words_of_a_driver_are_kept():
    failure = judge(made.view(made.job(status=made.begun()), made.ended())).driver.last_failure
    assert failure.message.splitlines()[1] == "last words"


def failed(attempt, restarts, retry_at):
    failure = {"attempt": attempt, "exitCode": 1, "reason": "ApplicationError", "message": "x", "at": retry_at}
    return made.begun(attempt, "Restarting", restarts=restarts, retryAt=retry_at, lastFailure=failure)


def test_after_the_backoff_the_next_attempt_begins_and_the_last_failed_driver_is_kept():
    job = made.job(status=failed(2, 2, "2027-01-15T07:59:00Z"))
    verdict = judge(made.view(job, made.ended(1), made.ended(2)))
    assert created(verdict)[-1] == pod_name(3)
    assert deleted(verdict) == ["uid-1"]


BACKOFF = [(1, 5), (2, 10), (3, 20), (6, 160), (7, 300), (500, 300)]


@pytest.mark.parametrize(("restarts", "wait_s"), BACKOFF)
def test_the_backoff_doubles_up_to_its_longest(restarts, wait_s):
    assert ended.backoff_s(5.0, 300.0, restarts) == wait_s


def test_a_driver_that_was_healthy_for_a_while_begins_its_backoff_anew():
    job = made.job(status=made.begun(restarts=6))
    assert judge(made.view(job, made.ended(after_s=599))).driver.restarts == 7
    assert judge(made.view(job, made.ended(after_s=601))).driver.restarts == 1


POLICIES = [("Always", 1, "Restarting"), ("Always", 0, "Restarting"), ("OnFailure", 1, "Restarting")]
POLICIES += [("OnFailure", 0, "Completed"), ("Never", 1, "Failed"), ("Never", 0, "Completed")]


@pytest.mark.parametrize(("policy", "exit_code", "phase"), POLICIES)
def test_the_restart_policy_says_what_an_end_means(policy, exit_code, phase):
    job = made.job(status=made.begun(), restart=streamjob.Restart(policy))
    verdict = judge(made.view(job, made.ended(exit_code=exit_code)))
    assert (verdict.phase, created(verdict)) == (phase, [])


@pytest.mark.parametrize("phase", ["Completed", "Failed"])
def test_a_job_that_ended_for_good_stays_so_until_its_spec_changes(phase):
    never = streamjob.Restart("Never")
    status = made.begun(phase=phase)
    assert created(judge(made.view(made.job(status=status, restart=never)))) == []
    changed = made.job(status=status, restart=never, image="clicks:2")
    assert created(judge(made.view(changed)))[-1] == pod_name(2, changed)


def test_suspend_ends_the_driver_and_then_rests_and_resume_begins_the_next_attempt():
    running = made.job(status=made.begun(), suspend=True)
    stopping = judge(made.view(running, made.driver(), made.executor()))
    assert (stopping.phase, deleted(stopping)) == ("Stopping", ["uid-1"])
    assert judge(made.view(running)).phase == "Suspended"
    resumed = judge(made.view(made.job(status=made.begun(phase="Suspended"))))
    assert created(resumed)[-1] == pod_name(2)


DELETED = [("just now", 0, 151, False), ("in its time", 150, 1, False), ("too long ago", 151, None, True)]


@pytest.mark.parametrize(("ago_s", "look_again_s", "late"), [d[1:] for d in DELETED], ids=[d[0] for d in DELETED])
def test_a_driver_that_somebody_deleted_has_its_time_from_then_however_old_it_is(ago_s, look_again_s, late):
    old = made.job(status=made.begun(since="2027-01-01T00:00:00Z"))
    verdict = judge(made.view(old, made.driver(deleting=True, deleted_s=made.NOW_S - ago_s)))
    assert (verdict.reason, verdict.stuck, verdict.look_again_s) == ("Stopping", late, look_again_s)
    assert ("for more than 150 s" in verdict.message) is late


def test_a_changed_spec_ends_the_driver_first_and_starts_the_new_revision_only_when_it_is_gone():
    job = made.job(status=made.begun(), image="clicks:2")
    stopping = judge(made.view(job, made.driver()))
    assert (stopping.phase, stopping.reason, deleted(stopping)) == ("Restarting", "SpecChanged", ["uid-1"])
    going = judge(made.view(job, made.driver(deleting=True)))
    assert created(going) == deleted(going) == []
    assert created(judge(made.view(job)))[-1] == pod_name(2, job)


UNCHANGED = [
    {"slo": streamjob.Slo(2.0, 10)},
    {"placement": streamjob.Placement("Observe")},
    {"restart": streamjob.Restart("OnFailure")},
]


@pytest.mark.parametrize("change", UNCHANGED, ids=["slo", "placement", "restart"])
def test_what_the_driver_does_not_see_restarts_nothing(change):
    verdict = judge(made.view(made.job(status=made.begun(), **change), made.driver(), made.executor()))
    assert deleted(verdict) == []


def test_never_a_second_driver_while_one_of_an_earlier_job_of_the_name_lives():
    stranger = dataclasses.replace(made.driver(), owner_uid="somebody else")
    verdict = judge(made.view(made.job(), stranger))
    assert (verdict.phase, verdict.reason, created(verdict)) == ("Pending", "PredecessorStopping", [])


def test_never_a_second_driver_on_a_checkpoint_and_the_first_is_named():
    verdict = judge(made.view(made.job(), rival="team/first"))
    assert (verdict.phase, verdict.reason, created(verdict)) == ("Pending", "CheckpointInUse", [])
    assert "team/first writes s3a://b/c" in verdict.message


def test_never_a_second_driver_while_the_node_of_the_first_is_silent():
    job = made.job(status=made.begun())
    verdict = judge(made.view(job, made.driver(deleting=True), lost_nodes=frozenset({"node1"})))
    assert (verdict.reason, verdict.stuck, created(verdict)) == ("NodeLost", True, [])
    assert "--force" in verdict.message


def test_executors_of_a_driver_that_ended_go_first_but_hold_nothing_up_for_ever():
    job = made.job(status=failed(1, 1, "2027-01-15T07:59:58Z"))
    left = made.executor()
    soon = judge(made.view(job, made.ended(), left))
    assert (soon.reason, deleted(soon), created(soon)) == ("ExecutorsLeft", [left.uid], [])
    later = judge(made.view(job, made.ended(), left, now_s=made.NOW_S + 20))
    assert created(later)[-1] == pod_name(2)


def test_two_drivers_however_they_came_about_are_one_again_and_it_is_the_later():
    job = made.job(status=made.begun(2))
    assert deleted(judge(made.view(job, made.driver(1), made.driver(2)))) == ["uid-1"]


def test_what_the_api_server_refuses_is_said_and_tried_again():
    verdict = judge(made.view(made.job(status=made.begun(uid="")), refused="exceeded quota: team"))
    assert (verdict.reason, verdict.stuck) == ("Refused", True)
    assert "exceeded quota: team" in verdict.message
    assert created(verdict)[-1] == pod_name(1)


@pytest.mark.parametrize("label", ["", "x", "-1", "٣"])
def test_a_label_that_somebody_changed_is_survived(label):
    pod = made.driver(labels={**made.driver().labels, names.ATTEMPT: label})
    assert judge(made.view(made.job(status=made.begun()), pod, made.executor())).phase == "Running"


def test_a_spec_that_no_pod_can_be_made_of_is_named_and_nothing_is_begun():
    small = made.job(driver=streamjob.Driver(memory_bytes=1 << 20))
    verdict = judge(made.view(small))
    assert (verdict.phase, verdict.reason, verdict.stuck, created(verdict)) == ("Pending", "InvalidSpec", True, [])
    assert verdict.message.startswith("spec.driver.memory")
    unread = dataclasses.replace(made.job(), unreadable="spec.slo.lag=x: allowed is a number")
    assert judge(made.view(unread)).reason == "InvalidSpec"


def test_a_template_of_executors_is_tried_before_the_driver_that_would_use_it_is_made():
    job = made.job(executors=streamjob.Executors(template={"spec": {"nodeSelector": {"zone": "a"}}}))
    stages = judge(made.view(job)).stages
    tried = [step.manifest for stage in stages for step in stage if isinstance(step, steps.Try)]
    assert [pod["spec"]["nodeSelector"] for pod in tried] == [{"zone": "a"}]
    assert [isinstance(stage[0], steps.Try) for stage in stages if stage] == [True, False, False]


def test_what_a_changed_spec_asks_for_is_said_before_it_is_done():
    view = made.view(made.job(status=made.begun(), image="clicks:2"), made.driver(), former=made.spec())
    assert "image: clicks:1 → clicks:2: hand over the driver" in judge(view).message
