"""The agents' `GET /v1/traffic`: real HTTP in the test's own loop, one answer for each address that is asked.

async with agents.Agents() as agents:
agents.said["127.0.0.2"] = agents.traffic(pairs={"1": {"2": 100}})
"""

import datetime
import json
from collections.abc import Callable
from types import TracebackType
from typing import Any, Self

from aiohttp import web

Body = dict[str, Any]
_KEEP_S = 86_400.0  # a test's clock may jump


class Agents:
    """All of them at one port; who is asked is told by the address that was dialled."""

    def __init__(self) -> None:
        self.said: dict[str, Body | bytes] = {}  # by address; nothing: what `tells` has, or 404
        self.tells: Callable[[str], Body | None] = lambda _: None  # by address
        self.asked: list[str] = []  # addresses
        self.port = 0

    async def __aenter__(self) -> Self:
        app = web.Application()
        app.router.add_get("/v1/traffic", self._answer)
        self._runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1, keepalive_timeout=_KEEP_S)
        await self._runner.setup()
        await web.TCPSite(self._runner, "0.0.0.0", 0).start()  # each fake pod has a loopback address
        self.port = self._runner.addresses[0][1]
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, why: BaseException | None, where: TracebackType | None
    ) -> None:
        await self._runner.cleanup()

    async def _answer(self, request: web.Request) -> web.Response:
        assert request.transport is not None
        address = request.transport.get_extra_info("sockname")[0]
        self.asked.append(address)
        found = self.said.get(address) or self.tells(address)
        if found is None:
            return web.Response(status=404)
        if isinstance(found, bytes) and found.startswith(b"http"):
            return web.Response(status=302, headers={"Location": found.decode()})
        return web.Response(body=found if isinstance(found, bytes) else json.dumps(found))


def traffic(at_s: float, query: str = "clicks", **told: Any) -> Body:
    """An answer of one query; `told` replaces its fields."""
    usual = {
        "batches": 100, "seconds": 300.0, "batchMs": [800.0, 1200.0],
        "executors": {"1": {"runMs": 60_000, "rows": 30_000}, "2": {"runMs": 60_000, "rows": 30_000}},
        "pairs": {"1": {"2": 1_000_000}, "2": {"1": 1_000_000}},
    }  # fmt: skip
    at = datetime.datetime.fromtimestamp(at_s, datetime.UTC).isoformat()
    return {"version": 1, "at": at, "queries": {query: usual | told}}
