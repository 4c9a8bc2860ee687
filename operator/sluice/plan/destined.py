"""Which executors at their gate come in place of one that moves, and where they go. For plan.placement; pure.

The first that came since the move was begun goes to its node. In Real-Time Mode all come anew with another driver: they
go where the old ones sit, but for the one that moves.
"""

import collections
from collections.abc import Mapping

from sluice.plan import crew
from sluice.values import moves, names, records, streamjob, views

Nodes = Mapping[str, str]  # by uid of the pod


def nodes(fleet: views.FleetView) -> Nodes:
    """Of all jobs."""
    found: dict[str, str] = {}
    for job in fleet.jobs.values():
        now = moves.read(job.status).now
        if now and now.phase == moves.MOVING and job.spec.placement.mode == "Act":
            found |= _with_driver(fleet, job, now) if job.spec.real_time else _alone(fleet, job, now)
    return found


def _alone(fleet: views.FleetView, job: streamjob.StreamJob, now: moves.Move) -> Nodes:
    if any(pod.node == now.wish.target and _came_since(pod, now) for pod in _executors(fleet.placed, job)):
        return {}
    coming = [pod for pod in _executors(fleet.waiting, job) if _came_since(pod, now)]
    return {coming[0].uid: now.wish.target} if coming else {}


def _with_driver(fleet: views.FleetView, job: streamjob.StreamJob, now: moves.Move) -> Nodes:
    there = _executors(fleet.placed, job)
    wanted = collections.Counter(pod.node for pod in there if _is_of(pod, now.driver))
    wanted += collections.Counter([now.wish.target])
    wanted -= collections.Counter([now.wish.source])
    wanted -= collections.Counter(pod.node for pod in there if not _is_of(pod, now.driver))
    coming = [pod for pod in _executors(fleet.waiting, job) if not _is_of(pod, now.driver)]
    free = sorted(wanted.elements(), key=lambda node: (node != now.wish.target, node))
    return {pod.uid: node for pod, node in zip(coming, free, strict=False)}


def _executors(pods: tuple[records.Pod, ...], job: streamjob.StreamJob) -> list[records.Pod]:
    return [pod for pod in pods if pod.role == names.EXECUTOR and (pod.namespace, pod.job) == job.key]


def _came_since(pod: records.Pod, now: moves.Move) -> bool:
    return _is_of(pod, now.driver) and crew.number(pod).isdecimal() and int(crew.number(pod)) > now.newest


def _is_of(pod: records.Pod, driver: str) -> bool:
    return pod.name.rpartition("-exec-")[0] == driver
