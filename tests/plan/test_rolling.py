"""What a driver that runs is told of its executors: who comes, who goes, and what is awaited before the next step."""

import dataclasses
import json

import pytest

from plan import made
from plan.crews import (
    BEGUN,
    COMING,
    DRIVER,
    FULL,
    MORE,
    NEW,
    OLD,
    OPEN,
    PULL,
    TEXT,
    TOLERANT,
    deleted,
    executor,
    judged,
    mark,
    ordered,
    three,
    told,
    view,
    wanted,
)
from sluice.plan import changes, rolling, status
from sluice.values import handoff, names, reports, steps, streamjob

SCALES = {
    "one more": (three(), OPEN, wanted(4), wanted(3), (4, []), []),
    "three more": (three(), told(3), wanted(6), wanted(3), (6, []), []),
    "of fewer the youngest goes": (three(), OPEN, wanted(2), wanted(3), (2, ["3"]), []),
    "two fewer at once": (three(), OPEN, wanted(1), wanted(3), (1, ["2", "3"]), []),
    "who does not run is deleted and not named": (
        [executor(1, **COMING), *three()[1:]],
        OPEN,
        wanted(2),
        wanted(3),
        (2, []),
        ["1"],
    ),
    "who has just begun is not named before Spark knows it": (
        [*three()[:2], executor(3, ready_s=made.NOW_S - 1)],
        OPEN,
        wanted(2),
        wanted(3),
        (2, []),
        [],
    ),
    "who is named stays so until it is gone": (three(), told(2, "3"), wanted(2), None, (2, ["3"]), []),
    "who is gone is named no longer": (three()[:2], told(2, "3"), wanted(2), None, (2, []), []),
    "who has ended is named no longer": (
        [*three()[:2], executor(3, phase="Succeeded")],
        told(2, "3"),
        wanted(2),
        None,
        (2, []),
        [],
    ),
    "more again while some go": (three(), told(1, "2", "3"), wanted(2), wanted(1), (2, ["2", "3"]), []),
}


@pytest.mark.parametrize(("pods", "before", "spec", "former", "expected", "gone"), SCALES.values(), ids=SCALES)
def test_executors_come_and_go(pods, before, spec, former, expected, gone):
    seen = view(pods, before, spec, former)
    assert (ordered(seen), deleted(seen)) == (expected, gone)


ROLLS = {
    "one more comes first": (three(), BEGUN, 0, (4, []), []),
    "it is waited for": ([*three(), executor(4, NEW, **COMING)], MORE, 60, (4, []), []),
    "it has to warm up": ([*three(), executor(4, NEW, ready_s=made.NOW_S - 5)], MORE, 60, (4, []), []),
    "once it works an old one goes": ([*three(), executor(4, NEW)], MORE, 60, (3, ["3"]), []),
    "nobody else meanwhile": ([*three(), executor(4, NEW)], told(3, "3", **TEXT), 60, (3, ["3"]), []),
    "once that is gone one more comes": ([*three()[:2], executor(4, NEW)], told(3, "3", **TEXT), 60, (4, []), []),
    "without room one goes before": ([*three(), executor(4, NEW, **FULL)], MORE, 5, (3, ["3"]), []),
    "and so it does when it takes too long": ([*three(), executor(4, NEW, **COMING)], MORE, 121, (3, ["3"]), []),
    "and when Spark may make none": (three(), MORE, 121, (3, ["3"]), []),
    "but not for an image that cannot be pulled": ([*three(), executor(4, NEW, **PULL)], MORE, 121, (4, []), []),
    "then it waits for all to run again": (
        [*three()[:2], executor(4, NEW, **FULL)],
        told(3, "3", **TEXT),
        60,
        (3, []),
        [],
    ),
    "an old one that does not run goes at once": ([*three()[:2], executor(3, **COMING)], BEGUN, 0, (3, []), ["3"]),
    "one without a mark is old": (
        [made.executor(1, ready=True, ready_s=0), executor(4, NEW), executor(5, NEW)],
        BEGUN,
        0,
        (4, []),
        [],
    ),
    "at rest all are new": (three(NEW), BEGUN, 999, (3, []), []),
    "the one too many goes": ([*three(NEW), executor(4, NEW)], MORE, 9, (3, ["4"]), []),
}


@pytest.mark.parametrize(("pods", "before", "since_s", "expected", "gone"), ROLLS.values(), ids=ROLLS)
def test_one_executor_is_replaced_after_another(pods, before, since_s, expected, gone):
    seen = view(pods, before, NEW, since_s=since_s)
    assert (ordered(seen), deleted(seen)) == (expected, gone)
    assert status.wanted(seen, judged(seen))["orders"]["drivers"][DRIVER.name]["executorTemplate"] == "as told"


