"""A proxy before the API server that kills the operator before and after each of its writes, and starts another."""

import asyncio
import collections
import pathlib
import signal

from aiohttp import web
from kubernetes import client, config

from bench import operator_process, operator_stage
from faults import proxy, scenes
from house import paths
from sluice.transport import credentials

LEAD = "bench-lead"  # the Lease of who leads: its renewals come by the clock, and are no point of a job's life
_READS = ("GET", "HEAD", "OPTIONS")
_MOST, _MOST_ELSE = {"PATCH status": 12}, 4  # strikes in a scene


class Killer(proxy.Proxy):
    """Strikes at one write after another, twice at each: before the API server hears of it, and after it did it.

    Who takes over makes most writes of a look again: an object's is struck twice at most in a scene, a status' oftener,
    or no life would ever come to its end.
    """

    def __init__(self, behind: credentials.Credentials) -> None:
        super().__init__(behind)
        self.points: list[str] = []  # what it was about to do, or had just done
        self._in_turn = asyncio.Lock()
        self._armed, self._struck = asyncio.Event(), asyncio.Event()
        self._strikes: collections.Counter[str] = collections.Counter()
        self._victim: operator_process.Operator | None = None

    def begin_scene(self) -> None:
        """From now on every write counts anew."""
        self._strikes.clear()

    async def keep_running(self, start: operator_process.Start) -> None:
        """An operator, and another one whenever it was killed."""
        while True:
            self._struck.clear()
            async with operator_process.running(start) as victim:
                self._victim = victim
                self._armed.set()
                await self._struck.wait()

    async def _answer(self, asked: web.Request) -> web.StreamResponse:
        if asked.method in _READS or "dryRun" in asked.query or await _is_of_the_lead(asked):
            return await super()._answer(asked)
        async with self._in_turn:
            await self._armed.wait()
            what = scenes.kind(asked.method, asked.path)
            if self._strikes[what] >= _MOST.get(what, _MOST_ELSE):
                return await super()._answer(asked)
            return await self._strike(asked, what)

    async def _strike(self, asked: web.Request, what: str) -> web.StreamResponse:
        self._strikes[what] += 1
        if self._strikes[what] % 2:
            self._kill(f"before {what}")
            return await self._lose(asked, proxy.Lose(done=False))
        answer = await super()._answer(asked)
        self._kill(f"after {what}")
        return answer

    def _kill(self, point: str) -> None:
        assert self._victim is not None
        self.points.append(point)
        self._armed.clear()
        self._victim.send(signal.SIGKILL)
        self._struck.set()


async def _is_of_the_lead(asked: web.Request) -> bool:
    return "/leases" in asked.path and LEAD in asked.path + await asked.text()


def behind(kubeconfig: pathlib.Path) -> credentials.Credentials:
    """The API server of a kubeconfig, with its rights."""
    found = client.Configuration()
    config.load_kube_config(str(kubeconfig), client_configuration=found)
    return credentials.Credentials(found)


def start(stage: operator_stage.Stage, between: proxy.Proxy) -> operator_process.Start:
    """An operator that knows the API server only through the proxy."""
    file = paths.CACHE / "bench" / "proxy.kubeconfig"
    file.parent.mkdir(parents=True, exist_ok=True)
    return stage.start(1, KUBECONFIG=str(between.kubeconfig(file)), SLUICE_LEASE_NAME=LEAD)
