"""Jobs whose drivers say how they stand and obey: for the tests of handovers, drains and rollbacks."""

import contextlib
from typing import Any

from cycle import play
from sluice.values import names


def begin() -> contextlib.AbstractAsyncContextManager[play.Play]:
    """A cluster, and an operator that has the plugin."""
    return play.begin(around=play.PLUGGED, talking=True)


async def started(at: play.Play, **job: Any) -> str:
    """A job that has committed its first batch; its driver."""
    at.apply(play.job(count=2, **job))
    await at.until(at.ready)
    await at.until(lambda: [query.get("batch") for query in at.status().get("queries", ())] == [0])
    return at.drivers()[0]


def readiness(at: play.Play) -> list[str]:
    """The status of Ready at each write from now on."""
    seen: list[str] = []
    at.kube.store.told.append(lambda _: seen.append(at.condition()[0]))
    return seen


def phase(at: play.Play) -> str:
    """Of the handover."""
    return str(at.status().get("handoff", {}).get("phase", ""))


def image(at: play.Play, driver: str) -> str:
    """Of its Spark."""
    return str(at.kube.get("Pod", play.TEAM, driver)["spec"]["containers"][0]["image"])


def node_of(at: play.Play, driver: str) -> str:
    """Where it runs."""
    return str(at.kube.get("Pod", play.TEAM, driver)["spec"]["nodeName"])


def is_kept(at: play.Play, driver: str) -> bool:
    """Whether it bears the label that a drain waits for."""
    return names.LEAVES_BY in at.kube.get("Pod", play.TEAM, driver)["metadata"]["labels"]
