"""HTTP as small as it can be: one request after another, everything bounded, in size, time and number.

Under :mod:`sluice_agent.talk` on loopback and :mod:`sluice_agent.metrics` on the pod's address. Whoever knocks may be
hostile: the head is judged before the body is read, and a slow peer holds nothing for longer than a silent one.
"""

import asyncio
import contextlib
import dataclasses
import json
import logging
from collections.abc import Awaitable, Callable, Mapping

_LOG = logging.getLogger(__name__)
_LONGEST_HEAD = 8 << 10
_MOST_HEADERS = 64
_READ_S, _WRITE_S, _LINGER_S = 5.0, 5.0, 0.5
_REASONS = {
    200: "OK", 400: "Bad Request", 401: "Unauthorized", 404: "Not Found", 405: "Method Not Allowed",
    408: "Request Timeout", 411: "Length Required", 413: "Content Too Large", 431: "Request Header Fields Too Large",
    503: "Service Unavailable",
}  # fmt: skip


@dataclasses.dataclass(frozen=True)
class Head:
    """What comes before the body. Names of headers are in lower case."""

    method: str
    path: str
    headers: Mapping[str, str]
    keeps_line: bool  # as HTTP/1.1 does where nothing else is said


@dataclasses.dataclass(frozen=True)
class Reply:
    """What goes back."""

    status: int
    body: bytes
    content_type: str = "application/json"


class Refused(Exception):  # it is what it says
    """Not answered as asked; the status and the sentence are the answer."""

    def __init__(self, status: int, sentence: str) -> None:
        super().__init__(sentence)
        self.status = status


@dataclasses.dataclass(frozen=True)
class Service:
    """What is served: who may send a body at all, and what they get."""

    admit: Callable[[Head], None]  # raises Refused
    answer: Callable[[Head, bytes], Awaitable[Reply]]  # may raise Refused
    most_body: int
    most_connections: int


async def serve(service: Service, host: str, port: int) -> asyncio.Server:
    """Listens; port 0 is any that is free."""
    open_now: set[asyncio.StreamWriter] = set()

    async def meet(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if len(open_now) >= service.most_connections:
            writer.transport.abort()
            return
        open_now.add(writer)
        try:
            await _converse(service, reader, writer)
        except (OSError, EOFError, TimeoutError) as why:
            _LOG.debug("a peer left in the middle: %s", why or type(why).__name__)
        finally:
            open_now.discard(writer)
            writer.transport.abort()

    return await asyncio.start_server(meet, host, port, limit=_LONGEST_HEAD)


def said(status: int, words: object) -> Reply:
    """JSON."""
    return Reply(status, json.dumps(words).encode())


async def _converse(service: Service, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    kept = await _exchange(service, reader, writer, kept=False)
    while kept:
        kept = await _exchange(service, reader, writer, kept)
    writer.write_eof()
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(_LINGER_S):
            # Closed with bytes unread, the kernel would take the answer back.
            while await reader.read(1 << 16):
                pass


async def _exchange(service: Service, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, kept: bool) -> bool:
    """One request and its answer; whether the next may follow."""
    goes_on = False
    try:
        async with asyncio.timeout(_READ_S):
            head = await _head(reader)
            service.admit(head)
            body = await reader.readexactly(_length(head, service.most_body))
        reply = await service.answer(head, body)
        goes_on = head.keeps_line and reply.status == 200
    except Refused as why:
        reply = said(why.status, {"version": 1, "problem": str(why)})
    except TimeoutError:
        if kept:  # the next request on this line would take a late word for its answer
            raise
        reply = said(408, {"version": 1, "problem": f"the request did not come within {_READ_S:g} s"})
    async with asyncio.timeout(_WRITE_S):
        await _write(reply, writer, goes_on)
    return goes_on


async def _head(reader: asyncio.StreamReader) -> Head:
    try:
        text = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
    except asyncio.LimitOverrunError as why:
        raise Refused(431, f"the head has more than {_LONGEST_HEAD} bytes") from why
    first, *lines = text[:-4].split("\r\n")
    words = first.split(" ")
    if len(words) != 3 or words[2] not in ("HTTP/1.0", "HTTP/1.1") or not words[1].startswith("/"):
        raise Refused(400, "this is no HTTP/1.1 request")
    if len(lines) > _MOST_HEADERS:
        raise Refused(431, f"the head has more than {_MOST_HEADERS} headers")
    pairs = [line.partition(":") for line in lines]
    if not all(colon and name and name.strip() == name for name, colon, _ in pairs):
        raise Refused(400, "a header is no name and value")
    headers = {name.lower(): value.strip() for name, _, value in pairs}
    keeps_line = words[2] == "HTTP/1.1" and headers.get("connection", "").lower() != "close"
    return Head(words[0], words[1].partition("?")[0], headers, keeps_line)


def _length(head: Head, most: int) -> int:
    if "transfer-encoding" in head.headers:
        raise Refused(411, "Transfer-Encoding is not spoken here: a Content-Length is needed")
    text = head.headers.get("content-length", "0")
    if not (text.isascii() and text.isdigit() and len(text) < 10):
        raise Refused(400, "Content-Length is no number of bytes")
    if int(text) > most:
        raise Refused(413, f"the body has {text} bytes: allowed are {most}")
    return int(text)


async def _write(reply: Reply, writer: asyncio.StreamWriter, goes_on: bool) -> None:
    head = (
        f"HTTP/1.1 {reply.status} {_REASONS[reply.status]}\r\nContent-Type: {reply.content_type}\r\n"
        f"Content-Length: {len(reply.body)}\r\nConnection: {'keep-alive' if goes_on else 'close'}\r\n\r\n"
    )
    writer.write(head.encode() + reply.body)
    await writer.drain()
