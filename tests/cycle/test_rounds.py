"""Each minute every agent is asked; what one does not answer, or answers wrongly, harms nobody else."""

import pytest

from cycle import play, talking
from fakes import agents, clock
from fakes.clock import by_the_clock
from plan import crews, measured
from sluice import outlook

pytestmark = pytest.mark.timeout(20)
SLO = {"slo": {"batchLatency": "2s"}}


async def two(at):
    """Two jobs, and the address of the driver of each."""
    at.apply(play.job("clicks", count=2, **SLO))
    at.apply(play.job("views", count=2, **SLO))
    await at.until(lambda: at.ready("clicks") and at.ready("views"))
    return [
        at.kube.get("Pod", play.TEAM, at.drivers(name)[0])["status"]["podIP"] for name in ("clicks", "views")
    ]  # fmt: skip


@by_the_clock
async def test_who_answers_is_advised_whatever_others_answer():
    async with talking.begin() as at:
        clicks, views = await two(at)
        at.agents.said = {clicks: b"<html>", views: agents.traffic(clock.now_s(), "views")}
        await at.until(lambda: "sizing" in at.status("views"))
        assert "sizing" not in at.status("clicks")
        assert at.status("views")["sizing"]["cores"] == 1
        assert {event["reason"] for event in at.kube.objects("Event")} >= {"SizingAdvice"}


@by_the_clock
async def test_each_minute_and_no_driver_that_has_no_agent():
    async with play.begin() as at:
        at.apply(play.job())
        await at.until(at.ready)
        await at.later(180)
        assert at.agents.asked == []
    async with talking.begin() as at:
        await two(at)
        at.agents.asked.clear()
        await at.later(180)
        assert len(at.agents.asked) == 2 * 3


def test_what_an_earlier_driver_measured_does_not_count():
    seen, told = measured.view(measured.executors("node1")), measured.told({})
    found = outlook.Outlook()
    for uid, is_laid_in in ((crews.DRIVER.uid, True), ("uid-of-another", False)):
        found.renew({seen.job.key: (uid, told)}, {seen.job.key: measured.WISH})
        laid = found.laid_into(seen)
        assert (laid.traffic, laid.wish) == ((told, measured.WISH) if is_laid_in else (None, None))
