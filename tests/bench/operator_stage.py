"""Where each part of the operator's bench is played: fake nodes, an empty namespace, watches, a Spark that is none."""

import asyncio
import dataclasses
import os
import pathlib
import tempfile
from collections.abc import Awaitable, Callable, Iterable
from typing import Any

import orjson

from bench import operator_api, operator_jobs, operator_process, operator_seen, operator_spark
from bench.operator_api import Body
from house import trouble
from testbed import binaries, cluster

NAMESPACE = "bench-operator"
WAYS = 16  # creators side by side


@dataclasses.dataclass(frozen=True)
class Stage:
    """All that a part needs."""

    api: operator_api.Api
    seen: operator_seen.Seen
    kubeconfig: pathlib.Path

    def start(self, number: int = 1, **settings: str) -> operator_process.Start:
        """How to start an operator here."""
        return operator_process.Start(self.kubeconfig, NAMESPACE, number, settings)

    def spark(self) -> operator_spark.Spark:
        """From now on drivers that run get executors."""
        return operator_spark.Spark(self.api, self.seen, NAMESPACE)

    async def create(self, jobs: Iterable[Body], ways: int = WAYS) -> None:
        """Posts StreamJobs, so many at a time."""
        path = operator_jobs.streamjobs(NAMESPACE)
        await operator_api.side_by_side(lambda job: self.api.must("POST", path, job), jobs, ways)

    async def patch(self, job: str, patch: Body) -> None:
        """Changes a StreamJob."""
        path = f"{operator_jobs.streamjobs(NAMESPACE)}/{job}"
        await self.api.must("PATCH", path, patch, operator_api.MERGE)

    async def delete(self, jobs: Iterable[str]) -> None:
        """Deletes StreamJobs, so many at a time."""
        at = operator_jobs.streamjobs(NAMESPACE)
        await operator_api.side_by_side(self.api.gone, (f"{at}/{job}" for job in jobs), WAYS)

    async def kubectl_apply(self, jobs: Iterable[Body]) -> None:
        """What a user does."""
        listed = orjson.dumps({"apiVersion": "v1", "kind": "List", "items": list(jobs)})
        with tempfile.NamedTemporaryFile(suffix=".json") as file:
            file.write(listed)
            file.flush()
            words = ("-n", NAMESPACE, "apply", "-f", file.name)
            process = await asyncio.create_subprocess_exec(
                binaries.kubectl(),
                *words,
                env={**os.environ, "KUBECONFIG": str(self.kubeconfig)},
                stdout=asyncio.subprocess.DEVNULL,
                stderr=asyncio.subprocess.PIPE,
            )
            _, said = await process.communicate()
        if process.returncode != 0:
            raise trouble.Trouble(f"kubectl apply ended with exit code {process.returncode}: {said.decode()[-500:]}")


def play(nodes: int, part: Callable[[Stage], Awaitable[Body]]) -> dict[str, Any]:
    """What a part finds, played among so many fake nodes; nothing of it is left."""
    testbed = cluster.Cluster()
    with operator_jobs.fake_nodes(testbed, nodes):
        try:
            return asyncio.run(_play(testbed.kubeconfig, part))
        except BaseExceptionGroup as several:
            raise _first(several) from several


def _first(several: BaseExceptionGroup[BaseException]) -> BaseException:
    """What a group of tasks ended with, without the groups around it."""
    one = several.exceptions[0]
    return _first(one) if isinstance(one, BaseExceptionGroup) else one


async def _play(kubeconfig: pathlib.Path, part: Callable[[Stage], Awaitable[Body]]) -> dict[str, Any]:
    async with (
        operator_api.connect(kubeconfig) as api,
        operator_jobs.namespace(api, NAMESPACE),
        operator_seen.watching(api, NAMESPACE) as seen,
    ):
        return await part(Stage(api, seen, kubeconfig))
