"""The only way the tests of plan make objects: a job with defaults, its pods, what a cycle sees of them."""

import dataclasses
from collections.abc import Mapping
from typing import Any

from sluice.build import budget
from sluice.plan import changes
from sluice.values import names, records, streamjob, views

NOW_S = 1_800_000_000.0
NAMESPACE = "team"
BALANCE: dict[str, Any] = {"balance": {"act": True, "lever": True, "timeout": True}}  # in orders, unless told otherwise


def spec(**change: Any) -> streamjob.Spec:
    """A small job on S3, changed in some fields."""
    least = streamjob.Spec("clicks:1", streamjob.Application("local:///a.py"), streamjob.Checkpoint("s3a://b/c"))
    return dataclasses.replace(least, **change)


def job(name: str = "clicks", status: Mapping[str, Any] | None = None, **change: Any) -> streamjob.StreamJob:
    """A StreamJob with a status."""
    return streamjob.StreamJob(
        NAMESPACE, name, spec(**change), uid=f"uid-{name}", resource_version="7", generation=2, status=status or {}
    )


def begun(attempt: int = 1, phase: str = "Running", **driver: Any) -> dict[str, Any]:
    """The status of a job whose driver was begun."""
    revision = changes.revision(job())
    pod = names.driver_pod("clicks", revision, attempt)
    since = "2027-01-15T07:50:00Z"
    return {
        "phase": phase,
        "message": "as it was",
        "revision": revision,
        "driver": {"attempt": attempt, "pod": pod, "uid": f"uid-{attempt}", "restarts": 0, "since": since} | driver,
    }


def driver(attempt: int = 1, **change: Any) -> records.Pod:
    """The driver of an attempt, running and ready."""
    revision = changes.revision(job())
    labels = {names.JOB: "clicks", names.ROLE: names.DRIVER, names.REVISION: revision, names.ATTEMPT: str(attempt)}
    labels[names.EXECUTORS_KEPT] = str(budget.one_goes(job().spec.executors.count))
    pod = records.Pod(
        namespace=NAMESPACE,
        name=names.driver_pod("clicks", revision, attempt),
        uid=f"uid-{attempt}",
        labels=labels,
        owner_uid="uid-clicks",
        created_s=NOW_S - 60,
        phase="Running",
        node="node1",
        ready=True,
        ready_s=NOW_S - 50,
    )
    return dataclasses.replace(pod, **change)


def ended(attempt: int = 1, exit_code: int = 1, after_s: float = 50.0, **change: Any) -> records.Pod:
    """A driver that ended just now, so long after it became ready."""
    phase = "Succeeded" if exit_code == 0 else "Failed"
    how = records.Ended(exit_code, reason=change.pop("reason_ended", "Error"), message="last words", at_s=NOW_S)
    return driver(attempt, phase=phase, ready=False, ready_s=NOW_S - after_s, ended=how, **change)


def executor(number: int = 1, attempt: int = 1, **change: Any) -> records.Pod:
    """An executor of an attempt, running."""
    owner = driver(attempt)
    pod = records.Pod(
        namespace=NAMESPACE,
        name=f"{owner.name}-exec-{number}",
        uid=f"{owner.uid}-exec-{number}",
        resource_version="9",
        labels={**owner.labels, names.ROLE: names.EXECUTOR},
        owner_uid=owner.uid,
        created_s=NOW_S - 5,
        phase="Running",
        node="node2",
        requests=records.Resources(1000, 1 << 30, 1),
    )
    return dataclasses.replace(pod, **change)


def waiting(number: int = 1, **change: Any) -> records.Pod:
    """An executor at its gate."""
    at_gate: dict[str, Any] = {"phase": "Pending", "node": "", "gates": (names.GATE,), "wishes": records.Wishes()}
    return executor(number, **(at_gate | change))


def view(of: streamjob.StreamJob | None = None, *pods: records.Pod, **change: Any) -> views.JobView:
    """What a cycle sees of a job."""
    seen = views.JobView(of or job(), pods, rival="", lost_nodes=frozenset(), now_s=NOW_S)
    return dataclasses.replace(seen, **change)


def node(name: str, cpu_m: int = 4000, memory_gib: int = 8, **change: Any) -> records.Node:
    """A machine."""
    room = records.Resources(cpu_m, memory_gib << 30, 110)
    return dataclasses.replace(records.Node(name, room, {"kubernetes.io/hostname": name}), **change)


def fleet(*waiting_pods: records.Pod, **change: Any) -> views.FleetView:
    """Executors that wait, three nodes, one job."""
    seen = views.FleetView(
        jobs={(NAMESPACE, "clicks"): job()},
        waiting=waiting_pods,
        placed=(driver(),),
        near={},
        nodes=(node("node1"), node("node2"), node("node3")),
        used={},
        now_s=NOW_S,
    )
    return dataclasses.replace(seen, **change)
