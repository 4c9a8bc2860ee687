"""Puts the operator together: settings, the lead, the wire, the mirror, the cycle, kopf. The only place that does.

Who waits for the lead answers `/healthz` and holds no memory of the cluster. Whatever ends one part ends the process:
a fresh one knows nothing but what stands in the cluster.
"""

import asyncio
import contextlib
import functools
import logging
import signal
import time
from collections.abc import Callable
from typing import Literal

import kopf

from sluice import balance, build, cycle, leadership, lease, logs, metrics, outlook, rounds, wakes, web
from sluice import settings as settings_of
from sluice.observe import agents, feeds, latencies, mirror, traffic
from sluice.transport import credentials, failures, wire
from sluice.watch import streamjobs
from sluice_policies import warm

_LOG = logging.getLogger(__name__)
_FLEET = "fleet"
_KOPF_AGAIN_S = 2.0
_GATHER_S = 0.1  # executors of one job come in quick succession: they are planned together


async def operate(told: settings_of.Settings) -> int:
    """Runs until it is asked to end (SIGTERM); the exit code. What else ends it, such as a lost lead, is logged."""
    logs.set_up(told.log_level)
    own = asyncio.current_task()
    assert own is not None
    _hear(own.cancel)
    try:
        await _serve(told, own.cancel)
    except asyncio.CancelledError:
        return 0
    except Exception:  # noqa: BLE001  # whatever it is, it goes into the log as one line of JSON
        _LOG.exception("the operator ends")
    return 1


async def _serve(told: settings_of.Settings, end: Callable[[], object]) -> None:
    beat = _Beat()
    async with contextlib.AsyncExitStack() as stack:
        await stack.enter_async_context(web.serve(web.Signs(beat.age_s, lambda: beat.role), told.http_port))
        lock = await stack.enter_async_context(lease.connect(told.pod_namespace, told.lease_name))
        election = leadership.Election(lock, told.pod_name)
        beat.waits(election)
        async with election.lead():
            await _lead(told, election.still_leads, beat, end)


class _Beat:
    """What /healthz is told: the leader's last finished look, or that a waiting one still hears of the Lease."""

    def __init__(self) -> None:
        self.role: Literal["starts", "waits", "leads"] = "starts"
        self._age_s: Callable[[], float] = lambda: 0.0

    def age_s(self) -> float:
        """Since the last sign of life."""
        return self._age_s()

    def waits(self, election: leadership.Election) -> None:
        """From now on it waits for the lead."""
        self.role, self._age_s = "waits", lambda: leadership.boot_s() - election.looked_s

    def leads(self, queue: "wakes.Wakes[cycle.Key]") -> None:
        """From now on it leads."""
        self.role, self._age_s = "leads", queue.stalled_s
        metrics.leads(True)


async def _lead(
    told: settings_of.Settings, may_write: Callable[[], bool], beat: _Beat, end: Callable[[], object]
) -> None:
    jobs: wakes.Wakes[cycle.Key] = wakes.Wakes()
    fleet: wakes.Wakes[str] = wakes.Wakes(settle_s=_GATHER_S)
    seen = mirror.Mirror(jobs.wake, functools.partial(fleet.wake, _FLEET), told.namespaces)
    async with (
        wire.Wire(credentials.load(), may_write) as line,
        traffic.Agents() as asked,
        asyncio.TaskGroup() as tasks,
    ):
        followed = feeds.feeds(seen, line, told.namespaces, places=told.placement == "cluster")
        for feed in followed:
            tasks.create_task(feed.run())
        await asyncio.gather(*(feed.answered.wait() for feed in followed), _warm(told))
        found = outlook.Outlook()
        balancer = balance.Balancer(seen, _latencies(told), jobs.wake)
        look = cycle.Cycle(seen, line, _around(told), balancer, found=found)
        look_at_job = feeds.where_read(followed, look.look_at_job)
        for _ in range(told.workers):
            tasks.create_task(jobs.work(look_at_job, ends=failures.LostLeadership))
        tasks.create_task(fleet.work(look.look_at_fleet, ends=failures.LostLeadership))
        for _ in range(balance.WORKERS):
            tasks.create_task(balancer.work())
        tasks.create_task(rounds.Rounds(seen, found, jobs.wake, asked, time.time).run())
        for pod in seen.leftovers():
            jobs.wake((pod.namespace, pod.job))
        metrics.watch_queue(jobs.depth, jobs.oldest_s, jobs.stalled_s)
        metrics.watch_jobs(seen.standing)
        metrics.watch_balances(balancer.standing)
        metrics.watch_calls(lambda: line.counts)
        beat.leads(jobs)
        tasks.create_task(_watch(told, seen, end))


def _latencies(told: settings_of.Settings) -> latencies.Latencies:
    return latencies.FromPrometheus(told.prometheus_url) if told.prometheus_url else agents.FromAgents()


async def _warm(told: settings_of.Settings) -> None:
    """Loads the placer's machine code: the first executors would else wait for it."""
    if told.placement == "cluster":
        await asyncio.to_thread(warm.main)


async def _watch(told: settings_of.Settings, seen: mirror.Mirror, end: Callable[[], object]) -> None:
    """Kopf until SIGTERM, which it takes over; then everything ends. Whatever else ends it, it begins anew."""
    while True:
        registry = kopf.OperatorRegistry()
        streamjobs.register(registry, seen.see_streamjob)
        everywhere = not told.namespaces
        try:
            await kopf.operator(registry=registry, standalone=True, clusterwide=everywhere, namespaces=told.namespaces)
        except Exception as why:  # noqa: BLE001  # an error in its watch ends kopf; jobs need not wait for a new process
            _LOG.error("kopf ended, and begins anew: %r", why)
            _hear(end)
            await asyncio.sleep(_KOPF_AGAIN_S)
        else:
            end()
            return


def _hear(end: Callable[[], object]) -> None:
    """As process 1 of a container we would else not hear the signals that ask us to end."""
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, end)


def _around(told: settings_of.Settings) -> build.Surroundings:
    return build.Surroundings(
        agent_image=told.agent_image,
        plugin_image=told.plugin_image,
        driver_role=told.driver_role,
        api_server_url=told.api_server_url,
        gate_timeout_s=told.gate_timeout_s,
        placing=told.placement == "cluster",
    )
