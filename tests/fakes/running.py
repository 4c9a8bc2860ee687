"""The operator in a test's loop: all of main but kopf, for which a list-watch of the same StreamJobs stands.

It can be killed as by SIGKILL: everything ends where it is, and nothing is remembered.
"""

import asyncio
import contextlib
import functools
from collections.abc import Callable

from fakes import clock, tasktimes
from sluice import balance, build, cycle, outlook, rounds, wakes
from sluice.observe import feeds, latencies, listwatch, mirror, pages, traffic
from sluice.transport import credentials, failures, paths, wire
from sluice.values import names

_FLEET = "fleet"
_GATHER_S = 0.1
_WORKERS = 4
_PLAIN = build.Surroundings()
_UNMEASURED = tasktimes.TaskTimes()


class Operator:
    """One that runs from the moment it is made; `task` ends when it does."""

    def __init__(
        self,
        who: credentials.Credentials,
        may_write: Callable[[], bool] = lambda: True,
        namespaces: tuple[str, ...] = (),
        around: build.Surroundings = _PLAIN,
        source: latencies.Latencies = _UNMEASURED,
        agents_port: int = pages.PORT,
    ) -> None:
        self._who, self._may_write, self._namespaces, self._around = who, may_write, namespaces, around
        self._latencies, self._agents_port = source, agents_port
        self.task = asyncio.create_task(self._run())

    def kill(self) -> None:
        """Now."""
        self.task.cancel()

    async def gone(self) -> None:
        """Until nothing of it is left."""
        self.kill()
        with contextlib.suppress(asyncio.CancelledError):
            await self.task

    async def _run(self) -> None:
        jobs: wakes.Wakes[cycle.Key] = wakes.Wakes()
        fleet: wakes.Wakes[str] = wakes.Wakes(settle_s=_GATHER_S)
        seen = mirror.Mirror(jobs.wake, functools.partial(fleet.wake, _FLEET), self._namespaces)
        async with (
            wire.Wire(self._who, self._may_write, lambda: 0.5) as line,
            traffic.Agents(self._agents_port) as agents,
            asyncio.TaskGroup() as tasks,
        ):
            followed = feeds.feeds(seen, line, self._namespaces, places=True)
            for feed in followed:
                tasks.create_task(feed.run())
            await asyncio.gather(*(feed.answered.wait() for feed in followed))
            found = outlook.Outlook()
            balancer = balance.Balancer(seen, self._latencies, jobs.wake, clock.now_s)
            look = cycle.Cycle(seen, line, self._around, balancer, clock.now_s, found)
            tasks.create_task(rounds.Rounds(seen, found, jobs.wake, agents, clock.now_s).run())
            look_at_job = feeds.where_read(followed, look.look_at_job)
            for _ in range(_WORKERS):
                tasks.create_task(jobs.work(look_at_job, ends=failures.LostLeadership))
            tasks.create_task(fleet.work(look.look_at_fleet, ends=failures.LostLeadership))
            for _ in range(_WORKERS):
                tasks.create_task(balancer.work())
            for pod in seen.leftovers():
                jobs.wake((pod.namespace, pod.job))
            for scope in self._namespaces or ("",):
                tasks.create_task(_kopf(seen, line, scope).run())


def _kopf(seen: mirror.Mirror, line: wire.Wire, namespace: str) -> listwatch.ListWatch:
    """What it tells, and what it does not: that one went while its watch was broken."""
    told = listwatch.Memory(seen.see_streamjob, lambda _, __: None)
    return listwatch.ListWatch(line, paths.collection(names.KIND, namespace), told)
