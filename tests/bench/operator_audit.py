"""A server before the API server that passes everything on and keeps a list of what exactly one process asked for.

The API server itself cannot tell two operators of one account apart.
"""

import contextlib
import dataclasses
import pathlib
import ssl
import time
from collections.abc import AsyncIterator

import aiohttp
import yarl
from aiohttp import web

from bench import operator_api

_READS = ("GET", "HEAD", "OPTIONS")
_OWN_HEADERS = ("host", "content-length", "transfer-encoding", "connection", "content-encoding", "accept-encoding")


@dataclasses.dataclass(frozen=True)
class Call:
    """One request that changes something."""

    at_s: float  # when all of it had arrived, by the monotonic clock
    method: str
    path: str
    status: int


class Audit:
    """The writes that went through so far, in the order of their answers."""

    def __init__(self, server: str, trust: ssl.SSLContext) -> None:
        self.server = ""  # where it listens; known once it does
        self.writes: list[Call] = []
        self._onward, self._trust = server, trust

    @contextlib.asynccontextmanager
    async def listening(self) -> AsyncIterator["Audit"]:
        """Passes on while the block runs."""
        app = web.Application(client_max_size=1 << 24)
        app.router.add_route("*", "/{tail:.*}", self._pass_on)
        runner = web.AppRunner(app, access_log=None, shutdown_timeout=1.0, handler_cancellation=True)
        endless = aiohttp.ClientTimeout(total=None)
        connector = aiohttp.TCPConnector(ssl=self._trust, limit=0)
        async with aiohttp.ClientSession(connector=connector, timeout=endless, auto_decompress=False) as session:
            self._session = session
            await runner.setup()
            try:
                site = web.TCPSite(runner, "127.0.0.1", 0)
                await site.start()
                self.server = f"http://127.0.0.1:{runner.addresses[0][1]}"
                yield self
            finally:
                await runner.cleanup()

    def since(self, at_s: float) -> list[Call]:
        """The writes that arrived after that."""
        return [call for call in self.writes if call.at_s >= at_s]

    async def _pass_on(self, request: web.Request) -> web.StreamResponse:
        body = await request.read()
        at_s = time.monotonic()
        headers = {k: v for k, v in request.headers.items() if k.lower() not in _OWN_HEADERS}
        url = yarl.URL(self._onward + request.path_qs, encoded=True)
        headers["Accept-Encoding"] = "identity"
        async with self._session.request(request.method, url, data=body or None, headers=headers) as answer:
            if request.method not in _READS:
                self.writes.append(Call(at_s, request.method, request.path, answer.status))
            passed = {k: v for k, v in answer.headers.items() if k.lower() not in _OWN_HEADERS}
            response = web.StreamResponse(status=answer.status, headers=passed)
            await response.prepare(request)
            with contextlib.suppress(ConnectionResetError):  # who asked may go before a watch ends
                async for piece in answer.content.iter_any():
                    await response.write(piece)
                await response.write_eof()
        return response


@contextlib.asynccontextmanager
async def before(kubeconfig: pathlib.Path) -> AsyncIterator[Audit]:
    """One before the API server of a kubeconfig, with its rights."""
    async with Audit(*operator_api.credentials(kubeconfig)).listening() as audit:
        yield audit
