"""Executors are scaled and replaced while their driver runs on, one at a time, and it comes to rest."""

import contextlib

import pytest

from cycle import play
from fakes import calls
from fakes.clock import by_the_clock
from sluice.values import names

pytestmark = pytest.mark.timeout(30)
QUERY = {"id": "q-1", "name": "clicks", "phase": "running"}
BLUE = {"metadata": {"labels": {"colour": "blue"}}}


def executors(count=3, template=None):
    return {"executors": {"count": count, **({"template": template} if template else {})}}


async def begun(at, **spec):
    """A job whose driver is heard, and rests."""
    at.apply(play.job(**(executors() | spec)))
    await at.until(at.ready)
    at.say(queries=[QUERY])
    await at.later(60)


@contextlib.asynccontextmanager
async def running(**spec):
    """Such a job, and the fewest executors that ever worked from then on; it must come to rest."""
    async with play.begin(around=play.PLUGGED) as at:
        await begun(at, **spec)
        fewest = [len(working(at))]
        at.kube.store.told.append(lambda _: fewest.append(len(working(at))))
        yield at, fewest
        at.kube.store.told.pop()
        await at.later(60)
        before = at.kube.writes()
        await at.later(3600)
        assert at.kube.writes() == before


def working(at):
    pods = at.world.pods(names.EXECUTOR, "clicks")
    return [pod for pod in pods if pod["status"]["phase"] == "Running" and "deletionTimestamp" not in pod["metadata"]]


def numbers(at):
    return sorted(int(name.rpartition("-")[2]) for name in at.executors())


def orders(at):
    (driver,) = at.status()["orders"]["drivers"].values()
    return driver


def least(at):
    """So many of the executors the budget keeps."""
    return at.kube.get("PodDisruptionBudget", play.TEAM, "clicks")["spec"]["minAvailable"]


def decided(at, kind):
    return [(line["subject"].rpartition("-exec-")[2], line["what"]) for line in decisions(at, kind)]


def decisions(at, kind):
    return [line for line in at.status()["decisions"] if line["kind"] == kind]


def settled(at):
    return at.ready() and at.condition("Progressing")[0] == "False" and at.condition()[1] == "Running"


async def until_settled(at):
    """And its orders are as at rest."""
    await at.until(lambda: settled(at), within_s=3600)
    assert orders(at)["executors"] == {"total": len(at.executors()), "decommission": []}
    assert at.kube.get("ConfigMap", play.TEAM, f"clicks-{at.status()['revision']}")


@by_the_clock
async def test_more_executors_come_without_a_new_driver():
    async with running() as (at, fewest):
        drivers, before = at.drivers(), at.status()["revision"]
        at.apply(play.job(**executors(5)))
        await at.until(lambda: at.condition() == ("False", "Scaling"))
        await until_settled(at)
        assert (at.drivers(), numbers(at), min(fewest)) == (drivers, [1, 2, 3, 4, 5], 3)
        assert at.status()["revision"] == at.status()["driver"]["rolledTo"] != before
        assert decided(at, "Scale") == [(drivers[0], "executors: 5 instead of 3")]
        await at.until(lambda: least(at) == 5)


@by_the_clock
async def test_of_fewer_executors_the_youngest_go_and_none_that_was_not_to():
    async with running() as (at, fewest):
        drivers = at.drivers()
        at.apply(play.job(**executors(1)))
        await until_settled(at)
        assert (at.drivers(), len(at.executors()), min(fewest)) == (drivers, 1, 1)
        await at.until(lambda: least(at) == 1)
        assert not [words for words in at.kube.writes() if words.startswith("DELETE")]


@by_the_clock
async def test_another_template_replaces_one_executor_after_another_and_no_work_waits():
    async with running() as (at, fewest):
        drivers = at.drivers()
        at.apply(play.job(**executors(3, BLUE)))
        await at.until(lambda: at.condition("Progressing") == ("True", "Rolling"))
        assert at.condition() == ("True", "Rolling")
        assert "executors 1, 2, 3 to be replaced: it is of an earlier template" in at.status()["message"]
        await until_settled(at)
        assert (at.drivers(), numbers(at), min(fewest), max(fewest)) == (drivers, [4, 5, 6], 3, 4)
        assert {pod["metadata"]["labels"].get("colour") for pod in working(at)} == {"blue"}
        assert sorted(decided(at, "Roll")) == [(number, "sent away") for number in "123"]
        assert [line for line in at.story if line[1] != "Running"] == [("clicks", "Starting", "DriverStarting")]


@by_the_clock
async def test_where_there_is_no_room_for_one_more_one_goes_before():
    async with running(executors={"count": 3, "maxPerNode": 1}) as (at, fewest):
        at.world.room(node1=2, node2=1, node3=1)  # the driver and three executors
        at.apply(play.job(executors={"count": 3, "maxPerNode": 1, "template": BLUE}))
        await until_settled(at)
        assert (min(fewest), len(at.executors())) == (2, 3)
        assert {pod["metadata"]["labels"].get("colour") for pod in working(at)} == {"blue"}
        assert {what for _, what in decided(at, "Roll")} == {"sent away before its replacement comes"}
        assert "no node takes" in decisions(at, "Roll")[0]["why"]


@by_the_clock
async def test_executors_leave_a_cordoned_node_and_come_back_to_none():
    async with running(executors={"count": 3, "maxPerNode": 2}) as (at, fewest):
        drivers, orders_before = at.drivers(), at.status()["orders"]
        assert "executors" not in orders(at)
        left = {name for name, node in at.executors().items() if node == "node2"}
        at.world.cordon("node2")
        await at.until(lambda: "executors" in orders(at))
        await until_settled(at)
        assert (at.drivers(), len(at.executors()), min(fewest)) == (drivers, 3, 3)
        assert "node2" not in at.executors().values()
        assert {line["why"] for line in decisions(at, "Roll")} == {"node node2 is cordoned"}
        assert len(decisions(at, "Roll")) == len(left) > 0
        assert at.status()["orders"]["serial"] == orders_before["serial"] + 2 * len(left) + 1


