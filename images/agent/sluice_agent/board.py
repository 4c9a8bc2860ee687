"""Orders in force, where the plugin's long poll waits for others.

Put there by :mod:`sluice_agent.watch`, from its own thread; read by :mod:`sluice_agent.talk` in the server's loop.
"""

import asyncio
import contextlib
from collections.abc import Callable

from sluice_agent import orders


class Board:
    """One set of orders at a time; the last good ones stay."""

    def __init__(self, ring: Callable[[], None]) -> None:
        self.orders: orders.Orders | None = None
        self.refused = ""  # why the operator's newest are not in force
        self._news = asyncio.Event()
        self._loop = asyncio.get_running_loop()
        self._ring = ring  # for who tells the operator

    def put(self, found: orders.Orders) -> None:
        """From any thread."""
        self.orders, self.refused = found, ""
        self._loop.call_soon_threadsafe(self._wake)
        self._ring()

    def refuse(self, why: str) -> None:
        """From any thread: the newest are not taken."""
        if why != self.refused:
            self.refused = why
            self._ring()

    async def other_than(self, seen: int, wait_s: float) -> orders.Orders | None:
        """Orders as soon as their serial differs from the one seen, else those in force after a while."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(wait_s):
                while self.orders is None or self.orders.serial == seen:
                    await self._news.wait()
        return self.orders

    def _wake(self) -> None:
        news, self._news = self._news, asyncio.Event()
        news.set()
