"""Who is to be looked at: a queue of keys, each at most once in it and never by two workers at a time.

Watches wake a key, the cycle looks at it and says when to look again. What fails is looked at again, ever more slowly.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Hashable
from typing import Generic, TypeVar

K = TypeVar("K", bound=Hashable)
_FIRST_RETRY_S, _LONGEST_RETRY_S = 1.0, 60.0
_LOG = logging.getLogger(__name__)


class Wakes(Generic[K]):
    """The queue. `settle_s` gathers what wakes one key in quick succession into one look."""

    def __init__(self, settle_s: float = 0.0) -> None:
        self._settle_s = settle_s
        self._ready: asyncio.Queue[K] = asyncio.Queue()
        self._since_s: dict[K, float] = {}  # queued, since when
        self._busy: set[K] = set()
        self._again: set[K] = set()
        self._timers: dict[K, asyncio.TimerHandle] = {}
        self._failures: dict[K, int] = {}
        self._moved_s = 0.0  # when a look last ended, or the queue was empty

    def wake(self, key: K) -> None:
        """Look at it as soon as somebody is free."""
        if not self._busy and not self._since_s:
            self._moved_s = self._now_s()
        if key in self._busy:
            self._again.add(key)
        elif key not in self._since_s:
            self._since_s[key] = self._now_s()
            if self._settle_s:
                asyncio.get_running_loop().call_later(self._settle_s, self._ready.put_nowait, key)
            else:
                self._ready.put_nowait(key)

    def depth(self) -> int:
        """How many wait."""
        return len(self._since_s)

    def oldest_s(self) -> float:
        """How long the first of them has waited."""
        return self._now_s() - min(self._since_s.values()) if self._since_s else 0.0

    def stalled_s(self) -> float:
        """Since a look last ended, while somebody waits for one or is looked at; an idle queue does not stall."""
        if not self._since_s and not self._busy:
            return 0.0
        return self._now_s() - self._moved_s

    async def work(self, look: Callable[[K, float], Awaitable[float | None]], ends: type[Exception]) -> None:
        """One worker: looks at one key after another, and is told when to look again. Only `ends` ends it."""
        while True:
            key = await self._ready.get()
            waited_s = self._now_s() - self._since_s.pop(key)
            self._busy.add(key)
            self._stop_timer(key)
            try:
                again_s = await look(key, waited_s)
                self._failures.pop(key, None)
            except ends:
                raise
            except Exception:  # noqa: BLE001  # one job that cannot be looked at must not stop the others
                again_s = self._retry_s(key)
                _LOG.exception("%s: looked in vain, again in %.0f s", key, again_s)
            self._finish(key, again_s)

    def _finish(self, key: K, again_s: float | None) -> None:
        self._moved_s = self._now_s()
        self._busy.discard(key)
        if key in self._again:
            self._again.discard(key)
            self.wake(key)
        if again_s is not None and key not in self._since_s:
            self._timers[key] = asyncio.get_running_loop().call_later(again_s, self.wake, key)

    def _retry_s(self, key: K) -> float:
        self._failures[key] = self._failures.get(key, 0) + 1
        return min(_LONGEST_RETRY_S, _FIRST_RETRY_S * 2.0 ** (self._failures[key] - 1))

    def _stop_timer(self, key: K) -> None:
        if timer := self._timers.pop(key, None):
            timer.cancel()

    @staticmethod
    def _now_s() -> float:
        return asyncio.get_running_loop().time()
