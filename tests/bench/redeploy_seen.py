"""What is seen of a job while it is changed: each of its statuses, however short it stood, and what it still waits for.

A step of a handover may last a tenth of a second, so the API server is watched and not asked.
"""

import json
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from demo import streamjobs
from house import trouble
from sluice.values import driver_state, handoff, names

Body = dict[str, Any]
_LOOK_S, _CALM_S = 0.5, 5.0  # a pod that was killed is told as running for a moment more
_FIRST_S = 30.0


class Watch:
    """The statuses of one job, from now on."""

    def __init__(self, job: streamjobs.Job) -> None:
        words = ("-n", job.namespace, "get", f"sj/{job.name}", "--watch", "-o", "json")
        self._told = job.kube.begin(*words)
        self._statuses: list[Body] = []
        self._is_over = False
        self._news = threading.Condition()
        self._reader = threading.Thread(target=self._read, daemon=True)

    def __enter__(self) -> "Watch":
        self._reader.start()
        if self.until(bool, _FIRST_S) is None:
            raise trouble.Trouble(f"kubectl has shown no status of the job within {_FIRST_S:.0f} s")
        return self

    def __exit__(self, *_: object) -> None:
        self._told.terminate()
        self._reader.join()
        self._told.communicate()

    def _read(self) -> None:
        assert self._told.stdout is not None
        try:
            for body in bodies(self._told.stdout):
                with self._news:
                    self._statuses.append(body.get("status", {}))
                    self._news.notify_all()
        finally:
            with self._news:
                self._is_over = True
                self._news.notify_all()

    def until(self, is_it: Callable[[Body], bool], patience_s: float) -> Body | None:
        """The first that is as wanted, of all that were seen; None when none comes in time."""
        looked_at, ends_s = 0, time.monotonic() + patience_s
        with self._news:
            while True:
                for status in self._statuses[looked_at:]:
                    if is_it(status):
                        return status
                looked_at, left_s = len(self._statuses), ends_s - time.monotonic()
                if self._is_over:
                    raise trouble.Trouble("`kubectl get --watch` of the job ended, and should not have")
                if left_s <= 0:
                    return None
                self._news.wait(left_s)

    @property
    def last(self) -> Body:
        """As it stands."""
        with self._news:
            return self._statuses[-1] if self._statuses else {}


def bodies(lines: Iterable[str]) -> Iterator[Body]:
    """The objects that kubectl prints one after another, each from one brace at the begin of a line to another."""
    held: list[str] = []
    for line in lines:
        held.append(line)
        if line.rstrip() == "}":
            yield json.loads("".join(held))
            held = []


def handoff_after(attempt: int, status: Body) -> handoff.Handoff:
    """The handover of a later attempt than that one; the empty one as long as there is none."""
    found = handoff.read(status)
    return found if found.attempt > attempt else handoff.Handoff()


def last_attempt(status: Body) -> int:
    """The highest number that was given to a driver."""
    return max(driver_state.read(status).attempt, handoff.read(status).attempt)


def is_at_gate(job: streamjobs.Job, pod: str) -> bool:
    """Whether a driver's queries wait at their gate, as its agent says: the operator may not have looked yet."""
    lease = job.kube.kubectl("-n", job.namespace, "get", f"lease/{names.lease(job.name)}", "-o", "json")
    words = json.loads(lease)["metadata"].get("annotations", {}).get(f"agent.sluice.dev/{pod}", "{}")
    phases = [one["phase"] for one in json.loads(words).get("queries", ())]
    return bool(phases) and set(phases) == {"gate"}


def restless(job: streamjobs.Job) -> str:
    """What a job still lacks to be one that runs at rest, by one driver, which holds its Lease; nothing if it is."""
    status = job.status()
    conditions = {one["type"]: one for one in status.get("conditions", ())}
    for kind, wanted in (("Ready", "True"), ("Progressing", "False")):
        if conditions.get(kind, {}).get("status") != wanted:
            return f"{kind} is not {wanted}: {conditions.get(kind, {}).get('message', '')}"
    idle = [one for one in status.get("queries", ()) if one["phase"] != "running"]
    if idle or not status.get("queries"):
        return f"{idle[0]['name']} is {idle[0]['phase']}" if idle else "no query is known"
    return _not_alone(job, status["driver"]["pod"])


def _not_alone(job: streamjobs.Job, driver: str) -> str:
    """Pods on their way out count, too: what runs in them may write."""
    of_job = ("-n", job.namespace, "get")
    selector = f"{names.JOB}={job.name},{names.ROLE}={names.DRIVER}"
    pods = json.loads(job.kube.kubectl(*of_job, "pods", "-l", selector, "-o", "json"))["items"]
    alive = sorted(pod["metadata"]["name"] for pod in pods if pod["status"]["phase"] not in ("Succeeded", "Failed"))
    if alive != [driver]:
        return f"drivers that live are {', '.join(alive) or 'none'}; {driver} runs the job"
    holder = job.kube.kubectl(*of_job, f"lease/{names.lease(job.name)}", "-o", "jsonpath={.spec.holderIdentity}")
    return "" if holder.rpartition("_")[0] == driver else f"the Lease is held by {holder!r}, and not by {driver}"


def rests_within(is_restless: Callable[[], str], patience_s: float) -> str:
    """What it was still short of when the time was over; nothing once it rests, and not just for a moment."""
    restless_s = time.monotonic()
    ends_s = restless_s + patience_s
    while True:
        why, now_s = is_restless(), time.monotonic()
        restless_s = now_s if why else restless_s
        if now_s > ends_s or now_s - restless_s > _CALM_S:
            return why
        time.sleep(_LOOK_S)
