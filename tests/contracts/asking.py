"""What a contract's test asks of an API server, whichever it is."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

from act import manifests
from sluice import act
from sluice.transport import paths, wire
from sluice.values import names, outcomes, steps

Body = dict[str, Any]


def gated(namespace: str, **spec: Any) -> Body:
    """A pod that nobody schedules, and no operator that may run here takes for its own."""
    pod = manifests.pod("waiting", namespace, schedulingGates=[{"name": names.GATE}], **spec)
    return {**pod, "metadata": {"name": "waiting", "namespace": namespace}}


async def make(line: wire.Wire, body: Body) -> Body:
    """As it is made."""
    path = paths.collection(body["kind"], body["metadata"]["namespace"])
    found = await line.call("POST", path, body, query={"fieldManager": "sluice"})
    assert found.ok, found.sentence
    return dict(found.body)


async def get(line: wire.Wire, body: Body) -> wire.Answer:
    """The object of this kind and name."""
    meta = body["metadata"]
    return await line.call("GET", paths.item(body["kind"], meta["namespace"], meta["name"]))


async def patch(
    line: wire.Wire, body: Body, change: Body, content_type: str = wire.MERGE, query: dict[str, str] | None = None
) -> wire.Answer:
    """Changes the object of this kind and name."""
    path = paths.item(body["kind"], body["metadata"]["namespace"], body["metadata"]["name"])
    return await line.call("PATCH", path, change, content_type, query)


async def wait_for(ask: Callable[[], Awaitable[Any]], holds: Callable[[Any], object]) -> Any:
    """The answer as soon as it is as it should be: controllers take their time."""
    async with asyncio.timeout(30):
        while not holds(answer := await ask()):  # noqa: ASYNC110  # nobody tells us
            await asyncio.sleep(0.1)
    return answer


async def do(line: wire.Wire, step: steps.Step) -> outcomes.Outcome:
    """One step by itself."""
    return await act.carry_out(steps.Steps(((step,),)), line)


def kinds(outcome: outcomes.Outcome) -> list[str]:
    """Of its failures."""
    return [failure.kind for failure in outcome.failures]
