"""A proxy in front of an API server, real or fake, that does harm exactly where it is told to.

    rules = [proxy.Rule("PATCH .*/status", kth=2, fault=proxy.Refuse(409, "Conflict"))]
    async with proxy.Proxy(who, rules) as between:      # who: the credentials of the server behind it
        line = wire.Wire(between.who, may_write)        # or a process with between.kubeconfig(file)
        between.log                                     # every call, in order, and what was done to it

The same rules and the same calls do the same harm. It speaks plain HTTP to whoever asks, and lends its own credentials.
"""

import asyncio
import dataclasses
import json
import pathlib
import re
from collections.abc import Iterable
from types import TracebackType
from typing import Any, Self

import aiohttp
from aiohttp import web

from sluice.transport import credentials

_PASSED_ON = ("Accept", "Content-Type")
_PASSED_BACK = ("Content-Type", "Retry-After")


@dataclasses.dataclass(frozen=True)
class Refuse:
    """The API server never hears of it; the asker is told no."""

    status: int
    reason: str = "InternalError"
    retry_after_s: int | None = None


@dataclasses.dataclass(frozen=True)
class Lose:
    """The connection breaks: before the API server hears of it, or (`done`) after it did it."""

    done: bool


@dataclasses.dataclass(frozen=True)
class Hang:
    """No answer comes for a while, then the connection breaks: before the API server hears of it, or after (`done`)."""

    for_s: float
    done: bool = False


@dataclasses.dataclass(frozen=True)
class Stale:
    """A read is answered as the first of its kind was; a watch that follows it catches up, as with an old cache."""


@dataclasses.dataclass(frozen=True)
class CutWatch:
    """A watch breaks in the middle of the line that comes after so many."""

    after_lines: int = 0


@dataclasses.dataclass(frozen=True)
class ForgetWatch:
    """A watch is told that its version is too old: it must list anew."""


Fault = Refuse | Lose | Hang | Stale | CutWatch | ForgetWatch
CONFLICT = Refuse(409, "Conflict")
FAULTS: dict[str, Fault] = {
    "409": CONFLICT,
    "429": Refuse(429, "TooManyRequests", retry_after_s=1),
    "500": Refuse(500),
    "lost": Lose(done=False),
    "lost but done": Lose(done=True),
    "hung": Hang(60.0),
    "hung but done": Hang(60.0, done=True),
    "stale": Stale(),
    "a cut watch": CutWatch(),
    "a forgotten watch": ForgetWatch(),
}


@dataclasses.dataclass(frozen=True)
class Rule:
    """Which calls a fault befalls: those whose `METHOD path?query` it finds, all of them or only the k-th."""

    found_by: str
    fault: Fault
    kth: int | None = None  # from 1


@dataclasses.dataclass(frozen=True)
class Entry:
    """One call, and what was done to it."""

    words: str
    fault: Fault | None


