"""What a StreamJob says of itself: conditions, counts, the last ten decisions; and the events that tell of it."""

import dataclasses
import json

import pytest

from plan import made
from sluice import build
from sluice.plan import life, placed, retry_place, status
from sluice.values import names, steps, streamjob

CLEAN = made.begun()


def verdict_of(view):
    return life.judge(view, build.Surroundings())


def recorded(view):
    return [step.patch for step in status.record(view, verdict_of(view))]


def after(view):
    """The same view once its status is written."""
    told = status.wanted(view, verdict_of(view))
    return dataclasses.replace(view, job=dataclasses.replace(view.job, status=told))


def condition(view, kind):
    found = {c["type"]: c for c in status.wanted(view, verdict_of(view))["conditions"]}
    return found[kind]["status"], found[kind]["reason"], found[kind]["message"]


def told(view):
    return [(step.reason, step.warning) for step in status.tell(view, verdict_of(view))]


def sent(pod, node="node2", why="meets 2 of its 3 B/s there", at_s=made.NOW_S - 4):
    return dataclasses.replace(pod, placed=placed.Place(at_s, node, "consolidate", why).write())


RUNNING = made.view(made.job(status=CLEAN), made.driver(), sent(made.executor()))


def test_a_status_that_says_it_already_is_not_written_again():
    assert recorded(after(RUNNING)) == []


def test_only_what_changed_is_written_and_against_the_version_that_was_seen():
    changed = dataclasses.replace(after(RUNNING), pods=(made.driver(), sent(made.executor(phase="Pending"))))
    step = status.record(changed, verdict_of(changed))[0]
    assert (step.uid, step.resource_version) == ("uid-clicks", "7")
    assert step.patch["executors"] == {"running": 0}
    assert "selector" not in step.patch


def test_a_job_is_ready_for_kubectl_wait_at_the_generation_that_was_observed():
    conditions = status.wanted(RUNNING, verdict_of(RUNNING))["conditions"]
    ready = conditions[0]
    assert (ready["type"], ready["status"], ready["observedGeneration"]) == ("Ready", "True", 2)


PROGRESSING = [
    ("a start", made.view(), "True"),
    ("a running job", RUNNING, "False"),
    ("a job that only its user can help", made.view(rival="team/first"), "False"),
    ("a backoff", made.view(made.job(status=CLEAN), made.ended()), "True"),
]


@pytest.mark.parametrize(("view", "progressing"), [p[1:] for p in PROGRESSING], ids=[p[0] for p in PROGRESSING])
def test_progressing_says_whether_waiting_helps(view, progressing):
    assert condition(view, "Progressing")[0] == progressing


def test_what_nobody_measures_is_unknown_and_not_good():
    for kind in ("Balanced", "SLOMet", "CheckpointHealthy"):
        assert condition(RUNNING, kind)[:2] == ("Unknown", "NotMeasured")
    assert condition(RUNNING, "Protected")[:2] == ("False", "NoPlugin")


def with_mode(mode, *executors):
    return made.view(made.job(status=CLEAN, placement=streamjob.Placement(mode)), made.driver(), *executors)


PLACED = [
    ("where it was sent", with_mode("Act", sent(made.executor())), ("True", "Placed")),
    ("at its gate", with_mode("Act", made.waiting()), ("False", "Waiting")),
    ("opened", with_mode("Act", sent(made.executor(), node="")), ("False", "Open")),
    ("opened by the agent", with_mode("Act", made.executor()), ("False", "Open")),
    ("shown only", with_mode("Observe", sent(made.executor(), node="")), ("False", "Observed")),
    ("off", with_mode("Off", made.executor()), ("False", "Off")),
    ("nobody may place", dataclasses.replace(with_mode("Act", made.executor()), placing=False), ("False", "Off")),
    ("none there", with_mode("Act"), ("False", "NoExecutors")),
    ("by no leave", dataclasses.replace(with_mode("Act", made.executor()), placing=False), ("False", "Off")),
    ("off anyway", dataclasses.replace(with_mode("Off", made.executor()), placing=False), ("False", "Off")),
]


@pytest.mark.parametrize(("view", "expected"), [p[1:] for p in PLACED], ids=[p[0] for p in PLACED])
def test_placed_says_whether_every_executor_sits_where_it_was_sent(view, expected):
    assert condition(view, "Placed")[:2] == expected


def test_a_condition_keeps_its_moment_until_its_status_changes():
    seen = dataclasses.replace(after(RUNNING), now_s=made.NOW_S + 60)
    still = status.wanted(seen, verdict_of(seen))["conditions"][0]
    assert still["lastTransitionTime"] == "2027-01-15T08:00:00Z"
    lost = dataclasses.replace(seen, pods=(made.driver(),))
    gone = status.wanted(lost, verdict_of(lost))["conditions"][0]
    assert (gone["status"], gone["lastTransitionTime"]) == ("False", "2027-01-15T08:01:00Z")


def test_an_event_tells_of_each_change_once():
    assert told(RUNNING) == [("Running", False), ("Placed", False)]
    assert told(after(RUNNING)) == []
    failed = dataclasses.replace(after(RUNNING), pods=(made.ended(),))
    assert told(failed) == [("ApplicationError", True)]


LOST = dataclasses.replace(after(RUNNING), pods=(made.driver(),))


def later(view, after_s, *pods):
    return dataclasses.replace(after(view), now_s=view.now_s + after_s, pods=pods)


def test_a_lost_executor_is_told_of_once_and_only_if_it_stays_away():
    assert told(LOST) == []
    gated = later(LOST, 300, made.driver(), made.waiting(2))
    assert told(gated) == []
    late = later(gated, 300, made.driver(), made.waiting(2))
    assert told(late) == [("ExecutorsMissing", True)]
    assert told(later(late, 60, made.driver())) == told(later(late, 60, made.driver(), made.waiting(3))) == []