def test_a_job_that_has_as_many_as_may_be_gets_no_one_more():
    crowd = [executor(number) for number in range(1, 1001)]
    many = wanted(1000, blue=True)
    assert ordered(view(crowd, told(1000, **TEXT), many, since_s=5)) == (1000, [])
    assert ordered(view(crowd, told(1000, **TEXT), many, since_s=121)) == (1000, ["1000"])


def test_a_template_is_told_with_the_first_orders_of_its_roll_and_says_whose_it_is():
    verdict = judged(view(three(), OPEN, NEW, OLD))
    pod = json.loads(verdict.told[DRIVER.name]["executorTemplate"])
    assert pod["metadata"]["labels"] == {"colour": "blue", names.TEMPLATE: mark(NEW)}
    assert verdict.told[DRIVER.name]["gate"] == OPEN["gate"]


def test_executors_of_before_the_mark_are_not_old_because_of_a_scale():
    pods = [dataclasses.replace(pod, labels=made.executor().labels) for pod in three()]
    assert ordered(view(pods, OPEN, wanted(4), wanted(3))) == (4, [])


CORDONS = {
    "one more comes elsewhere": (three(node="node1"), OPEN, {"node1"}, (4, [])),
    "then one of that node goes": ([*three(node="node1"), executor(4)], told(4), {"node1"}, (3, ["3"])),
    "of those on other nodes nobody does": (
        [executor(1, node="node1"), executor(2), executor(3), executor(4)],
        told(4),
        {"node1"},
        (3, ["1"]),
    ),
    "without room all stay, for theirs helps nobody": (
        [*three(node="node1"), executor(4, **FULL)],
        told(4),
        {"node1"},
        (4, []),
    ),
    "uncordoned, the one more goes": ([*three(), executor(4, **FULL)], told(4), set(), (3, [])),
}


@pytest.mark.parametrize(("pods", "before", "cordoned", "expected"), CORDONS.values(), ids=CORDONS)
def test_executors_leave_a_cordoned_node(pods, before, cordoned, expected):
    assert ordered(view(pods, before, cordoned=frozenset(cordoned), since_s=5)) == expected


QUIET = {
    "all is as wanted": (three(), {}, {}),
    "one is missing, which Spark knows": (three()[:2], {}, {}),
    "another's node is cordoned": (three(), {}, {"cordoned": frozenset({"node9"})}),
    "whose template says that cordons do not matter": (
        three(node="node1"),
        wanted() | {"executors": streamjob.Executors(3, template=TOLERANT)},
        {"cordoned": frozenset({"node1"})},
    ),
    "in Real-Time Mode": (three(), wanted(real_time=True), {}),
    "a driver that is not heard": (three(node="node1"), {}, {"cordoned": frozenset({"node1"}), "said": {}}),
}


@pytest.mark.parametrize(("pods", "spec", "more"), QUIET.values(), ids=QUIET)
def test_nothing_is_told_where_nothing_is_to_be_done(pods, spec, more):
    seen = view(pods, OPEN, spec or None, **more)
    assert (judged(seen).told, judged(seen).moves) == ({}, False)


def test_a_driver_without_the_plugin_is_told_nothing_of_a_cordon():
    seen = view(three(node="node1"), cordoned=frozenset({"node1"}))
    bare = dataclasses.replace(seen.job, status={**seen.job.status, "orders": None})
    assert judged(dataclasses.replace(seen, job=bare)).told == {}


SENTENCES = {
    "a roll": (three(), BEGUN, NEW, 0, "Rolling", "3 of 3 executors: executors 1, 2, 3 to be replaced: it is of an"),
    "who goes": (three(), told(2, "3"), wanted(2), 0, "Scaling", "executor 3 to go once the tasks there are done"),
    "who is awaited": (
        [*three(), executor(4, NEW, **PULL)],
        MORE,
        NEW,
        200,
        "Rolling",
        "exec-4 cannot be pulled: ImagePullBackOff",
    ),
    "that it takes too long": (three(), told(2, "3"), wanted(2), 301, "Scaling", "; for more than 5 minutes"),
}


@pytest.mark.parametrize(("pods", "before", "spec", "since_s", "reason", "words"), SENTENCES.values(), ids=SENTENCES)
def test_the_message_says_who_and_what_for(pods, before, spec, since_s, reason, words):
    verdict = judged(view(pods, before, spec, since_s=since_s))
    assert (verdict.reason, verdict.ready, verdict.moves) == (reason, True, True)
    assert words in verdict.message
    assert verdict.stuck == (since_s > rolling.DEADLINE_S)


