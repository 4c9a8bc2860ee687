"""Jobs that rest, measured, with executors on nodes: for the tests of what moves, and of how many are needed."""

from collections.abc import Mapping
from typing import Any

from plan import crews, made
from sluice.plan import life, status
from sluice.values import moves, names, records, streamjob, traffic, views

NOW_S = made.NOW_S
LONG_AGO = "2027-01-15T05:00:00Z"
DRIVER = crews.DRIVER.name
SETTLED = [
    {"type": kind, "status": status, "reason": "Running", "message": "", "lastTransitionTime": LONG_AGO}
    for kind, status in (("Ready", "True"), ("Progressing", "False"))
]


def rests(spec: Mapping[str, Any] | None = None, **more: Any) -> dict[str, Any]:
    """The status of a job whose driver has run for hours, and which is as wanted."""
    seen = crews.view(crews.three(), crews.OPEN, dict(spec or crews.wanted()))
    begun = {**seen.job.status["driver"], "since": LONG_AGO}
    return {**seen.job.status, "phase": "Running", "conditions": SETTLED, "driver": begun, **more}


def executors(*nodes: str, **change: Any) -> list[records.Pod]:
    """One on each node, numbered from 1."""
    asked: dict[str, Any] = {"requests": records.Resources(1000, 1 << 30, 1)}
    return [crews.executor(number, node=node, **(asked | change)) for number, node in enumerate(nodes, 1)]


def told(pairs: traffic.Pairs, **change: Any) -> traffic.Traffic:
    """What the agent of a job of one query tells: a hundred batches in five minutes."""
    numbers = sorted(pairs.keys() | {other for to in pairs.values() for other in to})
    usual: dict[str, Any] = {
        "name": "clicks", "batches": 100, "seconds": 300.0, "batch_ms": 800.0, "batch_p90_ms": 1200.0,
        "run_ms": dict.fromkeys(numbers, 60_000.0), "rows": dict.fromkeys(numbers, 30_000), "pairs": pairs,
    }  # fmt: skip
    at_s = change.pop("at_s", NOW_S)
    return traffic.Traffic(at_s, (traffic.Query(**(usual | change)),))


def alike(count: int, each: int = 1_000_000) -> dict[str, dict[str, int]]:
    """All executors talk to each other as much."""
    numbers = [str(number) for number in range(1, count + 1)]
    return {one: {other: each for other in numbers if other != one} for one in numbers}


def job(count: int, state: Mapping[str, Any] | None = None, **spec: Any) -> streamjob.StreamJob:
    """That rests, with so many executors."""
    wanted = crews.wanted(count) | spec
    return made.job(status={**rests(wanted), **(state or {})}, **wanted)


def fleet(of: streamjob.StreamJob, pods: list[records.Pod], **change: Any) -> views.FleetView:
    """One job on three nodes, each of which has room for three executors more."""
    used: dict[str, records.Resources] = {}
    for pod in pods:
        used[pod.node] = used.get(pod.node, records.Resources()) + pod.requests
    usual: dict[str, Any] = {"jobs": {of.key: of}, "placed": (crews.DRIVER, *pods), "used": used}
    return made.fleet(**(usual | change))


WISH = moves.Wish(
    executor=f"{DRIVER}-exec-1",
    source="node1",
    target="node2",
    cause=moves.TRAFFIC,
    why="consolidate: 100% of the bytes that it exchanges with other nodes would stay on one, 13333 B/s",
    before=moves.Measures(100, 800.0, 90_000, 4_000_000, 4_000_000),
)


def view(pods: list[records.Pod], state: Mapping[str, Any] | None = None, **more: Any) -> views.JobView:
    """Of a job of three executors, told to hold three, heard and measured."""
    spec = more.pop("spec", crews.wanted())
    seen = crews.view(pods, more.pop("orders", crews.OPEN), spec, **more)
    begun = {**seen.job.status["driver"], "since": LONG_AGO}
    known = {**seen.job.status, "phase": "Running", "conditions": SETTLED, "driver": begun, **(state or {})}
    return crews.with_status(seen, known)


def after(seen: views.JobView) -> dict[str, Any]:
    """What the status says once the job was looked at."""
    return status.wanted(seen, life.judge(seen, crews.AROUND))


def at_gate(number: int, **change: Any) -> records.Pod:
    """An executor that waits for its node."""
    return crews.executor(
        number, phase="Pending", node="", ready=False, gates=(names.GATE,), wishes=records.Wishes(), **change
    )
