"""An executor sits where its annotation says, and if it cannot, it is let go elsewhere."""

import dataclasses
import json

import pytest

from cycle import play
from fakes.clock import by_the_clock
from sluice.values import names

pytestmark = pytest.mark.timeout(10)


def promised(at):
    """Node by name, as the annotation of each executor says."""
    return {
        pod["metadata"]["name"]: json.loads(pod["metadata"]["annotations"][names.PLACED])["node"]
        for pod in at.world.pods(names.EXECUTOR, "clicks")
    }


def decided(at, kind):
    return [line for line in at.status()["decisions"] if line["kind"] == kind]


@by_the_clock
async def test_executors_are_where_their_annotations_say():
    async with play.begin() as at:
        at.apply(play.job(executors={"count": 3, "maxPerNode": 1}))
        await at.until(at.ready)
        assert at.executors() == promised(at)
        assert sorted(at.executors().values()) == ["node1", "node2", "node3"]
        assert at.condition("Placed") == ("True", "Placed")
        assert at.status()["placement"]["nodes"] == {"node1": 1, "node2": 1, "node3": 1}


@by_the_clock
async def test_a_node_that_cannot_take_it_is_avoided_and_after_two_the_scheduler_is_asked():
    async with play.begin() as at:
        at.apply(play.job())
        await at.until(lambda: bool(at.drivers()) and at.status()["phase"] == "Running")
        at.world.full |= {"node1", "node2"}  # as the scheduler sees it; our arithmetic says there is room
        await at.until(at.ready)
        assert [line["what"] for line in decided(at, "Place")] == ["to node1 by consolidate", "to node2 by consolidate"]
        assert [line["why"] for line in decided(at, "Open")] == ["node1, node2 could not take executors of this job"]
        assert set(at.executors().values()) == {"node3"}
        assert at.condition("Placed") == ("False", "Open")
        assert [one["node"] for one in at.status()["placement"]["avoid"]] == ["node1", "node2"]


@by_the_clock
async def test_under_observe_the_plan_is_shown_and_the_scheduler_decides():
    async with play.begin() as at:
        at.apply(play.job(placement={"mode": "Observe"}))
        await at.until(at.ready)
        assert set(promised(at).values()) == {""}
        assert at.condition("Placed") == ("False", "Observed")


@pytest.mark.parametrize("where", ["the job", "the operator"])
@by_the_clock
async def test_without_placement_no_executor_waits_at_a_gate(where):
    around = dataclasses.replace(play.PLAIN, placing=where == "the job")
    async with play.begin(around=around) as at:
        at.apply(play.job(placement={"mode": "Off" if where == "the job" else "Act"}))
        await at.until(at.ready)
        assert [words for words in at.kube.writes() if words.startswith("PATCH") and "exec" in words] == []
        assert at.condition("Placed") == ("False", "Off")


@by_the_clock
async def test_an_operator_without_leave_to_place_says_so_of_a_job_that_would_have_it_place():
    async with play.begin(around=dataclasses.replace(play.PLAIN, placing=False)) as at:
        at.apply(play.job())
        await at.until(at.ready)
        assert at.condition("Placed") == ("False", "Off")
        told = [event["message"] for event in at.kube.objects("Event") if event["reason"] == "Off"]
        assert told == ["this operator places nothing (the chart's value placement is off): the scheduler places"]


@by_the_clock
async def test_executors_that_no_operator_saw_for_long_are_let_go_at_once():
    async with play.begin() as at:
        at.apply(play.job())
        await at.until(lambda: bool(at.drivers()))
        await at.restart(down_s=120)
        await at.until(at.ready)
        assert [line["why"] for line in decided(at, "Open")] == ["it waited for more than 30 s"]