def test_what_was_done_to_whom_is_a_decision():
    roll = judged(view([*three(), executor(4, NEW, **FULL)], MORE, NEW, since_s=5)).decisions
    assert [(one.kind, one.subject, one.what) for one in roll] == [
        ("Roll", f"{DRIVER.name}-exec-3", "sent away before its replacement comes")
    ]
    assert "no node takes" in roll[0].why
    scale = judged(view(three(), OPEN, wanted(1), wanted(3))).decisions
    assert [(one.kind, one.what) for one in scale] == [
        ("Scale", "executors: 1 instead of 3"),
        ("Scale", "executors 2, 3 sent away"),
    ]


def test_a_new_revision_is_recorded_with_the_first_orders_of_it():
    verdict = judged(view(three(), OPEN, NEW, OLD))
    revision = changes.revision(made.job(**NEW))
    assert (verdict.driver.rolled_to, verdict.driver.revision, verdict.driver.ordered_s) == (
        revision,
        revision,
        made.NOW_S,
    )


def test_nothing_begins_before_the_api_server_has_taken_the_template_and_the_configmap_is_there():
    verdict = judged(view(three(), OPEN, NEW, OLD, prepared=False))
    kinds = [[type(step) for step in stage] for stage in verdict.stages if stage]
    assert (verdict.reason, verdict.told, kinds) == (
        "Preparing",
        {},
        [[steps.Create], [steps.PatchPod], [steps.Try], [steps.Create]],
    )
    assert verdict.driver.revision == changes.revision(made.job(**OLD))
    refused = judged(view(three(), OPEN, NEW, OLD, prepared=False, refused="no such volume"))
    assert (refused.reason, refused.stuck, refused.ready) == ("Refused", True, True)
    assert "no such volume" in refused.message


def test_a_template_of_which_no_pod_can_be_made_stops_nobody():
    bad = {"executors": streamjob.Executors(3, template={"spec": {"containers": "text"}})}
    verdict = judged(view(three(), OPEN, bad, OLD, prepared=False))
    assert (verdict.reason, verdict.stuck, verdict.ready) == ("InvalidSpec", True, True)
    done = {type(step) for stage in verdict.stages for step in stage}
    assert done == {steps.Create, steps.PatchPod}  # who is not rolled may be evicted


CPU = {"spec": {"containers": [{"name": "executor", "resources": {"requests": {"cpu": "250m"}}}]}}
OTHERS = {
    "another image": wanted(4, image="clicks:2"),
    "Real-Time Mode": wanted(4, real_time=True),
    "another CPU request, which Spark reads but once": {"executors": streamjob.Executors(3, template=CPU)},
}


@pytest.mark.parametrize("spec", OTHERS.values(), ids=OTHERS)
def test_the_rest_is_another_driver(spec):
    former = wanted(3, real_time=spec.get("real_time", False))
    verdict = judged(view(three(), OPEN, spec, former))
    assert (verdict.phase, verdict.handoff.phase) == ("Running", handoff.PREPARING)


RESTARTS = {
    "a driver that runs as plain Spark": {"said": {DRIVER.name: reports.Report(at_s=made.NOW_S, phase="Unmanaged")}},
    "a driver on a lost node": {"lost_nodes": frozenset({"node8"})},
}


@pytest.mark.parametrize("more", RESTARTS.values(), ids=RESTARTS)
def test_a_driver_that_cannot_be_asked_is_restarted(more):
    assert judged(view(three(), OPEN, wanted(4), wanted(3), **more)).phase == "Restarting"


def test_so_it_is_where_nobody_knows_what_was_changed():
    unknown = dataclasses.replace(view(three(), OPEN, wanted(4), wanted(3)), former=None)
    assert judged(unknown).reason == "SpecChanged"


@pytest.mark.parametrize("pods", [three(), [*three()[:2], executor(3, phase="Failed")]])
def test_at_rest_orders_stay_as_they_are(pods):
    seen = view(pods, told(3), since_s=9_999)
    assert status.wanted(seen, judged(seen))["orders"] == seen.job.status["orders"]


def test_the_next_driver_begins_without_what_the_last_was_told():
    seen = view([], told(3, "2"), wanted())
    ended = dataclasses.replace(seen, pods=(made.ended(),))
    started = dataclasses.replace(ended, now_s=made.NOW_S + 100)
    begun = judged(dataclasses.replace(started, job=with_status(started.job, judged(ended), started)))
    assert (begun.reason, begun.driver.rolled_to, begun.driver.ordered_s) == ("DriverStarting", "", None)


def with_status(job, verdict, seen):
    return dataclasses.replace(job, status={**job.status, **status.wanted(seen, verdict)})
