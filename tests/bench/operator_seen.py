"""What a watch showed of StreamJobs and their pods, and when: the one clock of the operator's bench."""

import asyncio
import collections
import contextlib
import dataclasses
import itertools
import json
import math
from collections.abc import AsyncIterator, Iterable, Sequence

from bench import operator_api, operator_jobs
from bench.operator_api import Body
from sluice.values import names


@dataclasses.dataclass
class Pod:
    """A pod by its name and uid; times are monotonic, None for what has not happened."""

    name: str
    job: str
    role: str
    uid: str
    added_s: float
    gated: bool = False
    node: str = ""
    placed: Body = dataclasses.field(default_factory=dict)
    running: bool = False
    deleting: bool = False
    open_s: float | None = None
    running_s: float | None = None
    gone_s: float | None = None

    def see(self, body: Body, at_s: float) -> None:
        """A newer state of it."""
        gates = [gate["name"] for gate in body["spec"].get("schedulingGates", ())]
        self.gated = names.GATE in gates
        self.node = body["spec"].get("nodeName", "")
        self.placed = json.loads(body["metadata"].get("annotations", {}).get(names.PLACED, "{}"))
        self.running = body["status"].get("phase") == "Running"
        self.deleting = "deletionTimestamp" in body["metadata"]
        if not self.gated and self.open_s is None:
            self.open_s = at_s
        if self.running and self.running_s is None:
            self.running_s = at_s


class Seen:
    """Pods by uid and StreamJobs by name, as they stand, with their times."""

    def __init__(self) -> None:
        self.pods: dict[str, Pod] = {}
        self.jobs: dict[str, Body] = {}
        self.since_s: dict[str, float] = {}  # when a StreamJob was first seen
        self._by_job: dict[str, list[Pod]] = collections.defaultdict(list)
        self._listeners: list[operator_api.See] = []

    def listen(self, see: operator_api.See) -> None:
        """Calls it with everything that is seen, after it was noted here."""
        self._listeners.append(see)

    def see_pod(self, kind: str, body: Body, at_s: float) -> None:
        """One line of the watch of pods."""
        uid, labels = body["metadata"]["uid"], body["metadata"].get("labels", {})
        if uid not in self.pods:
            pod = Pod(body["metadata"]["name"], labels.get(names.JOB, ""), labels.get(names.ROLE, ""), uid, at_s)
            self.pods[uid] = pod
            self._by_job[pod.job].append(pod)
        self.pods[uid].see(body, at_s)
        if kind == "DELETED":
            self.pods[uid].gone_s = at_s
            self.pods[uid].running = False
        self._tell(kind, body, at_s)

    def see_job(self, kind: str, body: Body, at_s: float) -> None:
        """One line of the watch of StreamJobs."""
        name = body["metadata"]["name"]
        self.since_s.setdefault(name, at_s)
        if kind == "DELETED":
            self.jobs.pop(name, None)
        else:
            self.jobs[name] = body
        self._tell(kind, body, at_s)

    def of(self, job: str, role: str) -> list[Pod]:
        """The pods of a job, gone ones included."""
        return [pod for pod in self._by_job[job] if pod.role == role]

    def had_two_drivers(self, job: str) -> bool:
        """Whether a driver of it was made before the one before was gone."""
        pairs = itertools.pairwise(sorted(self.of(job, names.DRIVER), key=lambda pod: pod.added_s))
        return any(one.gone_s is None or one.gone_s > other.added_s for one, other in pairs)

    def drivers(self) -> list[Pod]:
        """All of them, gone ones included."""
        return [pod for pod in self.pods.values() if pod.role == names.DRIVER]

    def executors(self) -> list[Pod]:
        """All of them, gone ones included."""
        return [pod for pod in self.pods.values() if pod.role == names.EXECUTOR]

    def status(self, job: str) -> Body:
        """What Sluice last said of a job."""
        found: Body = self.jobs.get(job, {}).get("status", {})
        return found

    def is_ready(self, job: str) -> bool:
        """Whether Sluice says so."""
        conditions = self.status(job).get("conditions", ())
        return any(c["type"] == "Ready" and c["status"] == "True" for c in conditions)

    def phases(self) -> collections.Counter[str]:
        """How many StreamJobs are in which phase."""
        return collections.Counter(str(self.status(job).get("phase", "")) for job in self.jobs)

    def compared(self) -> Body:
        """How many executors there are, how many were sent to a node, how many of those are there."""
        executors = [pod for pod in self.executors() if pod.gone_s is None]
        sent = [pod for pod in executors if pod.placed.get("node")]
        return {
            "executors": len(executors),
            "sent": len(sent),
            "as_planned": sum(pod.node == pod.placed["node"] for pod in sent),
            "opened": [pod.placed.get("why", "") for pod in executors if not pod.placed.get("node")][:5],
        }

    def _tell(self, kind: str, body: Body, at_s: float) -> None:
        for listener in self._listeners:
            listener(kind, body, at_s)


@contextlib.asynccontextmanager
async def watching(api: operator_api.Api, namespace: str) -> AsyncIterator[Seen]:
    """Everything of ours in a namespace, from now on."""
    seen = Seen()
    async with asyncio.TaskGroup() as tasks:
        pods = tasks.create_task(api.follow(operator_jobs.pods(namespace), seen.see_pod))
        jobs = tasks.create_task(api.follow(operator_jobs.streamjobs(namespace), seen.see_job))
        yield seen
        pods.cancel()
        jobs.cancel()


def percentile(values: Iterable[float], share: float) -> float:
    """The value that this share of all does not exceed (nearest rank); infinite without any."""
    ordered: Sequence[float] = sorted(values)
    return ordered[max(0, math.ceil(share * len(ordered)) - 1)] if ordered else math.inf