@by_the_clock
async def test_executors_of_a_cordoned_node_stay_until_there_is_room_elsewhere():
    async with running(executors={"count": 3, "maxPerNode": 1}) as (at, fewest):
        at.world.room(node1=2, node2=1, node3=1)
        at.world.cordon("node3")
        await at.until(lambda: at.condition("Progressing") == ("False", "Rolling"), within_s=3600)
        assert (min(fewest), at.condition("Ready")[0]) == (3, "True")
        assert "node node3 is cordoned" in at.status()["message"]
        assert "no node takes" in at.status()["message"]
        assert at.status()["message"].endswith("for more than 5 minutes")
        at.world.cordon("node3", cordoned=False)
        await until_settled(at)
        assert (min(fewest), len(at.executors())) == (3, 3)


@by_the_clock
async def test_an_operator_killed_in_the_midst_changes_nothing_of_how_it_ends():
    async with running() as (at, fewest):
        drivers = at.drivers()
        at.apply(play.job(**executors(4, BLUE)))
        for _ in range(8):
            await at.later(7)
            await at.restart()
        await until_settled(at)
        assert (at.drivers(), len(at.executors()), min(fewest)) == (drivers, 4, 3)
        assert {pod["metadata"]["labels"].get("colour") for pod in working(at)} == {"blue"}
        await at.until(lambda: least(at) == 4)


@by_the_clock
async def test_a_driver_that_ends_in_the_midst_is_followed_by_one_that_has_no_more_to_roll():
    async with running() as (at, _):
        at.apply(play.job(**executors(3, BLUE)))
        await at.until(lambda: bool(orders(at).get("executors", {}).get("decommission")))
        wanted = at.status()["revision"]
        at.end_driver(exit_code=1)
        await at.until(lambda: at.ready() and at.status()["driver"]["attempt"] == 2)
        at.say(queries=[QUERY])
        await at.later(600)
        assert at.drivers() == [f"clicks-{wanted}-2"]
        assert orders(at).keys() == {"gate", "balance"}
        assert numbers(at) == [1, 2, 3]
        assert "rolledTo" not in at.status()["driver"]
        assert at.status()["driver"]["lastFailure"]["reason"] == "ApplicationError"


@by_the_clock
async def test_back_to_the_first_template_in_the_midst_is_a_roll_back():
    async with running() as (at, fewest):
        drivers = at.drivers()
        at.apply(play.job(**executors(3, BLUE)))
        await at.until(lambda: bool(decided(at, "Roll")), within_s=600)
        at.apply(play.job(**executors(3)))
        await at.until(lambda: at.status()["observedGeneration"] == 3)
        await until_settled(at)
        assert (at.drivers(), len(at.executors()), min(fewest)) == (drivers, 3, 3)
        assert not [pod for pod in working(at) if "colour" in pod["metadata"]["labels"]]


RECREATE = {"update": {"strategy": "Recreate"}}
RESTARTED = {
    "in Real-Time Mode a query ends with any of its executors": ({"mode": "RealTime", **RECREATE}, executors(4), True),
    "another image is another driver": (RECREATE, {"image": "clicks:2", **executors(4)}, True),
    "a driver that nobody hears obeys nobody": ({}, executors(4), False),
}


@pytest.mark.parametrize(("spec", "change", "heard"), RESTARTED.values(), ids=RESTARTED)
@by_the_clock
async def test_what_cannot_be_done_meanwhile_is_had_by_a_restart(spec, change, heard):
    async with play.begin(around=play.PLUGGED) as at:
        await begun(at, **spec)
        if not heard:
            at.say(phase="Silent")
        at.apply(play.job(**{**executors(), **spec, **change}))
        await at.until(lambda: at.ready() and at.status()["driver"]["attempt"] == 2)
        assert len(at.executors()) == 4


@by_the_clock
async def test_a_restart_that_is_asked_for_with_the_change_is_one():
    async with play.begin(around=play.PLUGGED) as at:
        await begun(at, **RECREATE)
        wanted = play.job(**executors(4), **RECREATE)
        wanted["metadata"]["annotations"] = {names.RESTARTED: "now"}
        at.apply(wanted)
        await at.until(lambda: at.ready() and at.status()["driver"]["attempt"] == 2)


@by_the_clock
async def test_a_template_that_the_api_server_refuses_replaces_nobody():
    async with play.begin(around=play.PLUGGED) as at:
        await begun(at)
        drivers, before, there = at.drivers(), orders(at), numbers(at)
        at.kube.before_write = refuse_samples
        at.apply(play.job(**executors(3, BLUE)))
        await at.until(lambda: at.condition("Progressing") == ("False", "Refused"))
        assert "no such volume" in at.status()["message"]
        assert (at.drivers(), orders(at), numbers(at), at.condition()[0]) == (drivers, before, there, "True")
        at.kube.before_write = lambda _: None
        await until_settled_after(at, there)


async def until_settled_after(at, there):
    await at.until(lambda: settled(at) and not set(numbers(at)) & set(there), within_s=3600)


def refuse_samples(call):
    if call.method == "POST" and call.words.endswith("/pods") and "-exec-" in call.body["metadata"]["name"]:
        raise calls.Refuse(422, "Invalid", "no such volume")
