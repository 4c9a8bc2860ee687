"""One session to the API server: bounded calls and watches, counted, and no write unless we lead.

Made by main, used by observe for reads and by act for writes.
"""

import asyncio
import collections
import dataclasses
import functools
import random
import socket
import types
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping
from types import TracebackType
from typing import Self

import aiohttp
import orjson

from sluice.transport import credentials, failures, paths, retries
from sluice.values.streamjob import Body

JSON = "application/json"
MERGE = "application/merge-patch+json"
APPLY = "application/apply-patch+yaml"
_LEAN = f"{JSON};as=PartialObjectMetadata;g=meta.k8s.io;v=v1,{JSON}"
_READS = ("GET",)
_READ_S, _WRITE_S, _CONNECT_S = 30.0, 10.0, 5.0
_SILENT_WATCH_S = 150.0  # a bookmark comes about each minute
_CALLS_AT_ONCE = 32
_KEEP_S = 60.0


@dataclasses.dataclass(frozen=True)
class Answer:
    """What the API server said; parsed when asked for."""

    status: int
    raw: bytes = b""
    retry_after_s: float | None = None

    @functools.cached_property
    def body(self) -> Body:
        """The object, or the Status that says why not."""
        try:
            found = orjson.loads(self.raw)
        except orjson.JSONDecodeError:
            return {"message": self.raw[:500].decode(errors="replace")}
        return found if isinstance(found, dict) else {}

    @property
    def ok(self) -> bool:
        """Whether it was done."""
        return 200 <= self.status < 300

    @property
    def sentence(self) -> str:
        """Why not, in the API server's words."""
        return str(self.body.get("message") or f"the API server answers {self.status}")


@dataclasses.dataclass(frozen=True)
class Call:
    """One request, as often as it takes."""

    method: str
    path: str
    payload: bytes | None
    headers: Mapping[str, str]
    query: Mapping[str, str]

    @property
    def writes(self) -> bool:
        """Whether it changes anything."""
        return self.method not in _READS

    @property
    def patience_s(self) -> float:
        """How long one attempt may take."""
        return _WRITE_S if self.writes else _READ_S


class Wire:
    """Calls and watches. Use it as a context: the session is made in the running loop and closed with it."""

    def __init__(
        self, who: credentials.Credentials, may_write: Callable[[], bool], dice: Callable[[], float] = random.random
    ) -> None:
        self.counts: collections.Counter[tuple[str, str, int]] = collections.Counter()  # method, plural, status
        self.dice = dice  # the one source of chance, in [0, 1)
        self._who, self._may_write = who, may_write
        self._slots = asyncio.Semaphore(_CALLS_AT_ONCE)

    async def __aenter__(self) -> Self:
        # Watches live long and take no call's place: hence slots of our own instead of the connector's limit.
        connector = aiohttp.TCPConnector(
            ssl=self._who.trust or True, limit=0, keepalive_timeout=_KEEP_S, socket_factory=_socket
        )
        self._session = aiohttp.ClientSession(
            connector=connector,
            auto_decompress=False,
            headers={"Accept-Encoding": "identity", "User-Agent": "sluice"},
            trace_configs=[_fence(self._may_write)],
        )
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, why: BaseException | None, where: TracebackType | None
    ) -> None:
        await self._session.close()

    async def call(  # what a request consists of
        self,
        method: str,
        path: str,
        body: Body | None = None,
        content_type: str = JSON,
        query: Mapping[str, str] | None = None,
        *,
        lean: bool = False,
    ) -> Answer:
        """The answer, a refusal included; Unavailable after a bounded number of tries. Lean: its metadata is enough."""
        headers = {"Accept": _LEAN if lean else JSON}
        payload = None if body is None else orjson.dumps(body, default=dict)
        if payload is not None:
            headers["Content-Type"] = content_type
        wanted = Call(method, path, payload, headers, query or {})
        for number in range(1, retries.MOST_TRIES + 1):
            answer = await self._try(wanted)
            pause_s = retries.pause_s(retries.Try(number, answer.status, answer.retry_after_s), self.dice())
            if pause_s is None:
                break
            await asyncio.sleep(pause_s)
        if retries.is_worth_repeating(answer.status):
            raise failures.Unavailable(f"{method} {path}: {answer.sentence}", answer.status)
        return answer

    async def stream(self, path: str, query: Mapping[str, str]) -> AsyncGenerator[Body, None]:
        """The lines of a watch until the API server ends it; Unavailable if there is none, or it breaks."""
        patience = aiohttp.ClientTimeout(total=None, sock_connect=_CONNECT_S, sock_read=_SILENT_WATCH_S)
        headers = {"Accept": JSON, **self._who.headers()}
        try:
            async with self._session.get(
                self._who.server + path, params=query, headers=headers, timeout=patience
            ) as answer:
                self.counts["WATCH", paths.plural(path), answer.status] += 1
                if answer.status != 200:
                    raise failures.Unavailable(f"watch {path}: {(await answer.text())[:500]}", answer.status)
                async for line in _lines(answer.content):
                    yield orjson.loads(line)
        except (aiohttp.ClientError, TimeoutError, OSError, orjson.JSONDecodeError) as why:
            raise failures.Unavailable(f"watch {path}: {why!r}") from why

    async def _try(self, wanted: Call) -> Answer:
        async with self._slots:
            answer = await self._send(wanted)
        self.counts[wanted.method, paths.plural(wanted.path), answer.status] += 1
        return answer

    async def _send(self, wanted: Call) -> Answer:
        query = {**wanted.query, "timeout": f"{wanted.patience_s:.0f}s"}
        patience = aiohttp.ClientTimeout(total=wanted.patience_s + 1, sock_connect=_CONNECT_S)
        try:
            async with self._session.request(
                wanted.method,
                self._who.server + wanted.path,
                params=query,
                data=wanted.payload,
                headers={**wanted.headers, **self._who.headers()},
                timeout=patience,
                trace_request_ctx=wanted,
            ) as got:
                return Answer(got.status, await got.read(), _seconds(got.headers.get("Retry-After")))
        except (aiohttp.ClientError, TimeoutError, OSError) as why:
            if isinstance(why.__cause__, failures.LostLeadership):
                raise why.__cause__ from None
            return Answer(0, orjson.dumps({"message": f"no answer: {why!r}"}))


