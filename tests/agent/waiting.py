"""Waits for what other threads and processes do."""

import threading
import time
from collections.abc import Callable

_LOOK_S, _PATIENCE_S = 0.02, 15.0


def until(found: Callable[[], object]) -> object:
    """What it comes to, once that is something."""
    deadline_s = time.monotonic() + _PATIENCE_S
    while not (value := found()):
        if time.monotonic() > deadline_s:
            raise TimeoutError(f"not within {_PATIENCE_S:g} s")
        threading.Event().wait(_LOOK_S)
    return value