class Proxy:
    """Stands between. Use it as a context; it listens on a free port of this machine."""

    def __init__(self, behind: credentials.Credentials, rules: Iterable[Rule] = ()) -> None:
        self.rules = list(rules)
        self.log: list[Entry] = []
        self.url = ""
        self._behind = behind
        self._met: dict[Rule, int] = {}
        self._first: dict[str, tuple[int, bytes, dict[str, str]]] = {}  # answers to reads, by words

    async def __aenter__(self) -> Self:
        connector = aiohttp.TCPConnector(ssl=self._behind.trust or True, limit=0)
        self._session = aiohttp.ClientSession(connector=connector, auto_decompress=False)
        app = web.Application(client_max_size=1 << 24)
        app.router.add_route("*", "/{path:.*}", self._answer)
        self._runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1, handler_cancellation=True)
        await self._runner.setup()
        await web.TCPSite(self._runner, "127.0.0.1", 0).start()
        self.url = f"http://127.0.0.1:{self._runner.addresses[0][1]}"
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, why: BaseException | None, where: TracebackType | None
    ) -> None:
        await self._session.close()
        await self._runner.cleanup()

    @property
    def who(self) -> credentials.Credentials:
        """How to reach it from this process."""
        return credentials.at(self.url)

    def kubeconfig(self, file: pathlib.Path) -> pathlib.Path:
        """How to reach it from another; JSON is YAML, too."""
        named = {"name": "proxy"}
        context = {**named, "context": {"cluster": "proxy", "user": "proxy"}}
        clusters, users = [{**named, "cluster": {"server": self.url}}], [{**named, "user": {}}]
        whole = {"apiVersion": "v1", "kind": "Config", "current-context": "proxy", "contexts": [context]}
        file.write_text(json.dumps({**whole, "clusters": clusters, "users": users}))
        return file

    async def _answer(self, asked: web.Request) -> web.StreamResponse:
        words = f"{asked.method} {asked.path_qs}"
        fault = self._fault(words)
        self.log.append(Entry(words, fault))
        if isinstance(fault, Refuse):
            return _refusal(fault)
        if isinstance(fault, Lose | Hang) and not fault.done:
            return await self._lose(asked, fault)
        if asked.query.get("watch"):
            return await self._watch(asked, fault)
        answer = await self._ask(asked, words, stale=isinstance(fault, Stale))
        return await self._lose(asked, fault) if isinstance(fault, Lose | Hang) else answer

    def _fault(self, words: str) -> Fault | None:
        """The first rule that applies; each counts every call that it finds."""
        chosen: Fault | None = None
        for rule in self.rules:
            if re.search(rule.found_by, words):
                self._met[rule] = self._met.get(rule, 0) + 1
                if chosen is None and rule.kth in (None, self._met[rule]):
                    chosen = rule.fault
        return chosen

    async def _lose(self, asked: web.Request, fault: Lose | Hang) -> web.Response:
        if isinstance(fault, Hang):
            await asyncio.sleep(fault.for_s)
        if asked.transport is not None:
            asked.transport.abort()
        return web.Response()

    def _request(self, asked: web.Request, body: bytes | None) -> Any:
        passed_on = _PASSED_ON if body else ("Accept",)  # a type of nothing is refused
        headers = {name: asked.headers[name] for name in passed_on if name in asked.headers}
        headers |= {"Accept-Encoding": "identity", **self._behind.headers()}
        url = self._behind.server + asked.path_qs
        patience = aiohttp.ClientTimeout(total=None if body is None else 60)
        return self._session.request(asked.method, url, data=body or None, headers=headers, timeout=patience)

    async def _ask(self, asked: web.Request, words: str, *, stale: bool) -> web.Response:
        if stale and words in self._first:
            status, body, headers = self._first[words]
        else:
            async with self._request(asked, await asked.read()) as got:
                status, body = got.status, await got.read()
                headers = {name: got.headers[name] for name in _PASSED_BACK if name in got.headers}
            if asked.method == "GET":
                self._first.setdefault(words, (status, body, headers))
        return web.Response(status=status, body=body, headers=headers)

    async def _watch(self, asked: web.Request, fault: Fault | None) -> web.StreamResponse:
        answer = web.StreamResponse(headers={"Content-Type": "application/json"})
        if isinstance(fault, ForgetWatch):
            await answer.prepare(asked)
            await answer.write(_TOO_OLD)
            return answer
        async with self._request(asked, None) as got:
            answer.set_status(got.status)
            await answer.prepare(asked)
            lines = 0
            async for piece in got.content.iter_any():
                for part in piece.splitlines(keepends=True):
                    if isinstance(fault, CutWatch) and lines >= fault.after_lines:
                        await answer.write(part[: len(part) // 2])
                        return await self._lose(asked, Lose(done=True))
                    await answer.write(part)
                    lines += part.endswith(b"\n")
        return answer


_TOO_OLD = (
    json.dumps({"type": "ERROR", "object": {"kind": "Status", "code": 410, "message": "too old resource version"}})
    + "\n"
).encode()


def _refusal(fault: Refuse) -> web.Response:
    body = {
        "kind": "Status",
        "status": "Failure",
        "code": fault.status,
        "reason": fault.reason,
        "message": f"{fault.reason}, says the proxy",
    }
    headers = {} if fault.retry_after_s is None else {"Retry-After": str(fault.retry_after_s)}
    return web.json_response(body, status=fault.status, headers=headers)
