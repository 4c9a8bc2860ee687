"""Who of several operators works: won on a Lease before kopf starts, and no longer believed in than can be proved.

The official client's `leaderelection` is not used: it measures by the wall clock, lets a request hang for longer than
the lease lasts, ends at the first broken connection, never releases, and cannot be asked whether it still leads.

The rules. Others may take the Lease `lease_s` after they *saw* it renewed, by their own clock; no clocks are compared.
The leader stops writing `lead_s` (less) after it *sent* its last renewal that was answered. So a leader that was frozen
and continues finds that its time is over before it does anything else. Between the question and a write lies what a
request takes: those last moments are covered by `lease_s - lead_s`, and by the uid and the version each write carries.
"""

import asyncio
import contextlib
import dataclasses
import datetime
import logging
import math
import random
import time
from collections.abc import AsyncIterator, Callable
from typing import Protocol

log = logging.getLogger(__name__)


class Lost(Exception):
    """The lead is gone; nothing more must be written."""


class Unreachable(Exception):
    """The Lease could not be read or written; nobody knows whether it was."""


@dataclasses.dataclass(frozen=True)
class Timing:
    """A leader that is killed is followed within `lease_s` and two looks."""

    lease_s: float = 12.0
    lead_s: float = 9.0
    renew_s: float = 2.0
    look_s: float = 1.0
    answer_s: float = 4.0  # the longest that one request may take
    release_s: float = 2.0  # the longest that a good-bye may take


@dataclasses.dataclass(frozen=True)
class Claim:
    """What stands in the Lease."""

    holder: str  # nobody: free
    lease_s: float
    acquired: str = ""  # times for people to read; others only ask whether they change
    renewed: str = ""
    transitions: int = 0
    version: str = ""  # nothing: the Lease is not there yet


class Lock(Protocol):
    """Where the claim is kept; Unreachable when there is no answer in time."""

    async def look(self, timeout_s: float) -> Claim | None:
        """The claim that stands; None where there is no Lease."""

    async def put(self, claim: Claim, timeout_s: float) -> Claim | None:
        """The claim as it now stands, put in the place of exactly its version; None if another was faster."""


def boot_s() -> float:
    """Seconds since this machine started. Unlike `time.monotonic` it goes on while a machine sleeps."""
    return time.clock_gettime(time.CLOCK_BOOTTIME)


class Election:
    """One process's part in it."""

    def __init__(self, lock: Lock, identity: str, timing: Timing = Timing(), now_s: Callable[[], float] = boot_s):
        self._lock = lock
        self._identity = identity
        self._timing = timing
        self._now_s = now_s
        self._leads_until_s = -math.inf
        self.looked_s = now_s()  # when the Lease last answered: the sign of life of one that waits

    def still_leads(self) -> bool:
        """Whether a write is allowed now. To be asked before each one."""
        return self._now_s() < self._leads_until_s

    @contextlib.asynccontextmanager
    async def lead(self) -> AsyncIterator[None]:
        """Waits until it leads, then lets the block run; cancels it with Lost when the Lease is lost; says good-bye."""
        claim = await self._win()
        body = asyncio.current_task()
        assert body is not None
        renewing = asyncio.ensure_future(self._renew(claim))
        renewing.add_done_callback(lambda done: None if done.cancelled() else body.cancel())
        try:
            yield
        except asyncio.CancelledError:
            if not renewing.done():
                raise  # somebody else's wish, such as SIGTERM's
            body.uncancel()
        finally:
            self._leads_until_s = -math.inf
            renewing.cancel()
            lost = (await asyncio.gather(renewing, return_exceptions=True))[0]
            await self._release()
        if isinstance(lost, Exception):
            raise lost

    async def _win(self) -> Claim:
        seen: tuple[str, str] | None = None
        changed_s = self._now_s()
        while True:
            pause_s = self._jittered_s(self._timing.look_s)
            try:
                found = await self._look()
                if found and (found.holder, found.renewed) != seen:
                    if seen is None or found.holder != seen[0]:
                        log.info("%s leads; this one waits", found.holder or "nobody")
                    seen, changed_s = (found.holder, found.renewed), self._now_s()
                free_in_s = self._free_in_s(found, changed_s)
                if free_in_s <= 0 and (won := await self._put(self._mine(found))):
                    log.info("this one leads: %s", self._identity)
                    return won
                pause_s = min(pause_s, max(free_in_s, 0.05))
            except Unreachable as why:
                log.warning("waiting to lead: %s", why)
            await asyncio.sleep(pause_s)

    def _free_in_s(self, found: Claim | None, changed_s: float) -> float:
        if found is None or found.holder in ("", self._identity):
            return 0.0
        return changed_s + found.lease_s - self._now_s()

    async def _renew(self, claim: Claim) -> None:
        while True:
            await asyncio.sleep(self._jittered_s(self._timing.renew_s))
            claim = await self._renewed(claim)

    async def _renewed(self, claim: Claim) -> Claim:
        while self.still_leads():
            try:
                if done := await self._put(self._mine(claim)):
                    return done
                found = await self._look()
                if found and found.holder != self._identity:
                    raise Lost(f"{found.holder or 'nobody'} leads now, and not {self._identity}")
                claim = found or dataclasses.replace(claim, version="")
            except Unreachable as why:
                log.warning("renewing the lead: %s", why)
                await asyncio.sleep(self._jittered_s(self._timing.look_s))
        raise Lost(f"{self._identity} could not renew its lead for {self._timing.lead_s:.0f} s, or stood still")

    async def _put(self, claim: Claim) -> Claim | None:
        sent_s = self._now_s()
        done = await self._lock.put(claim, self._patience_s())
        if done:
            self._leads_until_s = sent_s + self._timing.lead_s
            self.looked_s = self._now_s()
        return done

    async def _look(self) -> Claim | None:
        found = await self._lock.look(self._patience_s())
        self.looked_s = self._now_s()
        return found

    def _patience_s(self) -> float:
        """A leader waits for no answer that would come after its time."""
        left_s = self._leads_until_s - self._now_s()
        return min(self._timing.answer_s, left_s) if left_s > 0 else self._timing.answer_s

    async def _release(self) -> None:
        """So that the next need not wait. Looks first: the last renewal may have been cut off before its answer."""
        try:
            found = await self._lock.look(self._timing.release_s)
            if found and found.holder == self._identity:
                free = dataclasses.replace(found, holder="", lease_s=1.0, renewed=_now())
                await self._lock.put(free, self._timing.release_s)
        except Unreachable as why:
            log.warning("the lead could not be released; the next waits %.0f s: %s", self._timing.lease_s, why)

    def _mine(self, found: Claim | None) -> Claim:
        now = _now()
        if found and found.holder == self._identity:
            return dataclasses.replace(found, renewed=now, lease_s=self._timing.lease_s)
        transitions, version = (found.transitions + 1, found.version) if found else (0, "")
        return Claim(self._identity, self._timing.lease_s, now, now, transitions, version)

    @staticmethod
    def _jittered_s(pause_s: float) -> float:
        return pause_s * random.uniform(1.0, 1.2)


def stamp(when: datetime.datetime) -> str:
    """As the API server wants it: always six digits behind the second."""
    return when.astimezone(datetime.UTC).isoformat(timespec="microseconds").removesuffix("+00:00") + "Z"


def _now() -> str:
    return stamp(datetime.datetime.now(datetime.UTC))
