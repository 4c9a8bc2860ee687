"""A loop whose clock jumps to the next timer, and a Lease in memory that several candidates reach, or do not."""

import asyncio
import dataclasses
import math
from collections.abc import Coroutine
from typing import Any

from sluice import leadership


class Loop(asyncio.SelectorEventLoop):
    """Nobody waits: when nothing is ready, it is later."""

    _scheduled: list[asyncio.TimerHandle]
    _ready: list[asyncio.Handle]

    def __init__(self) -> None:
        super().__init__()
        self.now_s = 1000.0

    def time(self) -> float:
        """Seconds."""
        return self.now_s

    def _run_once(self) -> None:
        coming_s = [timer.when() for timer in self._scheduled if not timer.cancelled()]
        if not self._ready and coming_s:
            self.now_s = max(self.now_s, min(coming_s))
        super()._run_once()  # type: ignore[misc]  # the one place where a loop can be told that it is later


def play(scene: Coroutine[Any, Any, None]) -> None:
    """Runs a scene in a loop of its own."""
    with asyncio.Runner(loop_factory=Loop) as runner:
        runner.run(scene)


def now_s() -> float:
    """What the loop's clock shows."""
    return asyncio.get_running_loop().time()


@dataclasses.dataclass
class Server:
    """The one Lease."""

    claim: leadership.Claim | None = None
    history: list[leadership.Claim] = dataclasses.field(default_factory=list)

    def put(self, claim: leadership.Claim) -> leadership.Claim | None:
        """In the place of exactly its version."""
        if claim.version != (self.claim.version if self.claim else ""):
            return None
        self.claim = dataclasses.replace(claim, version=str(len(self.history) + 1))
        self.history.append(self.claim)
        return self.claim


@dataclasses.dataclass
class Line:
    """One candidate's way to it."""

    server: Server
    there_s: float = 0.005  # until the server has it
    back_s: float = 0.005  # until the answer is here
    cut: bool = False

    async def look(self, timeout_s: float) -> leadership.Claim | None:
        """What the server had when the question got there."""
        await self._travel(self.there_s, timeout_s)
        found = self.server.claim
        await self._travel(self.back_s, timeout_s)
        return found

    async def put(self, claim: leadership.Claim, timeout_s: float) -> leadership.Claim | None:
        """It may be there although no answer came."""
        await self._travel(self.there_s, timeout_s)
        done = self.server.put(claim)
        await self._travel(self.back_s, timeout_s)
        return done

    async def _travel(self, way_s: float, timeout_s: float) -> None:
        await asyncio.sleep(timeout_s if self.cut else min(way_s, timeout_s))
        if self.cut or way_s > timeout_s:
            raise leadership.Unreachable("no answer")


class Candidate:
    """An operator that writes ten times a second as long as it may."""

    def __init__(self, server: Server, name: str, clock_ahead_s: float = 0.0) -> None:
        self.name = name
        self.line = Line(server)
        self.election = leadership.Election(self.line, name, now_s=lambda: now_s() + clock_ahead_s)
        self.began = asyncio.Event()  # to lead
        self.began_s = math.inf
        self.cancelled_s: float | None = None
        self.why = ""
        self.writes_s: list[float] = []
        self.task = asyncio.ensure_future(self._live())

    async def _live(self) -> None:
        try:
            async with self.election.lead():
                self.began_s = now_s()
                self.began.set()
                await self._write()
        except leadership.Lost as lost:
            self.why = str(lost)

    async def _write(self) -> None:
        try:
            while True:
                if self.election.still_leads():
                    self.writes_s.append(now_s())
                await asyncio.sleep(0.1)
        finally:
            self.cancelled_s = now_s()

    async def leads(self) -> float:
        """When it began to."""
        await self.began.wait()
        return self.began_s

    async def end(self) -> None:
        """As at SIGTERM."""
        self.task.cancel()
        await asyncio.gather(self.task, return_exceptions=True)

    async def die(self) -> None:
        """As at SIGKILL: says nothing more to anybody."""
        self.line.cut = True
        await self.end()
