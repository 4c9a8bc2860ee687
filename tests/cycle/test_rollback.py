"""A new revision that started after the old driver had ended comes to nothing: the one before runs again."""

import pytest

from cycle import play
from cycle.talking import begin, image, phase, started
from fakes.clock import by_the_clock

pytestmark = pytest.mark.timeout(60)
RECREATE = {"update": {"strategy": "Recreate"}}
NEW = {"image": "clicks:2"}


def hold(at, new):
    waiting = {"waiting": {"reason": "ImagePullBackOff", "message": "no such image"}}
    at.kube.change("Pod", play.TEAM, new, status={"containerStatuses": [{"name": "driver", "state": waiting}]})


async def until_back(at):
    await at.until(lambda: phase(at) == "RolledBack")
    await at.until(lambda: [image(at, one) for one in at.drivers()] == ["clicks:1"] and at.ready())
    (driver,) = at.drivers()
    assert at.condition("Progressing") == ("False", "GivenUp")
    await at.later(3600)
    assert at.drivers() == [driver]
    return at.status()["givenUp"]["why"]


@by_the_clock
async def test_when_its_program_ends_at_once():
    async with begin() as at:
        await started(at, **RECREATE)
        at.world.broken = {"clicks:2"}
        at.apply(play.job(count=2, **RECREATE, **NEW))
        assert "exit code 1" in await until_back(at)
        at.apply(play.job(count=2, **RECREATE, image="clicks:3"))
        await at.until(lambda: phase(at) == "Proving")
        assert "givenUp" not in at.status()


@by_the_clock
async def test_when_it_had_no_room_beside_the_old_one_and_then_ends_at_once():
    async with begin() as at:
        await started(at)
        at.world.full, at.world.broken = {"node1", "node2", "node3"}, {"clicks:2"}
        at.apply(play.job(count=2, **NEW))
        await at.until(lambda: phase(at) == "Replacing")
        at.world.full = set()
        assert "exit code 1" in await until_back(at)


@by_the_clock
async def test_when_its_query_fails_at_its_first_batch():
    async with begin() as at:
        await started(at, **RECREATE)
        at.apply(play.job(count=2, **RECREATE, **NEW))
        await at.until(lambda: phase(at) == "Replacing")
        at.world.inside.fails_after[at.status()["handoff"]["to"]["pod"]] = "no such column"
        assert "no such column" in await until_back(at)


@by_the_clock
async def test_when_its_image_cannot_be_pulled():
    async with begin() as at:
        await started(at, **RECREATE)
        at.world.full = {"node1", "node2", "node3"}
        at.apply(play.job(count=2, **RECREATE, **NEW))
        await at.until(
            lambda: at.drivers() == [at.status()["handoff"]["to"]["pod"]] if phase(at) == "Replacing" else False
        )
        hold(at, at.drivers()[0])
        await at.later(70)
        at.world.full = set()
        assert "no such image" in await until_back(at)


@by_the_clock
async def test_when_its_driver_has_no_plugin_and_ends_at_once():
    async with play.begin() as at:
        at.apply(play.job())
        await at.until(at.ready)
        at.world.broken = {"clicks:2"}
        at.apply(play.job(**NEW))
        assert "exit code 1" in await until_back(at)


@by_the_clock
async def test_a_first_revision_that_fails_has_nothing_to_go_back_to():
    async with begin() as at:
        at.world.broken = {"clicks:1"}
        at.apply(play.job())
        await at.until(lambda: at.status().get("driver", {}).get("restarts", 0) >= 2)
        at.apply(play.job(**NEW))
        await at.until(at.ready)
        assert {"handoff", "givenUp"}.isdisjoint(at.status())
