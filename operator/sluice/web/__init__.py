"""What the operator says of itself over HTTP: `/healthz`, `/readyz`, `/metrics`. Reads values it is handed, no more."""

import contextlib
import dataclasses
from collections.abc import AsyncIterator, Callable
from typing import Literal

import prometheus_client as prometheus
from aiohttp import web

from sluice import metrics

OLDEST_SIGN_S = 60.0


@dataclasses.dataclass(frozen=True)
class Signs:
    """Of life. A leader's last sign is its last finished cycle, a waiting one's the last answer about the Lease."""

    age_s: Callable[[], float]
    role: Callable[[], Literal["starts", "waits", "leads"]]


def app(signs: Signs) -> web.Application:
    """The three pages."""

    async def healthz(_: web.Request) -> web.Response:
        age_s = signs.age_s()
        said = f"the last sign of life is {age_s:.1f} s old, allowed are {OLDEST_SIGN_S:.0f} s\n"
        return web.Response(text=said, status=200 if age_s <= OLDEST_SIGN_S else 503)

    async def readyz(_: web.Request) -> web.Response:
        role = signs.role()
        return web.Response(text=f"this operator {role}\n", status=503 if role == "starts" else 200)

    async def show(_: web.Request) -> web.Response:
        shown = prometheus.generate_latest(metrics.REGISTRY)
        return web.Response(body=shown, headers={"Content-Type": prometheus.CONTENT_TYPE_LATEST})

    made = web.Application()
    made.add_routes([web.get("/healthz", healthz), web.get("/readyz", readyz), web.get("/metrics", show)])
    return made


@contextlib.asynccontextmanager
async def serve(signs: Signs, port: int) -> AsyncIterator[None]:
    """Answers on every address of the pod while the block runs."""
    runner = web.AppRunner(app(signs), access_log=None, shutdown_timeout=1.0)
    await runner.setup()
    try:
        await web.TCPSite(runner, port=port).start()
        yield
    finally:
        await runner.cleanup()
