"""Jobs whose executors exchange very unequal amounts, on nodes with so much room each and links of 50 Mbit/s.

Room is memory: on each node a pod that does nothing asks for what is too much. The program is
:mod:`bench.rebalance_skewed`, the place :mod:`bench.rebalance_place`. For the parts `placement` and `three`.
"""

import contextlib
import dataclasses
import json
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from bench import rebalance_place
from bench.rebalance_place import Stage
from demo import streamjobs, topics
from house import paths, trouble
from sluice.observe import records, traffic
from sluice.plan import sampled
from sluice.values import moves, names
from testbed import cluster, images

RATE = "50mbit"
WARM = 12  # batches that do not count
_PROGRAM = paths.ROOT / "tests" / "bench" / "rebalance_skewed.py"
_TOPIC, _RECORDS = "rebalance-skewed", 300_000
_ROWS, _LONGS = 24, 32_000  # a batch's of each executor, and a row's: some 6 MB
_SLOT_BYTES = 1 << 30  # what an executor asks for
_SLACK_BYTES = _SLOT_BYTES * 2 // 5  # less than an executor, and enough for a policy that rounds
_READY_S = 300.0
_LONGEST_BATCH_S = 20.0
_JUDGED_S = 900.0  # a move, and a hundred batches


@dataclasses.dataclass(frozen=True)
class Sender:
    """A job."""

    name: str
    executors: int
    trigger: str = "0 seconds"

    def start(self, stage: Stage, **placement: Any) -> streamjobs.Job:
        """It comes; nobody waits for it."""
        words = {
            "topic": _TOPIC, "executors": self.executors, "rows": _ROWS * self.executors, "longs": _LONGS,
            "trigger": self.trigger,
        }  # fmt: skip
        # A task whose executor is gone goes to the one that has nothing to do, so that who comes takes over from who
        # goes: to wait for the gone one would leave it to luck.
        conf = {"spark.sql.shuffle.partitions": str(self.executors), "spark.locality.wait": "0s"}
        off = {"mode": "Off"}
        executors = {"count": self.executors}
        return stage.start(self.name, executors, words, sparkConf=conf, placement=placement, rebalance=off)


@contextlib.contextmanager
def stage(slots: Sequence[int]) -> Iterator[tuple[Stage, dict[str, int]]]:
    """So many slots on each of the three nodes; which they are."""
    with rebalance_place.stage(_PROGRAM) as found:
        topics.create(found.kube, _TOPIC)
        feed = topics.feed(found.kube, _TOPIC)
        feed.communicate("x\n" * _RECORDS)
        if feed.returncode:
            raise trouble.Trouble(f"{_TOPIC} could not be filled")
        rooms = dict(zip(found.nodes, slots, strict=True))
        _take(found, rooms)
        with _shaped(found.nodes):
            yield found, rooms


def next_batches(jobs: Sequence[streamjobs.Job], count: int) -> dict[str, list[float]]:
    """How long so many more batches of each job took, in seconds, once they have ended."""
    before = {job.name: len(_took_s(job)) for job in jobs}
    patience_s = _READY_S + count * _LONGEST_BATCH_S
    rebalance_place.must_see(
        f"{count} batches", patience_s, lambda: all(len(_took_s(job)) >= before[job.name] + count for job in jobs)
    )
    return {job.name: _took_s(job)[before[job.name] :][:count] for job in jobs}


def exchanged(job: streamjobs.Job) -> dict[str, Any]:
    """Where its executors sit, and what its agent has measured of its last batches."""
    driver = job.status()["driver"]["pod"]
    words = ("get", "--raw", f"/api/v1/namespaces/{job.namespace}/pods/{driver}:7080/proxy/v1/traffic")
    found = traffic.parse(job.kube.kubectl(*words).encode())
    pods = job.running(names.EXECUTOR)
    homes = {pod["metadata"]["name"].rpartition("-")[2]: pod["spec"]["nodeName"] for pod in pods}
    known = [(one, other, count) for (one, other), count in sampled.between(found).items() if {one, other} <= {*homes}]
    if not known:
        raise trouble.Trouble(f"the agent of {driver} knows of no bytes between executors")
    return {
        "homes": homes, "pairs": known, "busy_m": sampled.loads_m(found), "span_s": sampled.span_s(found),
        "batches": sampled.enough(found),
    }  # fmt: skip


def measured(jobs: Sequence[streamjobs.Job], batches: int) -> dict[str, dict[str, Any]]:
    """Of so many batches of each job how long they took, and at their end what was exchanged."""
    took_s = next_batches(jobs, batches)
    return {job.name: {**exchanged(job), "took_s": took_s[job.name]} for job in jobs}


def moved(jobs: Sequence[streamjobs.Job]) -> int:
    """How many moves were judged; those under way are waited for."""
    rebalance_place.must_see("no move is under way", _JUDGED_S, lambda: not any(_record(job).now for job in jobs))
    return sum(one.outcome in (moves.BETTER, moves.UNDONE) for job in jobs for one in _record(job).past)


def begun(jobs: Sequence[streamjobs.Job]) -> int:
    """How many moves there were, one under way among them."""
    found = [_record(job) for job in jobs]
    return sum(len(one.past) + (one.now is not None) for one in found)


def _record(job: streamjobs.Job) -> moves.Record:
    return moves.read(job.status())


def _took_s(job: streamjobs.Job) -> list[float]:
    lines = (line for line in job.log().splitlines() if line.startswith('{"batch"'))
    return [json.loads(line)["took_s"] for line in lines]


@contextlib.contextmanager
def _shaped(nodes: Sequence[str]) -> Iterator[None]:
    testbed = cluster.Cluster()
    try:
        for node in nodes:
            testbed.link(node, RATE)
        yield
    finally:
        for node in nodes:
            testbed.link(node, "full")


def _take(found: Stage, slots: Mapping[str, int]) -> None:
    """All memory but that of the slots."""
    nodes = json.loads(found.kube.kubectl("get", "nodes", "-o", "json"))["items"]
    pods = json.loads(found.kube.kubectl("get", "pods", "-A", "-o", "json"))["items"]
    used: dict[str, int] = defaultdict(int)
    for pod in map(records.read_pod, pods):
        used[pod.node] += 0 if pod.over else pod.requests.memory_bytes
    fillers = [
        _filler(node.name, node.allocatable.memory_bytes - used[node.name] - slots[node.name] * _SLOT_BYTES)
        for node in map(records.read_node, nodes)
        if node.name in slots
    ]
    found.apply(*fillers)
    for filler in fillers:
        found.kube.kubectl(
            "-n", rebalance_place.NAMESPACE, "wait", "--for=condition=Ready", f"pod/{filler['metadata']['name']}",
            f"--timeout={_READY_S:.0f}s",
        )  # fmt: skip


def _filler(node: str, too_much_bytes: int) -> dict[str, Any]:
    if too_much_bytes <= _SLACK_BYTES:
        raise trouble.Trouble(f"{node} has too little memory left: {too_much_bytes >> 20} MiB beside the slots")
    asks = {"requests": {"memory": str(too_much_bytes - _SLACK_BYTES)}}
    container = {"name": "pause", "image": images.PAUSE.ref(), "resources": asks}
    spec = {"containers": [container], "nodeSelector": rebalance_place.on(node), "terminationGracePeriodSeconds": 0}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": f"filler-{node}"}, "spec": spec}
