"""A loop with real sockets and a clock of its own: when nothing is on its way, it is later at once.

Time stands still while anything is done, so that a slow machine times nothing out; an hour passes as fast as a second.
"""

import asyncio
import functools
import selectors
from collections.abc import Callable, Coroutine
from typing import Any

_EPOCH_S = 1_800_000_000.0
_GRACE_S = 0.001  # what was sent over the loopback may take a moment to be there


class Loop(asyncio.SelectorEventLoop):
    """Its clock goes when nobody has anything to do."""

    def __init__(self) -> None:
        self.passed_s = 0.0
        super().__init__(_Selector(self))

    def time(self) -> float:
        """Seconds."""
        return self.passed_s


class _Selector(selectors.DefaultSelector):
    def __init__(self, loop: Loop) -> None:
        super().__init__()
        self._loop = loop

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        """What is ready; if nothing is, the next timer."""
        if timeout is None:
            return super().select(None)
        if found := super().select(0) or (super().select(_GRACE_S) if timeout > 0 else []):
            return found
        self._loop.passed_s += max(0.0, timeout)
        return []


def now_s() -> float:
    """Seconds since 1970 by the loop's clock."""
    return _EPOCH_S + asyncio.get_running_loop().time()


def play(scene: Coroutine[Any, Any, Any]) -> Any:
    """Runs a scene in a loop of its own."""
    with asyncio.Runner(loop_factory=Loop) as runner:
        return runner.run(scene)


def by_the_clock(test: Callable[..., Coroutine[Any, Any, None]]) -> Callable[..., None]:
    """Runs the test in such a loop; fixtures and tables work as ever."""

    @functools.wraps(test)
    def run(*given: Any, **named: Any) -> None:
        play(test(*given, **named))

    return run
