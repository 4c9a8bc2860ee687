"""The cluster as it was last heard of: StreamJobs, pods, nodes and Leases in memory, as frozen views.

Fed by the list-watches.

It wakes a job when something changed that a decision is made of, and the fleet when an executor may find a place now.
"""

import dataclasses
from collections.abc import Callable, Iterable, Mapping

from sluice.observe import checkpoints, label_selectors, records, reports, usage
from sluice.values import names, outcomes, steps, streamjob, views
from sluice.values import records as slim
from sluice.values.streamjob import Body

Key = tuple[str, str]  # namespace and name of a StreamJob
_GRAVES = 20_000


class Mirror:
    """All reads are from memory; a resourceVersion no later than what is known changes nothing."""

    def __init__(
        self, wake: Callable[[Key], None], wake_fleet: Callable[[], None], namespaces: tuple[str, ...] = ()
    ) -> None:
        self._wake, self._wake_fleet = wake, wake_fleet
        self._namespaces = namespaces  # whose jobs are ours; none: all
        self._jobs: dict[Key, streamjob.StreamJob] = {}
        self._pods: dict[str, slim.Pod] = {}  # by uid: a name may come again
        self._of_job: dict[Key, set[str]] = {}  # uids of its pods
        self._waiting: set[str] = set()  # uids of executors behind our gate
        self._nodes: dict[str, slim.Node] = {}
        self._usage = usage.Usage()
        self._checkpoints = checkpoints.Checkpoints()
        self._reports = reports.Reports()
        self._graves: dict[str, None] = {}  # uids that are gone: none ever comes back, but late news of it does

    def see_streamjob(self, kind: str | None, body: Body) -> None:
        """One line of a watch, or of a list (no kind)."""
        self._see_streamjob(kind, body, ours=False)

    def see_pod(self, kind: str | None, body: Body) -> None:
        """One line of a watch, or of a list (no kind)."""
        uid = body["metadata"]["uid"]
        old = self._pods.get(uid)
        if kind == "DELETED":
            self._bury_pod(uid)
        elif uid not in self._graves and not _is_known(body, old):
            new = self._read_pod(body)
            self._pods[uid] = new
            if old is None or dataclasses.replace(old, resource_version=new.resource_version) != new:
                self._turn_pod(old, new)

    def see_node(self, kind: str | None, body: Body) -> None:
        """One line of a watch, or of a list (no kind)."""
        name = body["metadata"]["name"]
        if kind == "DELETED":
            self._turn_node(name, None)
        elif (new := records.read_node(body)) != self._nodes.get(name):
            self._turn_node(name, new)

    def see_lease(self, kind: str | None, body: Body) -> None:
        """One line of a watch, or of a list (no kind). It outlives its job: one that is no more is looked at once."""
        meta = body["metadata"]
        key = (meta["namespace"], meta["labels"][names.JOB])
        if meta["name"] != names.lease(key[1]):
            return
        if kind == "DELETED":
            self._reports.forget(key, meta["uid"])
            return
        is_new, is_due = self._reports.see(key, meta)
        if is_due if key in self._jobs else is_new:
            self._wake(key)

    def keep_streamjobs(self, namespace: str, found: Mapping[str, str], version: int) -> None:
        """All there are in a namespace (or everywhere), name by uid, as of a version: the others are gone."""
        for job in list(self._jobs.values()):
            if _is_missing(job, namespace, found, version):
                self._bury_streamjob(job)

    def keep_pods(self, namespace: str, found: Mapping[str, str], version: int) -> None:
        """All there are in a namespace (or everywhere), name by uid, as of a version: the others are gone."""
        for pod in list(self._pods.values()):
            if _is_missing(pod, namespace, found, version):
                self._bury_pod(pod.uid)

    def keep_nodes(self, _: str, found: Mapping[str, str], __: int) -> None:
        """All there are, name by uid: the others are gone."""
        for name in self._nodes.keys() - set(found.values()):
            self._turn_node(name, None)

    def keep_leases(self, namespace: str, found: Mapping[str, str], _: int) -> None:
        """All there are in a namespace (or everywhere), name by uid: the others are gone."""
        self._reports.keep(namespace, found)

    def learn(self, outcome: outcomes.Outcome) -> None:
        """What our own writes made of StreamJobs and pods counts at once, before its echo on the watch.

        So does that a StreamJob is gone: one that went while its watch was broken may never be told of.
        """
        for failure in outcome.failures:
            if failure.kind == "Gone" and isinstance(failure.step, steps.RecordStatus):
                job = self._jobs.get((failure.step.namespace, failure.step.name))
                if job is not None and job.uid == failure.step.uid:
                    self._bury_streamjob(job)
        for body in outcome.bodies:
            if body["kind"] == "Pod" and "resourceVersion" in body["metadata"]:  # one that is gone may have none
                self.see_pod("MODIFIED", body)
            elif body["kind"] == names.KIND and (body["metadata"]["namespace"], body["metadata"]["name"]) in self._jobs:
                self._see_streamjob("MODIFIED", body, ours=True)

    def job_view(self, key: Key, now_s: float) -> views.JobView | None:
        """All of a job; None: there is no such StreamJob (any more), see `leftovers`."""
        job = self._jobs.get(key)
        if job is None:
            return None
        pods = self._pods_of(key)
        return views.JobView(
            job=job,
            pods=pods,
            rival=self._checkpoints.rival(key),
            lost_nodes=frozenset(pod.node for pod in pods if pod.node and self._is_lost(pod.node)),
            now_s=now_s,
            cordoned=frozenset(pod.node for pod in pods if pod.node and self._is_cordoned(pod.node)),
            said=self._reports.of(key),
        )

    def fleet_view(self, now_s: float) -> views.FleetView:
        """All executors that wait for a node, and what they may get."""
        return self._fleet({_key(pod) for pod in self._at_the_gate()}, now_s)

    def whole_view(self, now_s: float) -> views.FleetView:
        """The same with all jobs, also those of which nobody waits."""
        return self._fleet(self._jobs, now_s)

    def _at_the_gate(self) -> list[slim.Pod]:
        gated = (self._pods[uid] for uid in self._waiting)
        return [pod for pod in gated if not pod.deleting and _key(pod) in self._jobs]

    def _fleet(self, keys: Iterable[Key], now_s: float) -> views.FleetView:
        jobs, waiting = {key: self._jobs[key] for key in sorted(keys)}, self._at_the_gate()
        return views.FleetView(
            jobs=jobs,
            waiting=_sorted(waiting),
            placed=_sorted(pod for key in jobs for pod in self._pods_of(key) if pod.node and not pod.over),
            near=self._near(jobs),
            nodes=tuple(self._nodes[name] for name in sorted(self._nodes)),
            used=self._usage.by_node(),
            now_s=now_s,
        )

    def leftovers(self, key: Key | None = None) -> tuple[slim.Pod, ...]:
        """Pods of one StreamJob, or of any, that is no more; ask only when StreamJobs and pods have been listed.

        What a living namesake should get rid of is in its own view.
        """
        gone = sorted(self._of_job.keys() - self._jobs.keys()) if key is None else [key]
        return tuple(pod for lost in gone if lost not in self._jobs for pod in self._pods_of(lost))

    def standing(self) -> dict[Key, tuple[str, bool]]:
        """What the status of every job says: its phase, and whether it is Ready."""
        return {key: (job.status.get("phase", ""), _is_ready(job.status)) for key, job in self._jobs.items()}

    def _read_pod(self, body: Body) -> slim.Pod:
        """One of a job that is not ours is nobody's: it takes room, but is no leftover because we see no such job."""
        pod = records.read_pod(body)
        if not self._namespaces or pod.namespace in self._namespaces:
            return pod
        return dataclasses.replace(pod, labels={key: pod.labels[key] for key in pod.labels if key != names.JOB})

    def _see_streamjob(self, kind: str | None, body: Body, *, ours: bool) -> None:
        new = records.read_streamjob(body)
        old = self._jobs.get(new.key)
        if kind == "DELETED":
            if old is not None and old.uid == new.uid:
                self._bury_streamjob(old)
            self._bury(new.uid)
        elif new.uid not in self._graves and not _is_known(body, old):
            if old is not None and old.uid == new.uid:
                new = dataclasses.replace(new, spec=old.spec if new.unreadable else new.spec, before=_before(old, new))
            self._turn_streamjob(old, new, ours=ours)

    def _turn_streamjob(self, old: streamjob.StreamJob | None, new: streamjob.StreamJob, *, ours: bool) -> None:
        rivals = self._checkpoints.others(new.key)
        self._jobs[new.key] = new
        self._checkpoints.put(new)
        if old is None:
            for pod in self._pods_of(new.key):
                self._note_driver(pod)
        if not ours and self._waiting & self._of_job.get(new.key, set()):
            self._wake_fleet()
        if old is None or dataclasses.replace(old, resource_version=new.resource_version) != new:
            self._wake_all(rivals if ours else rivals | {new.key})

    def _bury_streamjob(self, job: streamjob.StreamJob) -> None:
        rivals = self._checkpoints.others(job.key)
        del self._jobs[job.key]
        self._checkpoints.forget(job.key)
        self._bury(job.uid)
        self._wake_all(rivals | {job.key})

    def _bury_pod(self, uid: str) -> None:
        old = self._pods.pop(uid, None)
        self._bury(uid)
        if old is not None:
            self._turn_pod(old, None)

    def _turn_pod(self, old: slim.Pod | None, new: slim.Pod | None) -> None:
        """Everything that hangs on a pod, from one record to the next."""
        pod = new or old
        if pod is None:
            return
        has_room = self._usage.change(old, new)
        if old is not None and _key(old) != _key(pod):  # somebody has changed its labels
            self._index(old, gone=True)
            self._wake(_key(old))
        self._index(pod, gone=new is None)
        waits = new is not None and new.gated and new.role == names.EXECUTOR and not new.deleting
        (self._waiting.add if waits else self._waiting.discard)(pod.uid)
        if waits or (has_room and self._waiting):
            self._wake_fleet()
        if pod.job:
            self._note_driver(pod, gone=new is None)
            self._wake(_key(pod))

    def _index(self, pod: slim.Pod, *, gone: bool) -> None:
        if not pod.job:
            return
        uids = self._of_job.setdefault(_key(pod), set())
        (uids.discard if gone else uids.add)(pod.uid)
        if not uids:
            del self._of_job[_key(pod)]

    def _note_driver(self, pod: slim.Pod, *, gone: bool = False) -> None:
        if pod.role != names.DRIVER:
            return
        if gone or pod.over:
            self._wake_all(self._checkpoints.lose_driver(pod.uid))
        else:
            self._checkpoints.see_driver(pod.uid, _key(pod))

    def _turn_node(self, name: str, new: slim.Node | None) -> None:
        before = self._is_lost(name), self._is_cordoned(name)
        if new is None:
            self._nodes.pop(name, None)
        else:
            self._nodes[name] = new
        if self._waiting:
            self._wake_fleet()
        if before != (self._is_lost(name), self._is_cordoned(name)):
            self._wake_all({_key(pod) for pod in self._pods.values() if pod.node == name and pod.job})

    def _is_lost(self, name: str) -> bool:
        """Where no node may be read, none is known to be lost."""
        node = self._nodes.get(name)
        return node.lost if node else bool(self._nodes)

    def _is_cordoned(self, name: str) -> bool:
        node = self._nodes.get(name)
        return node is not None and node.cordoned

    def _near(self, jobs: Mapping[Key, streamjob.StreamJob]) -> dict[Key, tuple[slim.Pod, ...]]:
        found: dict[str, tuple[slim.Pod, ...]] = {}  # by selector: jobs of a team name the same broker
        for job in jobs.values():
            near = job.spec.placement.near
            if near and str(near) not in found:
                there = (pod for pod in self._pods.values() if pod.node and not pod.over)
                found[str(near)] = _sorted(pod for pod in there if label_selectors.selects(near, pod.labels))
        return {key: found[str(near)] for key, job in jobs.items() if (near := job.spec.placement.near)}

    def _pods_of(self, key: Key) -> tuple[slim.Pod, ...]:
        return _sorted(self._pods[uid] for uid in self._of_job.get(key, ()))

    def _bury(self, uid: str) -> None:
        self._graves[uid] = None
        if len(self._graves) > _GRAVES:
            del self._graves[next(iter(self._graves))]

    def _wake_all(self, keys: Iterable[Key]) -> None:
        for key in sorted(keys):
            self._wake(key)


def _key(pod: slim.Pod) -> Key:
    return pod.namespace, pod.job


def _sorted(pods: Iterable[slim.Pod]) -> tuple[slim.Pod, ...]:
    return tuple(sorted(pods, key=lambda pod: (pod.namespace, pod.name, pod.uid)))


def _before(old: streamjob.StreamJob, new: streamjob.StreamJob) -> streamjob.Spec | None:
    if new.status.get("observedGeneration") == new.generation:
        return None
    return old.before or (old.spec if old.generation != new.generation else None)


def _is_ready(status: Body) -> bool:
    return any(c["type"] == "Ready" and c["status"] == "True" for c in status.get("conditions", ()))


def _is_known(body: Body, known: slim.Pod | streamjob.StreamJob | None) -> bool:
    return known is not None and int(body["metadata"]["resourceVersion"]) <= int(known.resource_version)


def _is_missing(known: slim.Pod | streamjob.StreamJob, namespace: str, found: Mapping[str, str], version: int) -> bool:
    """Not in the list, though it was there when the list was made: what we made since then is younger."""
    here = not namespace or known.namespace == namespace
    return here and known.uid not in found and int(known.resource_version) <= version
