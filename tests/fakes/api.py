"""A fake API server: real HTTP in the test's own loop, with the rules that Sluice leans on and hooks at every write.

async with api.FakeApi() as kube, kube.wire() as line:
kube.put(body)                    # as kubectl, the scheduler or a kubelet would
kube.before_write = refuse        # may raise calls.Refuse: the write is not done, and answered so
kube.after_write = kill           # may raise calls.Cut: the write is done, and nobody hears of it
kube.calls                        # all that were made, in order
"""

import copy
import time
from collections.abc import Callable
from types import TracebackType
from typing import Any, Self

from aiohttp import web

from fakes import calls, patching, routes, store
from sluice.transport import credentials, paths, wire

Body = dict[str, Any]
_KEEP_S = 86_400.0  # a test's clock may jump, and no connection is to break for that
Hook = Callable[[calls.Call], object]  # an awaitable it returns is waited for


class FakeApi:
    """An API server for one test. Kinds are those Sluice knows the paths of."""

    def __init__(self, now_s: Callable[[], float] = time.time) -> None:
        self.store = store.Store(now_s)
        self.calls: list[calls.Call] = []
        self.before_write: Hook = lambda _: None
        self.after_write: Hook = lambda _: None
        self.before_read: Hook = lambda _: None
        self.url = ""

    async def __aenter__(self) -> Self:
        app = web.Application(client_max_size=1 << 24)
        app.router.add_route("*", "/{path:.*}", routes.Routes(self).answer)
        self._runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1, keepalive_timeout=_KEEP_S)
        await self._runner.setup()
        site = web.TCPSite(self._runner, "127.0.0.1", 0)
        await site.start()
        self.url = f"http://127.0.0.1:{self._runner.addresses[0][1]}"
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, why: BaseException | None, where: TracebackType | None
    ) -> None:
        self.store.cut()
        await self._runner.cleanup()

    @property
    def who(self) -> credentials.Credentials:
        """How to reach it."""
        return credentials.at(self.url)

    def wire(self, may_write: Callable[[], bool] = lambda: True, dice: float = 0.01) -> wire.Wire:
        """A wire to it that does not dawdle between tries."""
        return wire.Wire(self.who, may_write, lambda: dice)

    def put(self, body: Body) -> Body:
        """Makes or replaces an object, whatever it was; keeps uid and age of the one that is there."""
        at = where(body)
        there = self.store.objects.get(at)
        kept = {k: v for k, v in there["metadata"].items() if k in ("uid", "creationTimestamp")} if there else {}
        return copy.deepcopy(self.store.put(at, {**body, "metadata": {**kept, **body["metadata"]}}))

    def change(self, kind: str, namespace: str, name: str, **fields: Any) -> Body:
        """Merges fields into an object, as in `change("Pod", "a", "p", status={"phase": "Running"})`."""
        there = self.get(kind, namespace, name)
        return self.put(patching.merged(there, fields))

    def remove(self, kind: str, namespace: str, name: str) -> None:
        """Takes an object away for good, as the last of its kubelet or finalizer."""
        self.store.remove((_plural(kind), namespace, name))

    def get(self, kind: str, namespace: str, name: str) -> Body:
        """One object."""
        return copy.deepcopy(self.store.objects[_plural(kind), namespace, name])

    def objects(self, kind: str, namespace: str = "") -> list[Body]:
        """All of a kind, by namespace and name."""
        found = sorted(at for at in self.store.objects if at[0] == _plural(kind) and namespace in ("", at[1]))
        return [copy.deepcopy(self.store.objects[at]) for at in found]

    def collect_garbage(self) -> None:
        """What has a controller that is no more goes, until nothing does: the garbage collector's work."""
        while True:
            alive = {body["metadata"]["uid"] for body in self.store.objects.values()}
            lost = [at for at, body in self.store.objects.items() if not _owners(body) <= alive]
            for at in lost:
                self.store.remove(at)
            if not lost:
                return

    def writes(self) -> list[str]:
        """The calls that were meant to change something, in few words."""
        return [call.words for call in self.calls if call.method != "GET"]


def where(body: Body) -> store.At:
    """Under what an object is kept."""
    return _plural(body["kind"]), body["metadata"].get("namespace", ""), body["metadata"]["name"]


def _plural(kind: str) -> str:
    return paths.plural(paths.collection(kind))


def _owners(body: Body) -> set[str]:
    return {owner["uid"] for owner in body["metadata"].get("ownerReferences", ()) if owner.get("controller")}
