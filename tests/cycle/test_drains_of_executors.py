"""A node with executors is drained: none is evicted that is rolled off it, replacement first, and no longer."""

import pytest

from cycle import play
from cycle.talking import begin, node_of, readiness, started
from fakes import clock
from fakes.clock import by_the_clock
from sluice.values import names

pytestmark = pytest.mark.timeout(20)


def working(at):
    """Numbers of executors that run and are not on their way out."""
    pods = at.world.pods(names.EXECUTOR, "clicks")
    there = [pod for pod in pods if pod["status"]["phase"] == "Running" and "deletionTimestamp" not in pod["metadata"]]
    return {int(pod["metadata"]["name"].rpartition("-")[2]) for pod in there}


def are_kept(at):
    """Whether the budget keeps all executors that are wanted, and no more."""
    least = at.kube.get("PodDisruptionBudget", play.TEAM, "clicks")["spec"]["minAvailable"]
    return least == 3 == len(working(at))


async def drained(at, node):
    """As `kubectl drain` of executors: cordoned, and each evicted, again and again; who had to go and ran the job."""
    at.world.cordon(node)
    granted = []
    while there := [name for name, where in at.executors().items() if where == node]:
        granted += [name for name in there if not leaves(at, name) and at.world.evict(name) and runs(at, name)]
        await at.later(5)
    return granted


def runs(at, executor):
    return executor.startswith(f"{at.status()['driver']['pod']}-exec-")


def leaves(at, pod):
    return "deletionTimestamp" in at.kube.get("Pod", play.TEAM, pod)["metadata"]


async def rests(at):
    """All executors work and are kept."""
    await at.until(lambda: at.ready() and at.condition("Progressing")[0] == "False" and are_kept(at), within_s=3600)


SPREAD = {"executors": {"count": 3, "maxPerNode": 2}}


@by_the_clock
async def test_drains_of_node_after_node_take_no_executor_before_its_replacement_works():
    async with begin() as at:
        driver = await started(at, **SPREAD)
        await rests(at)
        fewest, ready = [], readiness(at)
        at.kube.store.told.append(lambda _: fewest.append(len(working(at))))
        for node in sorted({"node1", "node2", "node3"} - {node_of(at, driver)}) * 2:
            assert await drained(at, node) == []
            await rests(at)
            at.world.cordon(node, cordoned=False)
        assert at.drivers() == [driver]
        assert max(working(at)) > 3
        assert (min(fewest), max(fewest), set(ready)) == (3, 4, {"True"})


@by_the_clock
async def test_in_real_time_mode_a_drain_of_executors_waits_until_another_driver_has_taken_over():
    async with begin() as at:
        old = await started(at, mode="RealTime", **SPREAD)
        await rests(at)
        ready = readiness(at)
        node = next(node for node in at.executors().values() if node != node_of(at, old))
        assert await drained(at, node) == []
        assert f"node {node} of executor" in at.status()["handoff"]["why"]
        await at.until(lambda: are_kept(at) and len(at.drivers()) == 1)
        (new,) = at.drivers()
        assert (new != old, len(at.executors()), at.status()["driver"]["restarts"]) == (True, 3, 0)
        assert node not in at.executors().values()
        assert set(ready) == {"True"}


@by_the_clock
async def test_a_drain_waits_no_longer_once_a_roll_has_found_no_room_for_too_long():
    async with begin() as at:
        driver = await started(at, executors={"count": 3, "maxPerNode": 1})
        await rests(at)
        node = next(node for node in at.executors().values() if node != node_of(at, driver))
        at.world.room(**{one: 1 + (one == node_of(at, driver)) for one in ("node1", "node2", "node3")})
        before, since_s = working(at), clock.now_s()
        (granted,) = await drained(at, node)
        assert clock.now_s() - since_s > 300
        assert working(at) == before - {int(granted.rpartition("-")[2])}
        at.world.cordon(node, cordoned=False)
        await rests(at)
        assert len(working(at)) == 3


@by_the_clock
async def test_a_drain_during_which_the_operator_is_away_waits_until_it_is_back():
    async with begin() as at:
        driver = await started(at, **SPREAD)
        await rests(at)
        node = next(node for node in at.executors().values() if node != node_of(at, driver))
        await at.operator.gone()
        at.world.cordon(node)
        assert not [name for name, where in at.executors().items() if where == node and at.world.evict(name)]
        await at.restart(down_s=60)
        assert await drained(at, node) == []
        await rests(at)


@by_the_clock
async def test_where_executors_are_not_rolled_a_drain_takes_one_at_a_time():
    tolerant = {"spec": {"tolerations": [{"operator": "Exists"}]}}
    async with begin() as at:
        await started(at, executors={"count": 3, "template": tolerant})
        await at.later(60)
        assert [at.world.evict(name) for name in at.executors()] == [True, False, False]
        await at.until(lambda: len(working(at)) == 3)
        assert not are_kept(at)
