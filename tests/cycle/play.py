"""A cluster with an operator at work in it, and what a test does there and sees of it.

async with play.begin() as at:
at.apply(play.job(count=2))
await at.until(at.ready)
"""

import asyncio
import contextlib
import dataclasses
import datetime
import json
from collections.abc import AsyncIterator, Callable, Iterable
from typing import Any

from fakes import agents, api, clock, inside, running, store, tasktimes, world
from faults import proxy
from sluice import build
from sluice.transport import credentials
from sluice.values import names

Body = dict[str, Any]
TEAM = "team"
PLAIN = build.Surroundings()
PLUGGED = build.Surroundings(agent_image="agent:1", plugin_image="plugin:1")


def job(name: str = "clicks", count: int = 1, **spec: Any) -> Body:
    """A StreamJob of the team; `count` executors."""
    wanted = {
        "image": "clicks:1",
        "application": {"file": "local:///a.py"},
        "checkpoint": {"location": f"s3a://state/{name}"},
        "executors": {"count": count},
    }
    return {"kind": names.KIND, "metadata": {"name": name, "namespace": TEAM}, "spec": {**wanted, **spec}}


@dataclasses.dataclass
class Play:
    """What is there."""

    kube: api.FakeApi
    world: world.World
    who: credentials.Credentials
    operator: running.Operator
    between: proxy.Proxy  # the operator and the API server
    agents: agents.Agents  # who is asked what was measured
    around: build.Surroundings = PLAIN  # as the operator is set
    times: tasktimes.TaskTimes = dataclasses.field(default_factory=tasktimes.TaskTimes)  # what tasks take
    story: list[tuple[str, str, str]] = dataclasses.field(default_factory=list)  # job, phase, reason: what came to be

    def __post_init__(self) -> None:
        self.kube.store.told.append(self._write_down)

    def apply(self, wanted: Body) -> Body:
        """As `kubectl apply` does: spec and annotations are the user's, the status is not."""
        there = self.kube.store.objects.get(api.where(wanted))
        return self.kube.put({**wanted, **({"status": there["status"]} if there and "status" in there else {})})

    def delete(self, name: str = "clicks") -> None:
        """As `kubectl delete` does."""
        self.kube.remove(names.KIND, TEAM, name)

    def status(self, name: str = "clicks") -> Body:
        """What the StreamJob says of itself; nothing if it is not there."""
        found = self.kube.store.objects.get((names.PLURAL, TEAM, name), {})
        said: Body = found.get("status", {})
        return said

    def condition(self, kind: str = "Ready", name: str = "clicks") -> tuple[str, str]:
        """Status and reason."""
        found = [c for c in self.status(name).get("conditions", ()) if c["type"] == kind]
        return (found[0]["status"], found[0]["reason"]) if found else ("", "")

    def ready(self, name: str = "clicks") -> bool:
        """As `kubectl wait --for=condition=Ready` sees it: of the spec that stands."""
        generation = self.kube.get(names.KIND, TEAM, name)["metadata"]["generation"]
        said = self.status(name)
        return said.get("observedGeneration") == generation and self.condition(name=name)[0] == "True"

    def drivers(self, name: str = "clicks") -> list[str]:
        """Names of drivers that are not over."""
        return [pod["metadata"]["name"] for pod in self.world.pods(names.DRIVER, name)]

    def executors(self, name: str = "clicks") -> dict[str, str]:
        """Node by name of executors that are not over."""
        found = self.world.pods(names.EXECUTOR, name)
        return {pod["metadata"]["name"]: pod["spec"].get("nodeName", "") for pod in found}

    def end_driver(self, exit_code: int, words: str = "", name: str = "clicks") -> None:
        """Its program ends."""
        self.world.end(self.world.pods(names.DRIVER, name)[0], exit_code, words)

    def say(self, after_s: float = 0.0, name: str = "clicks", **words: Any) -> None:
        """The agent of the job's driver writes its annotation, so long after now by its own words."""
        (driver,) = self.drivers(name)
        at = datetime.datetime.fromtimestamp(clock.now_s() + after_s, datetime.UTC).isoformat()
        text = json.dumps({"version": 1, "at": at, "phase": "Running", **words})
        self.kube.change("Lease", TEAM, name, metadata={"annotations": {f"agent.sluice.dev/{driver}": text}})

    async def until(self, holds: Callable[[], bool], within_s: float = 900.0) -> None:
        """Lets the cluster go on until something holds; says where it got stuck if it never does."""
        heard = self.kube.store.follow(self.kube.store.version, lambda _: True)
        try:
            async with asyncio.timeout(within_s):
                while not holds():
                    await heard.get()
        except TimeoutError:
            if self.operator.task.done():
                self.operator.task.result()
            pods = [at[2] for at in self.kube.store.objects if at[0] == "pods"]
            raise AssertionError(f"after {within_s} s: {self.status()}, pods {pods}") from None
        finally:
            self.kube.store.leave(heard)

    def _write_down(self, change: store.Change) -> None:
        said = change.body.get("status") or {}
        if change.plural == names.PLURAL and "conditions" in said:
            name = change.body["metadata"]["name"]
            now = (name, said["phase"], said["conditions"][0]["reason"])
            if [line for line in self.story if line[0] == name][-1:] != [now]:
                self.story.append(now)

    async def later(self, after_s: float) -> None:
        """So much time passes."""
        await asyncio.sleep(after_s)

    async def restart(self, down_s: float = 3.0) -> None:
        """The operator is killed; after a while there is another."""
        with contextlib.suppress(BaseExceptionGroup):  # one that had lost the lead has ended by itself
            await self.operator.gone()
        await asyncio.sleep(down_s)
        self.operator = running.Operator(self.who, around=self.around, source=self.times, agents_port=self.agents.port)


@contextlib.asynccontextmanager
async def begin(
    may_write: Callable[[], bool] = lambda: True,
    rules: Iterable[proxy.Rule] = (),
    namespaces: tuple[str, ...] = (),
    around: build.Surroundings = PLAIN,
    *,
    talking: bool = False,
    reads: api.Hook = lambda _: None,
) -> AsyncIterator[Play]:
    """Three empty nodes and an operator; at the end, no job ever had two drivers, or of those that talk two that write.

    Rules harm the operator's calls, `reads` those that read.
    """
    async with (
        api.FakeApi(clock.now_s) as kube,
        proxy.Proxy(kube.who, rules) as between,
        agents.Agents() as asked,
    ):
        kube.before_read = reads
        cluster = world.World(kube)
        if talking:
            cluster.inside = inside.Inside(kube, clock.now_s)
            cluster.inside.silent = cluster.silent
        turning = asyncio.create_task(cluster.turn())
        who = between.who if between.rules else kube.who
        times = tasktimes.TaskTimes()
        operator = running.Operator(who, may_write, namespaces, around, times, asked.port)
        at = Play(kube, cluster, who, operator, between, asked, around, times)
        try:
            yield at
            assert cluster.doubled == []
        finally:
            turning.cancel()
            await asyncio.gather(at.operator.gone(), turning, return_exceptions=True)
