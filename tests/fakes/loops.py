"""Async tests without a plug-in: one loop for each."""

import asyncio
import functools
from collections.abc import Callable, Coroutine
from typing import Any


def in_a_loop(test: Callable[..., Coroutine[Any, Any, None]]) -> Callable[..., None]:
    """Runs the test in a loop of its own; fixtures and tables work as ever."""

    @functools.wraps(test)
    def run(*given: Any, **named: Any) -> None:
        asyncio.run(test(*given, **named))

    return run


async def until(holds: Callable[[], bool], within_s: float = 1.5) -> None:
    """Lets the loop go on until something holds; TimeoutError if it never does."""
    async with asyncio.timeout(within_s):
        while not holds():  # noqa: ASYNC110  # what is waited for is anything a test can say
            await asyncio.sleep(0.001)
