"""Who may write a checkpoint: at most one StreamJob at a time. Part of the mirror.

Whoever was told that a checkpoint is free holds it from then on, before his driver is seen, until he lets go of it.
A driver holds what its job named when it was first seen, whatever becomes of the job meanwhile.
"""

import posixpath
import re

from sluice.values import streamjob

Key = tuple[str, str]
Place = tuple[str, str]  # namespace and claim, or nothing; and where in it
_AT_REST = frozenset({"Completed", "Failed"})
_STARTED = frozenset({"Starting", "Running", "Restarting", "Stopping"})


def place(job: streamjob.StreamJob) -> Place:
    """What two jobs must not share: a path of one claim in one namespace, or a URI anywhere."""
    checkpoint = job.spec.checkpoint
    if checkpoint.claim:  # wherever it is mounted
        return f"{job.namespace}/{checkpoint.claim}", posixpath.relpath(checkpoint.path, checkpoint.mount)
    return "", re.sub(r"^s3[an]:", "s3:", checkpoint.location).rstrip("/")


class Checkpoints:
    """Who holds which checkpoint."""

    def __init__(self) -> None:
        self._jobs: dict[Key, streamjob.StreamJob] = {}
        self._contenders: dict[Place, set[Key]] = {}
        self._writers: dict[Place, dict[str, Key]] = {}  # by uid of a driver pod
        self._writes: dict[str, Place] = {}  # by uid of a driver pod
        self._granted: dict[Place, Key] = {}
        self._stirred: set[Key] = set()  # at rest by their status, but somebody has touched them since

    def put(self, job: streamjob.StreamJob) -> None:
        """A job has come, or changed."""
        old = self._jobs.get(job.key)
        if old is not None and place(old) != place(job):
            self.forget(job.key)
        if old is not None and old.restarted != job.restarted:
            self._stirred.add(job.key)
        if not _is_final(job):
            self._stirred.discard(job.key)
        self._jobs[job.key] = job
        if job.spec.checkpoint.location:
            self._contenders.setdefault(place(job), set()).add(job.key)

    def forget(self, key: Key) -> None:
        """A job is gone. Its driver, if it has one, still holds what it writes."""
        at = place(self._jobs.pop(key))
        self._stirred.discard(key)
        self._contenders.get(at, set()).discard(key)
        if not self._contenders.get(at):
            self._contenders.pop(at, None)
        if self._granted.get(at) == key:
            del self._granted[at]

    def see_driver(self, uid: str, key: Key) -> None:
        """A driver pod that may write; of an unknown job nobody knows what."""
        if uid not in self._writes and key in self._jobs:
            at = self._writes[uid] = place(self._jobs[key])
            self._writers.setdefault(at, {})[uid] = key

    def lose_driver(self, uid: str) -> set[Key]:
        """It writes no more. Returns who may have waited for that."""
        at = self._writes.pop(uid, None)
        if at is None:
            return set()
        key = self._writers[at].pop(uid)
        if not self._writers[at]:
            del self._writers[at]
        return self._contenders.get(at, set()) - {key}

    def others(self, key: Key) -> set[Key]:
        """All that name the same checkpoint."""
        job = self._jobs.get(key)
        return self._contenders.get(place(job), set()) - {key} if job else set()

    def rival(self, key: Key) -> str:
        """`namespace/name` of who holds the job's checkpoint, or nothing: then it is the job's."""
        at = place(self._jobs[key])
        writing = set(self._writers.get(at, {}).values())
        everyone = self._contenders.get(at, set()) | writing
        ranked = [(rank, other) for other in everyone if (rank := self._rank(at, other, other in writing))]
        if not ranked:
            return ""
        holder = min(ranked)[1]
        if holder != key:
            return "/".join(holder)
        self._granted[at] = key
        return ""

    def _rank(self, at: Place, key: Key, writes: bool) -> tuple[int, float, str] | None:
        """Who comes first: writes, was told so, was started once, is older. None holds nothing."""
        job = self._jobs.get(key)
        age = (job.created_s, job.uid) if job else (0.0, "")
        if writes:
            return 0, *age
        if job is None or job.deleting or job.spec.suspend or (_is_final(job) and key not in self._stirred):
            return None
        if self._granted.get(at) == key:
            return 1, *age
        return (2 if job.status.get("phase") in _STARTED else 3), *age


def _is_final(job: streamjob.StreamJob) -> bool:
    return job.status.get("phase") in _AT_REST and job.status.get("observedGeneration") == job.generation
