"""The loop of minutes over all jobs: asks the agents what they measured, plans one graph of all, wakes the jobs.

A round only reads. What it would have is a wish; whether a job follows it, its own look decides (plan.moving), so there
is one place that writes a job's status.
"""

import asyncio
import logging
from collections.abc import Callable, Mapping

from sluice import outlook
from sluice.observe import mirror, traffic
from sluice.plan import wishes
from sluice.values import driver_state, names, records, views
from sluice.values.traffic import Traffic

EVERY_S = 60.0
Key = tuple[str, str]  # namespace and name of a StreamJob
_LOG = logging.getLogger(__name__)


class Rounds:
    """One after another."""

    def __init__(
        self,
        seen: mirror.Mirror,
        found: outlook.Outlook,
        wake: Callable[[Key], None],
        agents: traffic.Agents,
        now_s: Callable[[], float],
    ) -> None:
        self._seen, self._found, self._wake, self._agents, self._now_s = seen, found, wake, agents, now_s

    async def run(self) -> None:
        """Until it is cancelled."""
        while True:
            await asyncio.sleep(EVERY_S)
            try:
                await self.go()
            except Exception:  # noqa: BLE001  # a round in vain moves nobody; the jobs themselves go on
                _LOG.exception("a round over all jobs failed, the next one is in %.0f s", EVERY_S)

    async def go(self) -> None:
        """One round."""
        fleet = self._seen.whole_view(self._now_s())
        drivers = _drivers(fleet)
        measured = await self._survey({key: pod.ip for key, pod in drivers.items()})
        fleet = self._seen.whole_view(self._now_s())
        known = {key: (driver.uid, measured[key]) for key, driver in drivers.items() if key in measured}
        self._found.renew(known, wishes.plan(fleet, measured))
        for key in sorted(measured):
            self._wake(key)

    async def _survey(self, asked: Mapping[Key, str]) -> dict[Key, Traffic]:
        answers = await asyncio.gather(*(self._heard(key, one) for key, one in asked.items()))
        return {key: answer for key, answer in zip(asked, answers, strict=True) if answer is not None}

    async def _heard(self, key: Key, ip: str) -> Traffic | None:
        try:
            return await self._agents.ask(ip)
        except traffic.Unheard as why:
            _LOG.debug("traffic of %s/%s: %s", *key, why)
            return None


def _drivers(fleet: views.FleetView) -> dict[Key, records.Pod]:
    """Of each job the driver that runs it, if it has an agent to ask."""
    found = {}
    for pod in fleet.placed:
        job = fleet.jobs[pod.namespace, pod.job]
        runs = pod.role == names.DRIVER and pod.phase == "Running" and bool(pod.ip) and not pod.deleting
        if runs and pod.name == driver_state.read(job.status).pod and job.status.get("orders"):
            found[job.key] = pod
    return found
