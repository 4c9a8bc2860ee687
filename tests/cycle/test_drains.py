"""The driver's node is drained: its eviction is refused until another driver has taken over, and no longer."""

import pytest

from cycle import play
from cycle.talking import begin, is_kept, node_of, phase, readiness, started
from fakes.clock import by_the_clock

pytestmark = pytest.mark.timeout(20)


async def drained(at, node, driver):
    """As `kubectl drain` of a node: cordoned, and its driver evicted, again and again; how often that was refused."""
    at.world.cordon(node)
    refused = 0
    while driver in at.drivers() and not at.world.evict(driver):
        refused += 1
        await at.later(5)
    await at.until(lambda: driver not in at.drivers())
    return refused


@by_the_clock
async def test_drains_of_node_after_node_wait_for_the_driver_that_leaves_by_itself():
    async with begin() as at:
        driver = await started(at)
        ready = readiness(at)
        for _ in range(3):
            await at.until(lambda now=driver: is_kept(at, now))
            node = node_of(at, driver)
            assert await drained(at, node, driver) > 0
            (driver,) = at.drivers()
            assert node_of(at, driver) != node
            await at.until(lambda now=driver: at.status()["driver"]["pod"] == now and is_kept(at, now))
            at.world.cordon(node, cordoned=False)
        assert at.status()["driver"]["restarts"] == 0
        assert set(ready) == {"True"}


@by_the_clock
async def test_a_drain_waits_no_longer_once_no_driver_can_come_up_elsewhere():
    async with begin() as at:
        old = await started(at)
        at.world.full = {"node1", "node2", "node3"}
        assert await drained(at, node_of(at, old), old) > 0
        assert "may be evicted" in at.status()["handoff"]["message"]
        at.world.full = set()
        await at.until(at.ready)
        assert old not in at.drivers()


@by_the_clock
async def test_a_drain_during_which_the_operator_is_away_waits_until_it_is_back():
    async with begin() as at:
        old = await started(at)
        await at.until(lambda: is_kept(at, old))
        at.world.cordon(node_of(at, old))
        await at.operator.gone()
        assert not at.world.evict(old)
        await at.restart(down_s=60)
        await at.until(lambda: phase(at) == "Proving" and old not in at.drivers())


UNKEPT = {
    "its strategy is Recreate": {"update": {"strategy": "Recreate"}},
    "it tolerates cordons": {"driver": {"template": {"spec": {"tolerations": [{"operator": "Exists"}]}}}},
}


@pytest.mark.parametrize("spec", UNKEPT.values(), ids=UNKEPT)
@by_the_clock
async def test_a_drain_waits_for_no_driver_where(spec):
    async with begin() as at:
        old = await started(at, **spec)
        await at.later(120)
        assert not is_kept(at, old)
        assert await drained(at, node_of(at, old), old) == 0


def wanting(at):
    """Budgets that want more healthy pods than there are, which the usual alert calls out."""
    return [body["metadata"]["name"] for body in at.kube.objects("PodDisruptionBudget") if at.world.lacks(body)]


@pytest.mark.parametrize("spec", [{}, *UNKEPT.values()], ids=["it is kept", *UNKEPT])
@by_the_clock
async def test_no_budget_wants_more_than_there_is_of_a_job_that_runs_or_is_suspended(spec):
    async with begin() as at:
        await started(at, **spec)
        await at.later(120)
        assert wanting(at) == []
        at.apply(play.job(count=2, suspend=True, **spec))
        await at.until(lambda: at.status()["phase"] == "Suspended" and not at.kube.objects("Pod"))
        assert wanting(at) == []
