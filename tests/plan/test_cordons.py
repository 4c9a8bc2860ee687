"""Which cordoned nodes a driver leaves by a handover: its own, and in Real-Time Mode those of its executors."""

import dataclasses

import pytest

from plan import crews, made
from plan.crews import DRIVER, executor, wanted
from sluice.values import handoff, streamjob

REAL_TIME = wanted(real_time=True)
HERE = frozenset({"node2"})  # where all executors are
LEFT = {
    "its own": (wanted(), DRIVER.node, f"node {DRIVER.node} of {DRIVER.name} is cordoned"),
    "its own in Real-Time Mode": (REAL_TIME, DRIVER.node, f"node {DRIVER.node} of {DRIVER.name} is cordoned"),
    "an executor's in Real-Time Mode": (REAL_TIME, "node3", "node node3 of executor 3 is cordoned"),
}


@pytest.mark.parametrize(("spec", "node", "why"), LEFT.values(), ids=LEFT)
def test_another_driver_comes_up_elsewhere_when_the_node_that_is_cordoned_is(spec, node, why):
    pods = [executor(1), executor(2), executor(3, node="node3")]
    now = crews.judged(crews.view(pods, spec=spec, cordoned=frozenset({node}))).handoff
    assert (now.phase, now.moves) == (handoff.PREPARING, True)
    assert now.why.startswith(why)


STAYS = {
    "in micro-batches it is an executor's": {"spec": wanted()},
    "no executor is left there": {"pods": [executor(1, node="node1"), executor(2, phase="Failed")]},
    "the executor ends already": {"pods": [executor(1, deleting=True)]},
    "the executor is of another driver": {"pods": [executor(1, owner_uid="uid-0")]},
    "another executor might come up there again": {
        "spec": {**REAL_TIME, "executors": streamjob.Executors(3, template=crews.TOLERANT)}
    },
    "nodes may not be read": {"placing": False},
    "no other driver comes up beside it": {
        "spec": {**REAL_TIME, "update": dataclasses.replace(made.spec().update, strategy="Recreate")}
    },
}


@pytest.mark.parametrize("seen", STAYS.values(), ids=STAYS)
def test_a_driver_stays_where(seen):
    usual = {"pods": crews.three(), "spec": REAL_TIME, "cordoned": HERE}
    verdict = crews.judged(crews.view(**(usual | seen)))
    assert (verdict.phase, verdict.handoff) == ("Running", None)
