"""How many executors no eviction ends: what the budget keeps, and what the driver's label says of it."""

import dataclasses

import pytest

from plan import crews, handovers, made
from plan.crews import DRIVER, FULL, OPEN, TOLERANT, executor, three, told, wanted
from sluice.values import driver_state, handoff, names, reports, steps, streamjob

BUDGET = names.disruption_budget("clicks")


def keeps(verdict):
    """So many from now on, if that changes; the label of the driver that runs the job comes after the budget."""
    found = [step for stage in verdict.stages for step in stage]
    due = [step for step in found if isinstance(step, steps.Create) and step.manifest["metadata"]["name"] == BUDGET]
    patches = [step for step in found if isinstance(step, steps.PatchPod) and step.name == verdict.driver.pod]
    labels = [labels for step in patches if names.EXECUTORS_KEPT in (labels := step.patch["metadata"]["labels"])]
    least = [step.manifest["spec"]["minAvailable"] for step in due if step.renew]
    assert [labels_[names.EXECUTORS_KEPT] for labels_ in labels] == [str(one) for one in least]
    assert not due or found.index(due[0]) < found.index(patches[0])
    return least


def remembered(view, least):
    """The label says so."""
    labels = {**DRIVER.labels, names.EXECUTORS_KEPT: str(least)}
    pods = [dataclasses.replace(pod, labels=labels) if pod.name == DRIVER.name else pod for pod in view.pods]
    return dataclasses.replace(view, pods=tuple(pods))


@pytest.mark.parametrize("spec", [wanted(), wanted(real_time=True)], ids=["rolled", "handed over"])
def test_all_executors_that_leave_a_cordoned_node_by_themselves_are_kept_and_that_is_remembered(spec):
    view = crews.view(three(), spec=spec)
    assert keeps(crews.judged(remembered(view, 2))) == [3]
    assert keeps(crews.judged(remembered(view, 3))) == []


def test_of_more_executors_more_are_kept_and_while_they_come_or_go_none_is_spare():
    assert keeps(crews.judged(crews.view(three(), spec=wanted(5), former=wanted(3)))) == [6]
    assert keeps(crews.judged(remembered(crews.view(three(), told(3)), 4))) == [3]


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
        "pods": [*three(), executor(4, **FULL)],
        "orders": told(4),
        "since_s": 301,
        **CORDONED,
    },
    "one of them has been missing for too long": {"pods": three()[:2], "begun_s": 601},
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
    view = crews.view(pods or three(), orders, spec, since_s=since_s, **more)
    begun = {**view.job.status["driver"], "since": driver_state.timestamp(made.NOW_S - begun_s)}
    return dataclasses.replace(view, job=dataclasses.replace(view.job, status={**view.job.status, "driver": begun}))


def test_executors_are_kept_while_one_of_them_is_missing():
    assert keeps(crews.judged(seen(three()[:2]))) == []


@pytest.mark.parametrize("case", EVICTED.values(), ids=EVICTED)
def test_one_executor_may_be_evicted_where(case):
    assert keeps(crews.judged(seen(**case))) == [2]
    assert keeps(crews.judged(remembered(seen(**case), 2))) == []


def test_a_handover_that_failed_moves_no_executor_for_a_while():
    view = crews.view(three())
    revision = view.job.status["revision"]
    now = dataclasses.replace(handovers.begun(handoff.CANCELLED), revision=revision, old_revision=revision)
    status = {**view.job.status, "handoff": handovers.written(now)}
    failed = dataclasses.replace(view, job=dataclasses.replace(view.job, status=status))
    assert keeps(crews.judged(failed)) == [2]
    later = dataclasses.replace(failed, now_s=made.NOW_S + 601)
    heard = {DRIVER.name: reports.Report(later.now_s, "Running")}
    assert keeps(crews.judged(dataclasses.replace(later, said=heard))) == []


def test_while_another_driver_comes_up_both_crews_are_kept_and_once_it_takes_over_its_own():
    count = made.spec().executors.count
    assert keeps(handovers.judge(handovers.view(*handovers.BOTH, now=handovers.begun()))) == [2 * count]
    assert keeps(handovers.judge(handovers.draining(drain="quiet"))) == [count]


def test_a_driver_that_stops_leaves_them_as_they_are_unless_that_takes_too_long():
    view = crews.view(three())
    stopping = dataclasses.replace(DRIVER, deleting=True, deleted_s=made.NOW_S)
    assert keeps(crews.judged(dataclasses.replace(view, pods=(stopping, *view.pods[1:])))) == []
    lost = dataclasses.replace(stopping, deleted_s=made.NOW_S - 999)
    late = crews.judged(dataclasses.replace(view, pods=(lost, *view.pods[1:])))
    assert (late.phase, keeps(late)) == ("Restarting", [2])


@pytest.mark.parametrize("ended", ["Completed", "Failed", "Suspended"])
def test_of_a_job_that_is_over_none_is_kept(ended):
    suspended = wanted(suspend=ended == "Suspended")
    view = crews.view([], spec=suspended)
    over = dataclasses.replace(DRIVER, phase="Succeeded", ready=False)
    status = {**view.job.status, "phase": ended, "message": "over"}
    view = dataclasses.replace(view, pods=(over,), job=dataclasses.replace(view.job, status=status))
    verdict = crews.judged(view)
    assert (verdict.phase, keeps(verdict)) == (ended, [0])
    assert keeps(crews.judged(remembered(view, 0))) == []
