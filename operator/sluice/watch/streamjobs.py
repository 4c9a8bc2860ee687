"""kopf's part: it follows the StreamJobs and hands each on. No logic by the kind of event; called by main."""

from collections.abc import Callable
from typing import Any

import kopf

from sluice.values import names
from sluice.values.streamjob import Body


def register(registry: kopf.OperatorRegistry, see: Callable[[str | None, Body], None]) -> None:
    """Whatever happens to a StreamJob is seen, and seeing it wakes its cycle."""

    @kopf.on.event(names.GROUP, names.VERSION, names.PLURAL, registry=registry)
    async def streamjob(event: Any, **_: Any) -> None:
        see(event["type"], event["object"])

    @kopf.on.startup(registry=registry)
    async def configure(settings: kopf.OperatorSettings, **_: Any) -> None:
        settings.posting.enabled = False  # events are act's
        settings.scanning.disabled = True  # the one resource is there, or the chart is not
        settings.peering.standalone = True  # the Lease has decided who works
        settings.queueing.idle_timeout = 1.0  # a worker per job costs memory, and there are thousands
        settings.networking.request_timeout = 30.0  # a list that hangs leaves a leader blind; kopf would wait 300 s

    @kopf.on.login(registry=registry)
    async def login(logger: Any, settings: kopf.OperatorSettings, **_: Any) -> kopf.ConnectionInfo | None:
        inside = kopf.login_with_service_account(logger=logger, settings=settings)
        return inside or kopf.login_with_kubeconfig(logger=logger, settings=settings)
