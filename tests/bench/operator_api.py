"""The API server as the load tools of ``make bench NAME=operator`` use it: calls side by side, and watches with times.

Not the operator's own wire: what measures must not share the faults of what it measures.
"""

import asyncio
import contextlib
import pathlib
import ssl
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping
from typing import Any, TypeVar

import aiohttp
import orjson
from kubernetes import client, config

from house import trouble

Body = dict[str, Any]
T = TypeVar("T")
See = Callable[[str, Body, float], None]  # ADDED, MODIFIED, DELETED; the object; when, by the monotonic clock
MERGE = "application/merge-patch+json"
_JSON = "application/json"
_CONNECTIONS = 48
_CALL_S = 65.0  # the API server's own limit is 60
_TRIES = 5


class Api:
    """One session; made by :func:`connect`."""

    def __init__(self, session: aiohttp.ClientSession, server: str) -> None:
        self._session, self._server = session, server

    async def call(self, method: str, path: str, body: Body | None = None, kind: str = _JSON) -> tuple[int, Body]:
        """Status and answer; what is refused for a moment is asked again."""
        data = None if body is None else orjson.dumps(body)
        for number in range(_TRIES):
            async with self._session.request(
                method, self._server + path, data=data, headers={"Content-Type": kind, "Accept": _JSON}
            ) as answer:
                said = await answer.read()
                if answer.status not in (429, 500, 503) or number == _TRIES - 1:
                    break
                await asyncio.sleep(float(answer.headers.get("Retry-After", 1)))
        return answer.status, orjson.loads(said)

    async def must(self, method: str, path: str, body: Body | None = None, kind: str = _JSON) -> Body:
        """The answer; Trouble for a refusal."""
        status, said = await self.call(method, path, body, kind)
        if status >= 300:
            raise trouble.Trouble(f"{method} {path}: {status} {said.get('message', '')}")
        return said

    async def gone(self, path: str) -> None:
        """Deletes an object; one that is gone already is fine."""
        status, said = await self.call("DELETE", path)
        if status >= 300 and status != 404:
            raise trouble.Trouble(f"DELETE {path}: {status} {said.get('message', '')}")

    async def follow(self, path: str, see: See, query: Mapping[str, str] | None = None) -> None:
        """Shows everything that is there, as ADDED, and then everything that happens; never ends by itself."""
        version = await self._show(path, see, query or {})
        while True:
            version = await self._watch(path, see, {**(query or {}), "resourceVersion": version})

    async def _show(self, path: str, see: See, query: Mapping[str, str]) -> str:
        words = "&".join(f"{key}={value}" for key, value in query.items())
        listed = await self.must("GET", f"{path}?{words}")
        for body in listed["items"] or ():
            see("ADDED", body, time.monotonic())
        return str(listed["metadata"]["resourceVersion"])

    async def _watch(self, path: str, see: See, query: Mapping[str, str]) -> str:
        """One watch to its end (the API server ends each after a while); the version to go on from."""
        version = query["resourceVersion"]
        words = {**query, "watch": "1", "allowWatchBookmarks": "true"}
        endless = aiohttp.ClientTimeout(total=None)
        async with self._session.get(self._server + path, params=words, timeout=endless) as answer:
            if answer.status != 200:
                raise trouble.Trouble(f"watch {path}: {answer.status} {(await answer.text())[:300]}")
            async for line in _lines(answer.content):
                event = orjson.loads(line)
                if event["type"] == "ERROR":
                    raise trouble.Trouble(f"watch {path}: {event['object'].get('message', event)}")
                version = event["object"]["metadata"]["resourceVersion"]
                if event["type"] != "BOOKMARK":
                    see(event["type"], event["object"], time.monotonic())
        return version


async def _lines(content: aiohttp.StreamReader) -> AsyncIterator[bytes]:
    rest = b""
    async for piece in content.iter_any():
        *whole, rest = (rest + piece).split(b"\n")
        for line in whole:
            yield line


@contextlib.asynccontextmanager
async def connect(kubeconfig: pathlib.Path) -> AsyncIterator[Api]:
    """A session by the rights of a kubeconfig."""
    server, trust = credentials(kubeconfig)
    connector = aiohttp.TCPConnector(ssl=trust, limit=_CONNECTIONS)
    async with aiohttp.ClientSession(
        connector=connector,
        headers={"Accept-Encoding": "identity", "User-Agent": "sluice-bench"},
        timeout=aiohttp.ClientTimeout(total=_CALL_S),
        read_bufsize=1 << 20,
    ) as session:
        yield Api(session, server)


def credentials(kubeconfig: pathlib.Path) -> tuple[str, ssl.SSLContext]:
    """Where the API server is, and how it knows us."""
    found = client.Configuration()
    config.load_kube_config(str(kubeconfig), client_configuration=found)
    trust = ssl.create_default_context(cafile=found.ssl_ca_cert)
    if found.cert_file:
        trust.load_cert_chain(found.cert_file, found.key_file)
    return found.host, trust


async def side_by_side(work: Callable[[T], Awaitable[object]], items: Iterable[T], ways: int) -> None:
    """Works all items off, so many at a time."""
    left = iter(items)

    async def worker() -> None:
        for item in left:
            await work(item)

    async with asyncio.TaskGroup() as tasks:
        for _ in range(ways):
            tasks.create_task(worker())


async def until(what: str, holds: Callable[[], bool], deadline_s: float) -> None:
    """Waits until it holds; Trouble when the deadline passes."""
    if not await within(holds, deadline_s):
        raise trouble.Trouble(f"not within {deadline_s:.0f} s: {what}")


async def within(holds: Callable[[], bool], deadline_s: float) -> bool:
    """Whether it holds before the deadline passes."""
    end_s = time.monotonic() + deadline_s
    while not holds():
        if time.monotonic() > end_s:
            return False
        await asyncio.sleep(0.05)
    return True
