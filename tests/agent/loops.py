"""An event loop in a thread of its own, as the agent's servers have it, for tests that stand outside."""

import asyncio
import threading
from collections.abc import Coroutine
from typing import Any, Self

from sluice_agent import listen


class Loop:
    """Turns as long as the context is open."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever)
        self._servers: list[asyncio.Server] = []

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.run(self._close())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def run(self, work: Coroutine[Any, Any, Any]) -> Any:
        """What comes of it."""
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(10)

    def serve(self, service: listen.Service) -> int:
        """The port."""
        server = self.run(listen.serve(service, "127.0.0.1", 0))
        self._servers.append(server)
        return int(server.sockets[0].getsockname()[1])

    async def _close(self) -> None:
        for server in self._servers:
            server.close()
        others = asyncio.all_tasks() - {asyncio.current_task()}
        for task in others:
            task.cancel()
        await asyncio.gather(*others, return_exceptions=True)
