"""Follows the job's `status.orders`: good ones go to :mod:`sluice_agent.board`, others are refused with a sentence.

A watch without a version begins with the StreamJob as it is, so there is no list to make first and none to fall behind.
"""

import contextlib
import logging
import urllib.parse
from collections.abc import Callable, Mapping
from typing import Any

from sluice_agent import board, client, documents, folder, heard, orders, settings

_LOG = logging.getLogger(__name__)
_MOST_LINE = 4 << 20  # more than any object the API server keeps
_WINDOW_S = 120
_JUDGE_AGAIN_S = 15  # an executor nobody knows may be about to come
_SLACK_S = 5
_PAUSE_S = 1.0


class Watch:
    """For one driver."""

    def __init__(
        self, connect: Callable[[], client.Client], told: settings.Driver, on: board.Board, states: heard.Heard
    ) -> None:
        self._follows, self._asks = connect(), connect()  # a watch keeps its connection busy
        self._told, self._board, self._states = told, on, states
        self._folder = folder.Folder(told.folder)

    def look(self) -> float:
        """One window of the watch; how long to wait for the next."""
        window_s, line = _JUDGE_AGAIN_S if self._board.refused else _WINDOW_S, b""
        lines = self._follows.follow(self._path(window_s), window_s + _SLACK_S, _MOST_LINE)
        with contextlib.closing(lines):
            for line in lines:
                try:
                    self._take(line)
                except documents.Wrong as why:
                    self._refuse(str(why))
                if self._board.refused and window_s == _WINDOW_S:
                    break
        return _PAUSE_S if line.endswith(b"\n") else _JUDGE_AGAIN_S

    def _take(self, line: bytes) -> None:
        if not line.endswith(b"\n"):
            raise documents.Wrong(f"the StreamJob has more than {_MOST_LINE} bytes: its orders are not read")
        event = documents.within({"event": documents.parse(line, "the StreamJob")}, "event")
        kind, job = documents.sentence(event, "type"), documents.within(event, "object")
        if kind == "ERROR":
            raise client.Unavailable(documents.sentence(job, "message") or "the watch ended with an error")
        if kind in ("ADDED", "MODIFIED"):
            self._obey(orders.read(documents.within(job, "status").get("orders"), self._told.pod))

    def _obey(self, found: orders.Orders | None) -> None:
        before = self._board.orders
        if found is None or (found == before and not self._board.refused):
            return
        state = self._states.state
        # What the plugin has carried out already, names executors that may be gone by now.
        if state is None or state.serial != found.serial:
            self._refuse_strangers(found, before)
        try:
            self._folder.put_template(found.template)
        except OSError as why:
            raise documents.Wrong(f"orders {found.order}: the executor template cannot be written: {why}") from why
        self._board.put(found)
        _LOG.info("orders %d are in force", found.order)

    def _refuse_strangers(self, found: orders.Orders, before: orders.Orders | None) -> None:
        for executor in found.decommission:
            if before and executor in before.decommission:
                continue
            path = f"/api/v1/namespaces/{self._told.namespace}/pods/{self._told.pod}-exec-{executor}"
            if self._asks.call("GET", path).status == 404:
                sentence = f"executors.decommission is '{executor}': allowed are executors of this driver"
                raise documents.Wrong(f"orders {found.order}: {sentence}")

    def _refuse(self, why: str) -> None:
        if why != self._board.refused:
            _LOG.warning("%s; %s", why, "the last good ones stay" if self._board.orders else "there are none before")
        self._board.refuse(why)

    def _path(self, window_s: int) -> str:
        query: Mapping[str, Any] = {
            "watch": "1",
            "fieldSelector": f"metadata.name={self._told.job}",
            "timeoutSeconds": window_s,
        }
        return f"/apis/sluice.dev/v1alpha1/namespaces/{self._told.namespace}/streamjobs?{urllib.parse.urlencode(query)}"