async def _lines(content: aiohttp.StreamReader) -> AsyncIterator[bytes]:
    """Whole lines of any length; the reader's own readline has a limit, and a pod may be longer."""
    begun = bytearray()
    async for piece in content.iter_any():
        begun += piece
        if b"\n" in piece:
            *whole, rest = bytes(begun).split(b"\n")
            begun = bytearray(rest)
            for line in whole:
                if line:
                    yield line


def _fence(may_write: Callable[[], bool]) -> aiohttp.TraceConfig:
    """Asks whether we lead at every attempt, as the last thing before its bytes go to the socket.

    Whoever was frozen over a retry, ours or aiohttp's own, wakes up here. A head waits for its body, which is written
    by a task of its own: other work may come in between, so the body is the moment that counts.
    """

    def ask(sent: types.SimpleNamespace, *, with_body: bool) -> None:
        wanted = sent.trace_request_ctx
        if isinstance(wanted, Call) and wanted.writes and with_body == (wanted.payload is not None) and not may_write():
            raise failures.LostLeadership(f"{wanted.method} {wanted.path}")

    async def at_head(_: aiohttp.ClientSession, sent: types.SimpleNamespace, __: object) -> None:
        ask(sent, with_body=False)

    async def at_body(_: aiohttp.ClientSession, sent: types.SimpleNamespace, __: object) -> None:
        ask(sent, with_body=True)

    fence = aiohttp.TraceConfig()
    fence.on_request_headers_sent.append(at_head)
    fence.on_request_chunk_sent.append(at_body)
    return fence


def _seconds(header: str | None) -> float | None:
    return float(header) if header and header.isdecimal() else None


def _socket(address: aiohttp.AddrInfoType) -> socket.socket:
    """A socket that notices within half a minute that nobody is there any more, which a silent watch would not."""
    family, kind, protocol, _, _ = address
    made = socket.socket(family=family, type=kind, proto=protocol)
    made.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    for name, value in (("TCP_KEEPIDLE", 15), ("TCP_KEEPINTVL", 5), ("TCP_KEEPCNT", 3), ("TCP_USER_TIMEOUT", 30_000)):
        if hasattr(socket, name):  # Linux has them all, a developer's machine not always
            made.setsockopt(socket.IPPROTO_TCP, getattr(socket, name), value)
    return made
