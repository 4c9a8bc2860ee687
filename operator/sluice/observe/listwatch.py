"""Keeps a memory of one kind true: lists it once, follows its changes, and lists again only when it must."""

import asyncio
import contextlib
import dataclasses
import logging
from collections.abc import Callable, Mapping

from sluice.transport import failures, wire
from sluice.values.streamjob import Body

_CHUNK = 500
_FIRST_S, _LONGEST_S = 0.5, 30.0
_WATCH_S, _SPREAD_S = 300, 60
_CENSUS_S = 300.0
_SHORT_S = 1.0  # a watch that ends sooner has failed, whatever it says
_SHUT = (403, 404)  # a namespace that is no more, or whose rights are
_LOG = logging.getLogger(__name__)


@dataclasses.dataclass(frozen=True)
class Memory:
    """Who is told."""

    see: Callable[[str | None, Body], None]  # ADDED, MODIFIED, DELETED, or None from a list
    keep: Callable[[Mapping[str, str], int], None]  # name by uid of all there are, as of a version


class ListWatch:
    """One kind, in one namespace or everywhere. Runs until it is cancelled; nothing else ends it."""

    def __init__(
        self,
        line: wire.Wire,
        path: str,
        memory: Memory,
        query: Mapping[str, str] | None = None,
        namespace: str = "",
    ) -> None:
        self.namespace = namespace
        self.answered = asyncio.Event()  # the first list is in memory, or this one namespace is not to be read
        self.synced = asyncio.Event()  # the first list is in memory
        self.lists = 0
        self._line, self._path, self._memory, self._query = line, path, memory, query or {}
        self._version: str | None = None  # what has been seen; None: nothing that can be followed

    def pause_s(self, failed: int) -> float:
        """How long to wait after so many failures in a row."""
        return min(_LONGEST_S, _FIRST_S * 2.0**failed) * self._line.dice() if failed else 0.0

    async def run(self) -> None:
        """Lists and follows, with growing pauses while that fails."""
        failed = 0
        while True:
            began_s = asyncio.get_running_loop().time()
            try:
                if self._version is None:
                    await self._list()
                await self._follow()
            except failures.Unavailable as why:
                _LOG.warning("%s: %s", self._path, why)
                if why.status == 410:
                    self._version = None
                if self.namespace and why.status in _SHUT:
                    self.answered.set()
            lived_s = asyncio.get_running_loop().time() - began_s
            failed = 0 if lived_s > _SHORT_S else failed + 1
            await asyncio.sleep(self.pause_s(failed))

    async def _list(self) -> None:
        """From the leader of etcd, not from a cache: an old list could hide a driver that runs."""
        found: dict[str, str] = {}
        query = {**self._query, "limit": str(_CHUNK)}
        while True:
            answer = await self._line.call("GET", self._path, query=query)
            if not answer.ok:
                raise failures.Unavailable(f"list {self._path}: {answer.sentence}", answer.status)
            page = answer.body
            for body in page["items"] or ():
                found[body["metadata"]["uid"]] = body["metadata"]["name"]
                self._hand(None, body)
            meta = page["metadata"]
            if not meta.get("continue"):
                break
            query = {**query, "continue": meta["continue"]}
        self._version = str(meta["resourceVersion"])
        self._memory.keep(found, int(self._version))
        self.lists += 1
        self.synced.set()
        self.answered.set()

    async def _follow(self) -> None:
        query = {
            **self._query,
            "watch": "true",
            "allowWatchBookmarks": "true",
            "resourceVersion": str(self._version),
            "timeoutSeconds": str(int(_WATCH_S + _SPREAD_S * self._line.dice())),
        }
        async with contextlib.aclosing(self._line.stream(self._path, query)) as lines:
            async for line in lines:
                body = line["object"]
                if line["type"] == "ERROR":
                    self._version = None
                    raise failures.Unavailable(f"{body.get('message')}", body.get("code", 0))
                self._version = body["metadata"]["resourceVersion"]
                if line["type"] != "BOOKMARK":
                    self._hand(line["type"], body)

    def _hand(self, kind: str | None, body: Body) -> None:
        """One object that cannot be read must not hide all the others."""
        try:
            self._memory.see(kind, body)
        except (KeyError, TypeError, ValueError, AttributeError):
            meta = body.get("metadata", {})
            _LOG.exception("%s: cannot read %s/%s", self._path, meta.get("namespace"), meta.get("name"))


class Census(ListWatch):
    """Only lists, again and again: for a kind whose changes somebody else tells of, but not every end."""

    async def _follow(self) -> None:
        await asyncio.sleep(_CENSUS_S)
        self._version = None
