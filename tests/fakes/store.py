"""What a fake API server keeps: objects with versions, and the story of their changes for watches."""

import asyncio
import copy
import dataclasses
import datetime
import time
import uuid
from collections.abc import Callable
from typing import Any

Body = dict[str, Any]
At = tuple[str, str, str]  # plural, namespace, name


@dataclasses.dataclass(frozen=True)
class Change:
    """One line of a watch."""

    version: int
    plural: str
    kind: str
    body: Body


class Store:
    """Versions are shared by all kinds, as in etcd."""

    def __init__(self, now_s: Callable[[], float] = time.time) -> None:
        self._now_s = now_s
        self.told: list[Callable[[Change], None]] = []  # these at once, before anybody can ask
        self.version = 1000
        self.objects: dict[At, Body] = {}
        self.oldest = 0  # changes up to here are compacted away
        self._story: list[Change] = []
        self._heard: dict[asyncio.Queue[Change | None], Callable[[Change], bool]] = {}

    def put(self, at: At, body: Body) -> Body:
        """Stores a new version, or nothing if nothing differs. Fills in what the API server fills in."""
        old = self.objects.get(at)
        if old is not None and _same(old, body):
            return old
        new = copy.deepcopy(body)
        meta = new["metadata"]
        meta.setdefault("uid", str(uuid.uuid4()))
        meta.setdefault("creationTimestamp", self.stamp())
        meta["resourceVersion"] = self._next()
        if old is None or old.get("spec") != new.get("spec"):
            meta["generation"] = (old or {}).get("metadata", {}).get("generation", 0) + 1
        self.objects[at] = new
        self._tell("MODIFIED" if old is not None else "ADDED", at, new)
        return new

    def remove(self, at: At) -> Body:
        """Takes an object away for good."""
        old = self.objects.pop(at)
        gone = {**old, "metadata": {**old["metadata"], "resourceVersion": self._next()}}
        self._tell("DELETED", at, gone)
        return gone

    def follow(self, since: int, wanted: Callable[[Change], bool]) -> asyncio.Queue[Change | None]:
        """Changes since a version, those to come included; None ends it."""
        heard: asyncio.Queue[Change | None] = asyncio.Queue()
        for change in self._story:
            if change.version > since and wanted(change):
                heard.put_nowait(change)
        self._heard[heard] = wanted
        return heard

    def leave(self, heard: asyncio.Queue[Change | None]) -> None:
        """Nobody listens any more."""
        self._heard.pop(heard, None)

    def watches(self) -> int:
        """How many listen."""
        return len(self._heard)

    def bookmark(self) -> None:
        """Tells every watch the present version."""
        for heard in self._heard:
            body = {"metadata": {"resourceVersion": str(self.version)}}
            heard.put_nowait(Change(self.version, "", "BOOKMARK", body))

    def cut(self) -> None:
        """Ends every watch."""
        for heard in self._heard:
            heard.put_nowait(None)

    def compact(self) -> None:
        """Forgets how it came to be: who asks for older changes must list again."""
        self.oldest = self.version
        self._story.clear()

    def stamp(self, after_s: float = 0.0) -> str:
        """So long after now, as the API server writes it."""
        return datetime.datetime.fromtimestamp(self._now_s() + after_s, datetime.UTC).strftime("%Y-%m-%dT%H:%M:%SZ")

    def _next(self) -> str:
        self.version += 1
        return str(self.version)

    def _tell(self, kind: str, at: At, body: Body) -> None:
        change = Change(self.version, at[0], kind, body)
        self._story.append(change)
        for tell in self.told:
            tell(change)
        for heard, wanted in self._heard.items():
            if wanted(change):
                heard.put_nowait(change)


def _same(one: Body, other: Body) -> bool:
    fields = {"resourceVersion": None}
    return {**one, "metadata": one["metadata"] | fields} == {**other, "metadata": other["metadata"] | fields}
