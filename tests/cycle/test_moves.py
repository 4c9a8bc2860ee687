"""An executor that talks to others elsewhere goes to them; if that did not help it comes back, once."""

import contextlib
import json

import pytest

from crds import schema
from cycle import play, talking
from fakes import agents, clock
from fakes.clock import by_the_clock
from sluice.values import names

pytestmark = pytest.mark.timeout(30)
BATCH_S = 3.0


class Measured:
    """What the agent of every driver tells: all executors talk to each other alike."""

    def __init__(self, at):
        self.at, self.batch_ms = at, lambda: 800.0

    def __call__(self, _):
        pods = [pod for pod in self.at.world.pods(names.EXECUTOR, "clicks") if "nodeName" in pod["spec"]]
        numbers = [pod["metadata"]["name"].rpartition("-exec-")[2] for pod in pods]
        count = 100
        return agents.traffic(
            clock.now_s(),
            batches=count,
            seconds=count * BATCH_S,
            batchMs=[self.batch_ms(), 1.5 * self.batch_ms()],
            executors={number: {"runMs": 100 * count, "rows": 1000 * count} for number in numbers},
            pairs={one: {other: 1000 * count for other in numbers if other != one} for one in numbers},
        )


@contextlib.asynccontextmanager
async def apart(**spec):
    """A job with one executor beside its driver and two on another node, where now all have room."""
    async with talking.begin() as at:
        at.world.room(node1=2, node2=2)
        at.agents.tells = measured = Measured(at)
        at.apply(play.job(count=3, **spec))
        await at.until(at.ready)
        assert sorted(at.executors().values()) == ["node1", "node2", "node2"]
        at.world.room(node1=110, node2=110)
        yield at, measured


def placement(at):
    return at.status()["placement"]


def move(at):
    return placement(at).get("move") or {}


def outcomes(at):
    return [one["outcome"] for one in placement(at).get("moves", ())]


def decided(at, *kinds):
    return [(line["kind"], line["what"]) for line in at.status()["decisions"] if line["kind"] in kinds]


def events(at):
    told = {event["reason"] for event in at.kube.objects("Event")}
    return told & {"ExecutorMoves", "MoveKept", "MoveUndone", "MoveAbandoned"}


def working(at):
    return [pod for pod in at.world.pods(names.EXECUTOR, "clicks") if pod["status"]["phase"] == "Running"]


@by_the_clock
async def test_an_executor_goes_to_those_it_talks_to_and_none_is_missed_meanwhile():
    async with apart() as (at, _):
        before = dict(at.executors())
        lone = next(name for name, node in before.items() if node == "node1")
        fewest = [len(working(at))]
        at.kube.store.told.append(lambda _: fewest.append(len(working(at))))
        await at.until(lambda: move(at).get("phase") == "Moving", within_s=1200)
        assert (move(at)["executor"], move(at)["from"], move(at)["to"]) == (lone, "node1", "node2")
        assert schema.unknown(schema.root()["properties"]["status"], at.status()) == []
        await at.until(lambda: move(at).get("phase") == "Watched")
        assert sorted(at.executors().values()) == ["node2", "node2", "node2"]
        assert (min(fewest), len(at.executors())) == (3, 3)
        promised = json.loads(
            at.kube.get("Pod", play.TEAM, move(at)["replacement"])["metadata"]["annotations"][names.PLACED]
        )
        assert (promised["node"], promised["why"]) == ("node2", "an executor moves there")
        await at.until(lambda: outcomes(at) == ["Better"])
        assert decided(at, "Move", "Keep", "Roll") == [
            ("Move", "goes from node1 to node2"), ("Roll", "sent away"), ("Keep", "stays on node2"),
        ]  # fmt: skip
        await at.later(60)
        assert events(at) == {"ExecutorMoves", "MoveKept"}
        assert "move" not in placement(at)


@by_the_clock
async def test_nothing_moves_until_ten_minutes_after_the_start():
    async with apart() as (at, _):
        await at.later(500)
        assert not move(at)
        await at.until(lambda: bool(move(at)), within_s=300)


@by_the_clock
async def test_a_move_that_did_not_help_is_undone_once_and_left_alone_for_a_day():
    async with apart() as (at, measured):
        beside = set(at.executors().values())
        measured.batch_ms = lambda: 800.0 if set(at.executors().values()) == beside else 1000.0
        await at.until(lambda: outcomes(at) == ["Undone", "Undo"], within_s=3600)
        assert sorted(at.executors().values()) == ["node1", "node2", "node2"]
        assert decided(at, "Move", "Undo") == [
            ("Move", "goes from node1 to node2"),
            ("Undo", "goes back from node2 to node1"),
        ]
        (why,) = [line["why"] for line in at.status()["decisions"] if line["kind"] == "Undo"]
        assert why.endswith("a batch took 800 ms before, 1000 ms after, 100 batches each")
        await at.later(4 * 3600)
        told = [line for line in placement(at)["moves"] if (line["from"], line["to"]) == ("node1", "node2")]
        assert [line["outcome"] for line in told] == ["Undone"]


@by_the_clock
async def test_under_observe_it_is_said_and_nothing_moves():
    async with apart(placement={"mode": "Observe"}) as (at, _):
        before = dict(at.executors())
        await at.until(lambda: outcomes(at) == ["Observed"], within_s=1200)
        await at.later(3600)
        assert at.executors() == before
        assert decided(at, "Move") == [("Move", "would go from node1 to node2, but placement.mode is Observe")]


@pytest.mark.parametrize("placement", [{"policy": "stay"}, {"maxMovesPerHour": 0}], ids=["stay", "no budget"])
@by_the_clock
async def test_nothing_moves_where_nothing_may(placement):
    async with apart(placement=placement) as (at, _):
        before = dict(at.executors())
        await at.later(3600)
        assert (at.executors(), decided(at, "Move")) == (before, [])


@by_the_clock
async def test_a_node_that_does_not_take_it_after_all_keeps_it_where_it_is():
    async with apart() as (at, _):
        before = dict(at.executors())
        at.world.full.add("node2")  # as the scheduler sees it; our arithmetic says there is room
        await at.until(lambda: outcomes(at) == ["Missed"], within_s=1200)
        await at.until(lambda: at.condition("Progressing")[0] == "False" and len(at.executors()) == 3)
        assert at.executors() == before
        assert at.condition() == ("True", "Running")
        assert events(at) == {"ExecutorMoves", "MoveAbandoned"}


@by_the_clock
async def test_an_operator_killed_in_the_midst_goes_on_with_the_move():
    async with apart() as (at, _):
        await at.until(lambda: move(at).get("phase") == "Moving", within_s=1200)
        for _ in range(4):
            await at.later(5)
            await at.restart()
        await at.until(lambda: outcomes(at) == ["Better"], within_s=1200)
        assert sorted(at.executors().values()) == ["node2", "node2", "node2"]


@by_the_clock
async def test_in_real_time_mode_another_driver_brings_them_anew_to_where_they_are_wanted():
    async with apart(mode="RealTime") as (at, _):
        (driver,) = at.drivers()
        await at.until(lambda: move(at).get("phase") == "Watched", within_s=2400)
        assert at.drivers() != [driver]
        await at.until(lambda: set(at.executors().values()) == {"node2"})
        assert at.status()["handoff"]["why"].endswith("moves from node1 to node2")
        await at.until(lambda: outcomes(at) == ["Better"], within_s=3600)
