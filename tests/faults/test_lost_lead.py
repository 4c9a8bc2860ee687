"""Whoever may no longer lead writes nothing more, wherever that finds him; his successor ends what he began."""

import asyncio

import pytest

from cycle import play
from fakes import clock
from sluice.transport import failures

pytestmark = pytest.mark.timeout(20)
WRITES = range(13)  # of the first look at a new job: nine; then its driver runs


class Lead:
    """Is there for so many questions."""

    def __init__(self, questions):
        self.questions = questions

    def __call__(self):
        self.questions -= 1
        return self.questions >= 0


def only_lost(several):
    """Whether nothing else ended it."""
    return several.split(failures.LostLeadership)[1] is None


@pytest.mark.parametrize("writes", WRITES)
def test_nothing_is_written_by_one_that_has_lost_the_lead(writes):
    async def run():
        async with play.begin(may_write=Lead(writes)) as at:
            at.apply(play.job())
            await asyncio.wait([at.operator.task], timeout=60)
            assert only_lost(at.operator.task.exception())
            assert len(at.kube.writes()) == writes
            await at.later(600)
            assert len(at.kube.writes()) == writes
            await at.restart()
            await at.until(at.ready)
            assert at.status()["driver"]["attempt"] == 1

    clock.play(run())
