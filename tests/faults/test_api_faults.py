"""Whatever befalls whichever call: a job comes to be, is changed and suspended as if nothing had been.

Between them, the cases of a fault harm every call of a whole life. The second table harms each write for ten minutes.
"""

import functools

import pytest

from cycle import play
from fakes import clock
from faults import proxy, scenes

pytestmark = pytest.mark.timeout(20)
CALLS = 120  # of a whole life, and some more
EACH = 8  # in one case the k-th call is harmed, and each eighth after it
_MORE = 10  # calls at most, on average, for each that was harmed: most of a look is made again
_QUIET_S = 45.0
_EVER = proxy.Rule("^$", proxy.Stale())  # harms nobody


async def _live(at):
    """Made, changed, suspended; then nothing is done any more."""
    at.apply(play.job())
    await at.until(at.ready)
    at.apply(play.job(image="clicks:2"))
    await at.until(lambda: at.ready() and at.status()["driver"]["attempt"] == 2)
    at.apply(play.job(image="clicks:2", suspend=True))
    await at.until(lambda: at.status()["phase"] == "Suspended" and not at.kube.objects("Pod"))
    await at.later(_QUIET_S)
    written, called = at.kube.writes(), len(at.between.log)
    await at.later(_QUIET_S)
    assert at.kube.writes() == written
    end = scenes.end(at)
    # Of decisions alone may another have come: an executor that a hung watch showed late was let go.
    del end["StreamJob clicks"]["status"]["decisions"]
    return end, called


@functools.cache
def _undisturbed():
    async def run():
        async with play.begin(rules=[_EVER]) as at:
            return await _live(at)

    return clock.play(run())


def _harmed(fault, kth):
    return [proxy.Rule(".", fault, kth=number) for number in range(kth, CALLS + 1, EACH)]


def test_a_life_has_no_more_calls_than_are_harmed():
    assert 60 < _undisturbed()[1] < CALLS


@pytest.mark.parametrize("kth", range(1, EACH + 1))
@pytest.mark.parametrize("fault", proxy.FAULTS.values(), ids=proxy.FAULTS)
def test_calls_that_are_harmed_change_nothing_in_the_end(fault, kth):
    async def run():
        async with play.begin(rules=_harmed(fault, kth)) as at:
            end, called = await _live(at)
            assert end == _undisturbed()[0]
            harmed = sum(entry.fault is not None for entry in at.between.log)
            assert harmed > 0
            assert called <= _undisturbed()[1] + harmed * _MORE

    clock.play(run())


@pytest.mark.parametrize("fault", [proxy.FAULTS[name] for name in ("409", "429", "500", "lost", "hung")], ids=str)
def test_an_api_server_that_takes_nothing_for_ten_minutes_is_asked_ever_more_seldom(fault):
    async def run():
        async with play.begin(rules=[proxy.Rule("^(POST|PATCH|DELETE)", fault)]) as at:
            at.apply(play.job())
            await at.later(600)
            assert len(at.between.log) < 300
            assert at.drivers() == []
            at.between.rules.clear()
            await at.until(at.ready, within_s=120)

    clock.play(run())
