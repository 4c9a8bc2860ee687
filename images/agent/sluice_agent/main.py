"""The agent's loops, each a thread of its own: gates, orders, Lease; and the servers, for plugin and Prometheus.

Told to end, it ends at once, whatever it waits for. Falls one, all fall: the kubelet starts us anew, and we take over
from what the plugin says next and what stands in the Lease.
"""

import asyncio
import contextlib
import logging
import os
import signal
import sys
import threading
import time
from collections.abc import Callable
from types import FrameType
from typing import NoReturn

from sluice_agent import (
    balance,
    board,
    client,
    documents,
    folder,
    gates,
    heard,
    lease,
    listen,
    metrics,
    report,
    settings,
    talk,
    tally,
    watch,
)

_LOG = logging.getLogger(__name__)
_FIRST_PAUSE_S, _LONGEST_PAUSE_S = 0.5, 8.0


def run(told: settings.Settings, connect: Callable[[], client.Client]) -> None:
    """Until SIGTERM."""
    signal.signal(signal.SIGTERM, _end)
    api = connect()
    if told.driver is None:
        _again(lambda: gates.look(api, told))
    threading.excepthook = _fall
    _beside(lambda: gates.look(api, told), "gates")
    asyncio.run(_serve(told.driver, connect))


async def _serve(told: settings.Driver, connect: Callable[[], client.Client]) -> None:
    """Both servers, and beside them the threads that need what they hear."""
    states, sums, token = heard.Heard(time.monotonic), tally.Tally(time.monotonic), folder.new_token()
    orders = board.Board(states.ring)
    shared = folder.Folder(told.folder)
    shared.seed_template(told.template)
    balancer = balance.Balancer(orders)
    plugin = await listen.serve(talk.Talk(token, orders, states, sums, balancer).service, "127.0.0.1", 0)
    shared.introduce(plugin.sockets[0].getsockname()[1], token)
    job = {"streamjob_namespace": told.namespace, "streamjob": told.job}
    shown = metrics.Metrics(job, sums, states, orders)
    # Last: who finds it answering, finds the folder filled.
    scraped = await listen.serve(shown.service, told.address, metrics.PORT)
    _beside(watch.Watch(connect, told, orders, states).look, "orders")
    _beside(
        _Telling(lease.Lease(connect(), told, time.monotonic), report.Known(states, orders, sums, balancer)).step,
        "lease",
    )
    await asyncio.gather(plugin.serve_forever(), scraped.serve_forever())


class _Telling:
    """The Lease's loop: sleeps until something is due or new."""

    def __init__(self, held: lease.Lease, known: report.Known) -> None:
        self._lease, self._known, self._states = held, known, known.states
        self._seen, self._observed, self._recalled = 0, 0, False

    def step(self) -> float:
        """Waits, or writes."""
        told = report.make(self._known, self._observed)
        self._observed = told.words["order"]
        due_s = self._lease.due_s(told)
        if due_s > 0:
            self._seen = self._states.wait(self._seen, due_s)
        elif self._recalled:
            self._lease.write(told)
        else:
            self._recall()
        return 0.0

    def _recall(self) -> None:
        """Before our first word: we may have been started anew, and plain Spark says only once what it is."""
        said = self._lease.before()
        self._recalled = True
        with contextlib.suppress(documents.Wrong):  # somebody edited it
            self._observed = documents.whole({"order": 0, **said}, "order")
            if documents.sentence(said, "phase") == "Unmanaged" and self._states.state is None:
                self._states.take_unmanaged(documents.sentence(said, "problem"))


def _beside(step: Callable[[], float], name: str) -> None:
    threading.Thread(target=_again, args=(step,), name=name, daemon=True).start()


def _again(step: Callable[[], float]) -> NoReturn:
    """Steps and waits, for ever. Trouble is said once, and is no reason to end: the driver runs without us as well."""
    pause_s, said = _FIRST_PAUSE_S, ""
    while True:
        try:
            wait_s, trouble = step(), ""
        except (client.Unavailable, gates.Refused, lease.Refused) as why:
            wait_s, trouble = pause_s, str(why)
        pause_s = min(2 * pause_s, _LONGEST_PAUSE_S) if trouble else _FIRST_PAUSE_S
        if trouble != said:
            _LOG.warning("%s", trouble or "the API server answers again")
        said = trouble
        time.sleep(wait_s)


def _fall(why: threading.ExceptHookArgs) -> None:
    _LOG.critical("the thread %s fell", why.thread.name if why.thread else "", exc_info=why.exc_value)
    os._exit(1)


def _end(_signal: int, _frame: FrameType | None) -> None:
    # Raised in the midst of whatever blocks: a wait for the API server must not use up the pod's grace.
    sys.exit(0)
