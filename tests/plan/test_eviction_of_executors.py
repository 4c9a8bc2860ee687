"""Which executors bear the label that a drain of their nodes waits for, and when they lose it."""

import dataclasses

import pytest

from plan import crews, handovers, made
from plan.crews import COMING, DRIVER, FULL, OPEN, TOLERANT, executor, told, wanted
from sluice.values import driver_state, handoff, names, reports, steps, streamjob


def patched(verdict):
    """By which way executors leave from now on, of those whose label is changed."""
    patches = (step for stage in verdict.stages for step in stage if isinstance(step, steps.PatchPod))
    found = [(step.name.rpartition("-exec-")[2], step.patch["metadata"]["labels"]) for step in patches]
    return {number: labels[names.LEAVES_BY] for number, labels in found if number.isdecimal()}


def bare(number, **change):
    """One that does not bear the label."""
    pod = executor(number, **change)
    labels = {key: value for key, value in pod.labels.items() if key != names.LEAVES_BY}
    return dataclasses.replace(pod, labels=labels)


def three(one=bare, **change):
    return [one(number, **change) for number in (1, 2, 3)]


ALL = {"1": names.ROLL, "2": names.ROLL, "3": names.ROLL}
CREWS = {
    "all at once, when all work": (three(), ALL),
    "once": (three(executor), {}),
    "not before all are there": (three()[:2], {}),
    "not before all work": ([*three()[:2], bare(3, **COMING)], {}),
    "not before all are ready": ([*three()[:2], bare(3, ready=False)], {}),
    "one that comes later": ([*three(executor)[:2], bare(4)], {"4": names.ROLL}),
    "not one more, which would make another spare": ([*three(executor), bare(4)], {}),
    "one more as soon as another leaves": (
        [*three(executor)[:2], executor(3, deleting=True), bare(4)],
        {"4": names.ROLL},
    ),
    "so many of more": ([*three(), bare(4)], ALL),
}


@pytest.mark.parametrize(("pods", "expected"), CREWS.values(), ids=CREWS)
def test_executors_that_are_rolled_off_a_cordoned_node_are_labelled(pods, expected):
    assert patched(crews.judged(crews.view(pods))) == expected


def test_in_real_time_mode_they_leave_by_a_handover_of_their_driver():
    by_handover = dict.fromkeys("123", names.HANDOVER)
    assert patched(crews.judged(crews.view(three(), spec=wanted(real_time=True)))) == by_handover
    assert patched(crews.judged(crews.view(three(executor), spec=wanted(real_time=True)))) == {}


CORDONED = {"cordoned": frozenset({"node2"})}
EVICTED = {
    "one may come up on the cordoned node": {
        "spec": {"executors": streamjob.Executors(3, template=TOLERANT)},
        "pods": [executor(n, {"executors": streamjob.Executors(3, template=TOLERANT)}) for n in (1, 2, 3)],
    },
    "nobody would see the cordon": {"placing": False},
    "their driver is not heard": {"said": {}},
    "their driver is plain Spark": {"said": {DRIVER.name: reports.Report(made.NOW_S, "Unmanaged")}},
    "the roll has gone on for too long": {
        "pods": [*three(executor), bare(4, **FULL)],
        "orders": told(4),
        "since_s": 301,
        **CORDONED,
    },
    "one of them has been missing for too long": {"pods": three(executor)[:2], "begun_s": 601},
    "in Real-Time Mode nobody would see the cordon": {"spec": wanted(real_time=True), "placing": False},
    "in Real-Time Mode no other driver comes up beside theirs": {
        "spec": wanted(real_time=True, update=dataclasses.replace(made.spec().update, strategy="Recreate"))
    },
    "in Real-Time Mode a query is unprotected": {
        "spec": wanted(real_time=True),
        "said": {DRIVER.name: reports.Report(made.NOW_S, "Running", problem="x")},
    },
}


def seen(pods=(), orders=OPEN, spec=None, since_s=0.0, begun_s=60.0, **more):
    """A driver that was begun so long ago."""
    view = crews.view(pods or three(executor), orders, spec, since_s=since_s, **more)
    begun = {**view.job.status["driver"], "since": driver_state.timestamp(made.NOW_S - begun_s)}
    return dataclasses.replace(view, job=dataclasses.replace(view.job, status={**view.job.status, "driver": begun}))


def test_executors_are_kept_while_one_of_them_is_missing():
    assert patched(crews.judged(seen(three(executor)[:2]))) == {}


@pytest.mark.parametrize("case", EVICTED.values(), ids=EVICTED)
def test_executors_may_be_evicted_where(case):
    view = seen(**case)
    old = [pod for pod in view.pods if names.LEAVES_BY in pod.labels and pod.role == names.EXECUTOR]
    assert patched(crews.judged(view)) == {pod.name.rpartition("-")[2]: None for pod in old}
    assert old


def test_a_roll_that_goes_on_again_keeps_them_again():
    stuck = {"orders": told(4), "since_s": 301, **CORDONED}
    assert patched(crews.judged(seen([*three(), bare(4, **FULL)], **stuck))) == {}
    assert patched(crews.judged(seen([*three(), bare(4)], **stuck))) == ALL


def test_a_handover_that_failed_moves_no_executor_for_a_while():
    view = crews.view(three(executor))
    revision = view.job.status["revision"]
    now = dataclasses.replace(handovers.begun(handoff.CANCELLED), revision=revision, old_revision=revision)
    status = {**view.job.status, "handoff": handovers.written(now)}
    failed = dataclasses.replace(view, job=dataclasses.replace(view.job, status=status))
    assert patched(crews.judged(failed)) == {"1": None, "2": None, "3": None}
    later = dataclasses.replace(failed, now_s=made.NOW_S + 601)
    heard = {DRIVER.name: reports.Report(later.now_s, "Running")}
    assert patched(crews.judged(dataclasses.replace(later, said=heard))) == {}


def test_while_another_driver_comes_up_the_old_ones_are_kept_and_once_it_takes_over_the_new_ones():
    old = made.executor(ready=True, labels={**made.executor().labels, names.LEAVES_BY: names.ROLL})
    new = handovers.its_executor(ready=True)
    pods = (handovers.OLD, old, handovers.new(), new)
    assert patched(handovers.judge(handovers.view(*pods, now=handovers.begun()))) == {}
    quiet = dataclasses.replace(handovers.draining(drain="quiet"), pods=pods)
    patches = [step for stage in handovers.judge(quiet).stages for step in stage if isinstance(step, steps.PatchPod)]
    labels = {step.name: step.patch["metadata"]["labels"][names.LEAVES_BY] for step in patches}
    assert (labels[old.name], labels[new.name]) == (None, names.ROLL)


def test_executors_of_a_driver_that_stops_are_left_as_they_are():
    view = crews.view(three(executor))
    stopping = dataclasses.replace(DRIVER, deleting=True, deleted_s=made.NOW_S)
    assert patched(crews.judged(dataclasses.replace(view, pods=(stopping, *view.pods[1:])))) == {}
    lost = dataclasses.replace(stopping, deleted_s=made.NOW_S - 999)
    late = crews.judged(dataclasses.replace(view, pods=(lost, *view.pods[1:])))
    assert (late.phase, patched(late)) == ("Restarting", {"1": None, "2": None, "3": None})
