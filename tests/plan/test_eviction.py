"""Which driver bears the label that a drain of its node waits for, and when it loses it."""

import dataclasses

import pytest

from plan import made
from plan.handovers import (
    NEW_NAME,
    OLD,
    OLD_REVISION,
    OPEN,
    RUNS,
    begun,
    draining,
    its_executor,
    judge,
    new,
    running,
    taking,
    view,
    written,
)
from sluice.plan import changes
from sluice.values import handoff, names, records, reports, steps

BUDGET = names.driver_budget("clicks")


def kept(verdict):
    """Who bears the label afterwards, of those whose label is changed."""
    patches = (step for stage in verdict.stages for step in stage if isinstance(step, steps.PatchPod))
    found = {step.name: step.patch["metadata"]["labels"] for step in patches}
    return {name: bool(labels[names.LEAVES_BY]) for name, labels in found.items() if names.LEAVES_BY in labels}


def wants(verdict):
    """How many drivers the budget wants from now on, if that changes; the labels come after it."""
    kinds = [(type(step), getattr(step, "manifest", {})) for stage in verdict.stages for step in stage]
    found = [(at, made["spec"]) for at, (_, made) in enumerate(kinds) if made.get("metadata", {}).get("name") == BUDGET]
    assert all(at < [kind for kind, _ in kinds].index(steps.PatchPod) for at, _ in found)
    return [spec["minAvailable"] for _, spec in found]


def labelled(pod):
    return dataclasses.replace(pod, labels={**pod.labels, names.LEAVES_BY: names.HANDOVER})


def alone(driver, said=RUNS, handed=None, spec=None, **more):
    """One driver that is as wanted."""
    job = made.job(**(spec or {}))
    revision = changes.revision(job)
    orders = {"version": 1, "serial": 5, "drivers": {OLD.name: OPEN}}
    status = {**made.begun(), "revision": revision, "orders": orders}
    if handed:
        status["handoff"] = written(handed)
    driver = dataclasses.replace(driver, labels={**driver.labels, names.REVISION: revision})
    heard = {OLD.name: said} if said else {}
    return made.view(dataclasses.replace(job, status=status), driver, made.executor(), said=heard, **more)


def test_a_driver_that_another_can_take_over_from_is_labelled_once_so_that_its_eviction_is_refused():
    assert (kept(judge(alone(OLD))), wants(judge(alone(OLD)))) == ({OLD.name: True}, [1])
    assert (kept(judge(alone(labelled(OLD)))), wants(judge(alone(labelled(OLD))))) == ({}, [])


def moved(**change):
    """A handover to another node that failed for want of something."""
    now = begun(handoff.CANCELLED, **change)
    return dataclasses.replace(now, revision=OLD_REVISION)


TOLERANT = {"spec": {"tolerations": [{"key": records.CORDON, "operator": "Exists"}]}}
UNPROTECTED = dataclasses.replace(RUNS, problem="x")
RECREATED = dataclasses.replace(made.spec().update, strategy="Recreate")
EVICTED = {
    "its strategy is Recreate": {"spec": {"update": RECREATED}},
    "it is plain Spark": {"said": reports.Report(made.NOW_S, "Unmanaged")},
    "a query of it is unprotected": {"said": UNPROTECTED},
    "nobody has heard of it": {"said": None},
    "its node does not answer": {"lost_nodes": frozenset({"node1"}), "said": UNPROTECTED},
    "nobody would see the cordon": {"placing": False},
    "another might come up on the cordoned node": {
        "spec": {"driver": dataclasses.replace(made.spec().driver, template=TOLERANT)}
    },
    "one elsewhere was tried a moment ago": {"handed": moved()},
    "one elsewhere has had no room": {"handed": moved(degraded=True)},
}


@pytest.mark.parametrize("seen", EVICTED.values(), ids=EVICTED)
def test_a_driver_may_be_evicted_where(seen):
    verdict = judge(alone(labelled(OLD), **seen))
    assert (kept(verdict), wants(verdict)) == ({OLD.name: False}, [0])


def test_the_budget_of_a_job_that_is_suspended_wants_none():
    seen = alone(labelled(OLD))
    spec = dataclasses.replace(seen.job.spec, suspend=True)
    verdict = judge(dataclasses.replace(seen, job=dataclasses.replace(seen.job, spec=spec)))
    assert (verdict.phase, kept(verdict), wants(verdict)) == ("Stopping", {OLD.name: False}, [0])


def test_no_room_elsewhere_and_another_failure_are_tried_again_after_ten_minutes():
    for failed in (moved(since_s=601), moved(since_s=601, degraded=True)):
        seen = alone(OLD, handed=failed)
        assert kept(judge(seen)) == {OLD.name: True}
        assert judge(dataclasses.replace(seen, cordoned=frozenset({"node1"}))).handoff.phase == handoff.PREPARING


def test_while_another_comes_up_the_old_driver_is_kept_and_once_it_takes_over_the_new_one():
    assert kept(judge(view(labelled(OLD), made.executor(), new(), its_executor(), now=begun()))) == {}
    seen = draining(drain="quiet")
    pods = (labelled(OLD), made.executor(), new(), its_executor())
    assert kept(judge(dataclasses.replace(seen, pods=pods))) == {OLD.name: False, NEW_NAME: True}
    seen = draining(drain="timed-out", drain_problem="batch 42 still runs")
    assert kept(judge(dataclasses.replace(seen, pods=pods))) == {OLD.name: False}


def test_a_driver_on_a_cordoned_node_that_has_not_proved_itself_says_what_a_drain_waits_for():
    said = running(committed=43, batch=43, first_commit_at_ms=1_800)
    seen = dataclasses.replace(taking(said, phase=handoff.PROVING, to_batch=42), cordoned=frozenset({"node1"}))
    verdict = judge(seen)
    assert verdict.handoff.phase == handoff.PROVING
    assert "leaves once it has proved itself" in verdict.message