TAKEN_UP = [
    ("fields that are read at every decision", {"slo": streamjob.Slo(lag=5)}, ["SpecTakenUp"]),
    ("nothing at all", {}, []),
    ("the driver, too", {"slo": streamjob.Slo(lag=5), "image": "clicks:2"}, ["SpecChanged"]),
    ("the job's life", {"slo": streamjob.Slo(lag=5), "suspend": True}, ["Suspending"]),
]


@pytest.mark.parametrize(("change", "reasons"), [t[1:] for t in TAKEN_UP], ids=[t[0] for t in TAKEN_UP])
def test_a_change_that_its_own_reason_does_not_tell_of_is_told_of(change, reasons):
    job = dataclasses.replace(after(RUNNING).job, spec=made.spec(**change), before=made.spec())
    assert [reason for reason, _ in told(dataclasses.replace(RUNNING, job=job))] == reasons


def test_decisions_come_from_the_pods_themselves_and_from_what_is_done_now():
    view = made.view(made.job(status=CLEAN, suspend=True), made.driver(), sent(made.executor()))
    found = [(d["kind"], d["subject"]) for d in status.wanted(view, verdict_of(view))["decisions"]]
    assert found == [("Place", made.executor().name), ("Stop", made.driver().name)]


def test_the_last_ten_decisions_stay_and_no_older_one_comes_back():
    many = [sent(made.executor(number), at_s=made.NOW_S - 100 + number) for number in range(1, 13)]
    view = made.view(made.job(status=CLEAN), made.driver(), *many)
    decisions = status.wanted(view, verdict_of(view))["decisions"]
    assert [d["subject"][-2:] for d in decisions] == ["-3", "-4", "-5", "-6", "-7", "-8", "-9", "10", "11", "12"]
    again = after(view)
    assert status.wanted(again, verdict_of(again))["decisions"] == decisions


def test_the_size_of_a_status_does_not_follow_the_number_of_executors_that_came_and_went():
    def size(count):
        nodes = [f"node{number:04d}" for number in range(count)]
        pods = [sent(made.executor(n, node=node), node, why="w" * 5000) for n, node in enumerate(nodes)]
        view = made.view(made.job(status=CLEAN), made.driver(), *pods)
        return len(json.dumps(status.wanted(after(view), verdict_of(view))))

    assert size(400) < size(100) + 200 < 16_000


def test_words_that_anyone_may_write_onto_a_pod_are_not_believed():
    for text in ("", "{", "[]", '{"at": 1}', '{"at": "x", "node": "n", "policy": "p", "why": "w"}', "null"):
        view = with_mode("Act", made.executor(placed=text))
        assert condition(view, "Placed")[1] == "Open"


def turned_away(number=1, node="node2"):
    return sent(made.executor(number, phase="Pending", node="", unschedulable="0/3 nodes are available"), node)


def test_an_executor_whose_node_could_not_take_it_is_given_up_and_the_node_remembered():
    view = made.view(made.job(status=CLEAN), made.driver(), turned_away())
    assert [step.uid for step in retry_place.deletes(view)] == [made.executor().uid]
    avoid = status.wanted(view, verdict_of(view))["placement"]["avoid"]
    assert avoid == [{"node": "node2", "at": "2027-01-15T08:00:00Z"}]


KEPT = [
    ("left to the scheduler", sent(turned_away(), node="")),
    ("at its gate", made.waiting(unschedulable="gated")),
    ("bound since", dataclasses.replace(turned_away(), node="node2")),
    ("on its way out", dataclasses.replace(turned_away(), deleting=True)),
    ("a driver", dataclasses.replace(turned_away(), labels={names.JOB: "clicks", names.ROLE: names.DRIVER})),
]


@pytest.mark.parametrize("pod", [k[1] for k in KEPT], ids=[k[0] for k in KEPT])
def test_no_other_pod_is_given_up(pod):
    assert retry_place.deletes(made.view(made.job(status=CLEAN), made.driver(), pod)) == ()


DIFFERENCES = [
    ({}, {"a": 1}, {"a": 1}),
    ({"a": 1}, {"a": 1}, {}),
    ({"a": {"b": 1, "c": 2}}, {"a": {"b": 1, "c": 3}}, {"a": {"c": 3}}),
    ({"a": {"b": 1}}, {"a": {"b": None}}, {"a": {"b": None}}),
    ({"a": {}}, {"a": {"b": None}}, {}),
    ({"nodes": {"x": 1}}, {"nodes": {"y": 2}}, {"nodes": {"x": None, "y": 2}}),
    ({"a": [1]}, {"a": [1, 2]}, {"a": [1, 2]}),
    ({"drivers": {"d": {"x": {"y": 1}}}}, {"drivers": {"d": {"x": {}}}}, {"drivers": {"d": {"x": {"y": None}}}}),
    ({"drivers": {"d": {"x": 1, "y": 2}}}, {"drivers": {"d": {"x": 1}}}, {"drivers": {"d": {"y": None}}}),
]


@pytest.mark.parametrize(("old", "new", "patch"), DIFFERENCES)
def test_a_patch_is_only_what_differs(old, new, patch):
    assert status.difference(old, new) == patch


def test_the_status_names_what_scale_needs():
    told_of = status.wanted(RUNNING, verdict_of(RUNNING))
    assert told_of["selector"] == "sluice.dev/job=clicks,sluice.dev/role=executor"
    assert told_of["executors"] == {"wanted": 1, "running": 1, "waiting": 0}
    assert isinstance(status.record(RUNNING, verdict_of(RUNNING))[0], steps.RecordStatus)
