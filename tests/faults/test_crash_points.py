"""The operator is killed before and after each of its writes: another one ends where it would have ended."""

import asyncio
import functools

import pytest

from cycle import play
from fakes import calls, clock
from faults import scenes

pytestmark = pytest.mark.timeout(20)
_REST_S = 45.0  # twice the garbage collector's round
_BY_NAME = {scene.name: scene for scene in scenes.SCENES}
POINTS = [
    pytest.param(scene.name, point, id=f"{scene.name}: {' '.join(str(word) for word in point)}")
    for scene in scenes.SCENES
    for point in scene.points()
]


async def _begin(at, scene):
    await scene.before(at)
    await at.later(_REST_S)
    return len(at.kube.calls)


async def _rest(at, scene):
    """Where it ends; and then nothing is written any more."""
    await at.until(lambda: scene.over(at))
    await at.later(_REST_S)
    written = at.kube.writes()
    await at.later(_REST_S)
    assert at.kube.writes() == written
    return scenes.end(at)


@functools.cache
def _uninterrupted(name):
    """The writes and the end of a run that nobody disturbs."""
    scene = _BY_NAME[name]

    async def run():
        async with play.begin(around=play.PLUGGED, talking=scene.talking) as at:
            before = await _begin(at, scene)
            scene.happens(at)
            end = await _rest(at, scene)
            return scenes.made([call for call in at.kube.calls[before:] if call.method != "GET"]), end

    return clock.play(run())


class Killer:
    """Kills the operator at a point, once, and starts another after a while."""

    def __init__(self, at, point):
        when, *self._point = point
        self._at, self._met, self.struck = at, 0, asyncio.Event()
        if when == "before":
            at.kube.before_write = self._strike
        else:
            at.kube.after_write = self._strike

    def _strike(self, call):
        if scenes.kind(call.method, call.path) == self._point[0]:
            self._met += 1
            if self._met == self._point[1]:
                self.struck.set()
                self._at.operator.kill()
                raise calls.Cut


@pytest.mark.parametrize("name", _BY_NAME)
def test_these_are_all_writes_of_a_scene(name):
    assert _uninterrupted(name)[0] == _BY_NAME[name].writes


@pytest.mark.parametrize(("name", "point"), POINTS)
def test_killed_there_it_ends_where_an_undisturbed_one_ends(name, point):
    scene = _BY_NAME[name]

    async def run():
        async with play.begin(around=play.PLUGGED, talking=scene.talking) as at:
            await _begin(at, scene)
            killer = Killer(at, point)
            scene.happens(at)
            async with asyncio.timeout(900):
                await killer.struck.wait()
            await at.restart()
            assert await _rest(at, scene) == _uninterrupted(name)[1]

    clock.play(run())
