"""What the agents beside the drivers are told, and when: with the record of the attempt, before the pod is there."""

import dataclasses

import pytest

from plan import made
from sluice import build
from sluice.plan import life, status
from sluice.values import steps
from sluice_agent import orders as read

PLUGGED = build.Surroundings(agent_image="agent:1", plugin_image="plugin:1")
PLAIN = build.Surroundings()
OPEN = {"gate": {"open": True}, **made.BALANCE}
FIRST, SECOND = made.driver(1).name, made.driver(2).name


def orders(view, around=PLUGGED):
    return status.wanted(view, life.judge(view, around)).get("orders")


def told(serial, *drivers):
    return {"orders": {"version": 1, "serial": serial, "drivers": dict.fromkeys(drivers, OPEN)}}


def job(*, attempt=1, **told_before):
    return made.job(status={**made.begun(attempt), **told_before})


def test_a_driver_is_told_that_its_gate_may_open_in_the_write_that_records_its_attempt():
    view = made.view()
    verdict = life.judge(view, PLUGGED)
    (record,) = status.record(view, verdict)
    assert record.patch["driver"]["pod"] == FIRST
    assert record.patch["orders"] == told(1, FIRST)["orders"]
    assert [type(step) for step in verdict.stages[-1]] == [steps.Create]


def test_the_agent_understands_it():
    found = read.read(orders(made.view()), FIRST)
    assert found.words["gate"] == {"open": True, "epoch": 0}  # 0: the next free one
    assert (found.order, "drain" in found.words, found.template) == (1, False, "")


CASES = {
    "a driver that runs keeps its orders": (job(**told(4, FIRST)), (made.driver(),), PLUGGED, told(4, FIRST)),
    "so it does with an operator that has no plugin": (job(**told(4, FIRST)), (made.driver(),), PLAIN, told(4, FIRST)),
    "so it does while it is deleted": (
        job(**told(4, FIRST)),
        (made.driver(deleting=True),),
        PLUGGED,
        told(4, FIRST),
    ),
    "a driver from before the plugin has none": (job(), (made.driver(),), PLUGGED, {}),
    "the next driver's come and the last one's leave": (job(**told(4, FIRST)), (), PLUGGED, told(5, SECOND)),
    "one that ended is told nothing any more": (job(**told(4, FIRST)), (made.ended(),), PLUGGED, told(5)),
    "the next driver without the plugin has none": (job(**told(4, FIRST)), (), PLAIN, told(5)),
    "an attempt that was recorded and not made has them already": (
        made.job(status={**made.begun(1, "Starting", uid=""), **told(4, FIRST)}),
        (),
        PLUGGED,
        told(4, FIRST),
    ),
    "one that is made without the plugin after all has none": (
        made.job(status={**made.begun(1, "Starting", uid=""), **told(4, FIRST)}),
        (),
        PLAIN,
        told(5),
    ),
    "without a plugin nobody is told anything": (made.job(), (), PLAIN, {}),
}


@pytest.mark.parametrize(("of", "pods", "around", "expected"), CASES.values(), ids=CASES)
def test_who_is_told_what(of, pods, around, expected):
    view = made.view(of, *pods)
    assert orders(view, around) == expected.get("orders")


@pytest.mark.parametrize(("of", "pods", "around", "expected"), CASES.values(), ids=CASES)
def test_the_serial_stays_while_nothing_changes(of, pods, around, expected):
    view = made.view(of, *pods)
    after = dataclasses.replace(of, status=status.wanted(view, life.judge(view, around)))
    again = dataclasses.replace(view, job=after)
    assert orders(again, around) == expected.get("orders")


def test_a_driver_that_leaves_is_taken_out_of_the_stored_orders_by_the_patch():
    view = made.view(job(**told(4, FIRST)))
    (record,) = status.record(view, life.judge(view, PLUGGED))
    assert record.patch["orders"] == {"serial": 5, "drivers": {FIRST: None, SECOND: OPEN}}
