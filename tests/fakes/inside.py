"""The plugin and the agent in each driver, as far as orders and reports go: gates, drains, commits. Part of the world.

A batch takes no time. What is committed is one number for each job, as the checkpoint has it; who may write it is
watched: never two drivers at once.
"""

import dataclasses
import datetime
import json
from collections.abc import Callable
from typing import Any

from fakes import api
from sluice.values import names

Body = dict[str, Any]
_SAID = "agent.sluice.dev/"
_QUERY = "q-1"


@dataclasses.dataclass
class Driver:
    """One that runs."""

    name: str
    phase: str = "Starting"
    warm: bool = False
    first_s: float = 0.0
    committed: int = -1
    committed_s: float = 0.0
    problem: str = ""

    @property
    def writes(self) -> bool:
        """Whether it may commit."""
        return self.phase in ("Running", "Draining")


class Inside:
    """All drivers that have the plugin, by uid of their pods."""

    def __init__(self, kube: api.FakeApi, now_s: Callable[[], float]) -> None:
        self.never_warm: set[str] = set()  # drivers that hang at their start, by name
        self.never_quiet: set[str] = set()  # batches that do not end
        self.fails_at_gate: dict[str, str] = {}  # why, by driver
        self.fails_after: dict[str, str] = {}  # at their first batch
        self.slow: dict[str, int] = {}  # how long a batch takes, ms
        self.silent: set[str] = set()  # nodes that do not answer
        self.doubled: list[set[str]] = []  # drivers of one job that could write at the same time: never any
        self._kube, self._now_s = kube, now_s
        self._drivers: dict[str, Driver] = {}
        self._committed: dict[tuple[str, str], int] = {}

    def go_on(self, pod: Body, end: Callable[[Body, int], None]) -> bool:
        """Lets one driver do the next thing it is told; whether there was one."""
        if not _is_plugged(pod) or pod["status"]["phase"] != "Running":
            self._drivers.pop(pod["metadata"]["uid"], None)
            return False
        driver = self._drivers.setdefault(pod["metadata"]["uid"], Driver(pod["metadata"]["name"]))
        before = dataclasses.replace(driver)
        self._step(driver, pod, self._orders(pod))
        self._look_for_doubles(pod)
        if driver.phase == "Stopped" and before.phase == "Stopped":
            end(pod, 0)
            return True
        if driver == before:
            return False
        self._say(driver, pod)
        return True

    def _step(self, driver: Driver, pod: Body, told: Body) -> None:
        drain, key = told.get("drain"), _key(pod)
        if driver.phase == "Starting":
            driver.phase = "Waiting"
        elif driver.phase == "Waiting" and told.get("gate", {}).get("open"):
            driver.phase = "Running"
            self._fence_the_silent(key)
        elif driver.phase == "Waiting":
            driver.warm = (told.get("warmUp") or told.get("preload")) is True and driver.name not in self.never_warm
            driver.problem = self.fails_at_gate.get(driver.name, "")
        elif driver.phase == "Running" and drain:
            driver.phase = "Draining"
        elif driver.phase == "Running" and not driver.first_s:
            driver.problem = self.fails_after.get(driver.name, "")
            if not driver.problem:
                driver.committed = self._committed[key] = self._committed.get(key, -1) + 1
                driver.first_s = driver.committed_s = self._now_s()
        elif driver.phase == "Draining" and driver.name not in self.never_quiet:
            driver.phase = "Quiet"
        elif driver.phase in ("Draining", "Quiet") and not drain:
            driver.phase = "Running"
        elif driver.phase == "Quiet" and drain and drain["stop"]:
            driver.phase = "Stopped"

    def _fence_the_silent(self, key: tuple[str, str]) -> None:
        """Whoever is on a node that does not answer writes no more: another has taken its checkpoint."""
        for pod in self._kube.objects("Pod"):
            other = self._drivers.get(pod["metadata"]["uid"])
            if other and _key(pod) == key and pod["spec"].get("nodeName") in self.silent:
                other.phase = "Fenced"

    def stop(self, pod: Body) -> None:
        """As SIGTERM does: it drains by itself, and tells its last commit."""
        driver = self._drivers.get(pod["metadata"]["uid"])
        if driver and driver.phase in ("Running", "Draining", "Quiet") and driver.name not in self.never_quiet:
            driver.phase = "Stopped"
            self._say(driver, pod)

    def batches(self, job: tuple[str, str], count: int) -> None:
        """So many more are committed, by whoever runs; the numbers are told with the next word."""
        self._committed[job] = self._committed.get(job, -1) + count
        for driver in self._drivers.values():
            if driver.phase == "Running":
                pod = self._kube.get("Pod", job[0], driver.name)
                if _key(pod) == job:
                    driver.committed = self._committed[job]
                    self._say(driver, pod)

    def _say(self, driver: Driver, pod: Body) -> None:
        meta = pod["metadata"]
        query = {
            "id": _QUERY, "name": "clicks", "engine": "MicroBatch", "epoch": 1,
            "phase": "ended" if driver.problem else "gate" if driver.phase == "Waiting" else "running",
            "committed": driver.committed, "warm": driver.warm, "problem": driver.problem,
            "committedAtMs": round(driver.committed_s * 1000), "firstCommitAtMs": round(driver.first_s * 1000),
        }  # fmt: skip
        if driver.first_s:
            query |= {"batch": driver.committed, "batchMs": self.slow.get(driver.name, 200)}
        drains = {"Draining": "draining", "Quiet": "quiet", "Stopped": "stopped"}
        drain = {"id": self._orders(pod).get("drain", {}).get("id", ""), "state": drains.get(driver.phase, "none")}
        at = datetime.datetime.fromtimestamp(self._now_s(), datetime.UTC).isoformat()
        words = {"version": 1, "at": at, "phase": driver.phase, "drain": drain, "queries": [query]}
        said = {f"{_SAID}{driver.name}": json.dumps(words)}
        self._kube.change("Lease", meta["namespace"], _key(pod)[1], metadata={"annotations": said})

    def _orders(self, pod: Body) -> Body:
        found = self._kube.store.objects.get((names.PLURAL, *_key(pod)), {})
        told: Body = found.get("status", {}).get("orders", {}).get("drivers", {}).get(pod["metadata"]["name"], {})
        return told

    def _look_for_doubles(self, pod: Body) -> None:
        here = {body["metadata"]["uid"] for body in self._kube.objects("Pod") if _key(body) == _key(pod)}
        writing = {one.name for uid, one in self._drivers.items() if uid in here and one.writes}
        if len(writing) > 1:
            self.doubled.append(writing)


def _is_plugged(pod: Body) -> bool:
    return any(one["name"] == "sluice-plugin" for one in pod["spec"].get("initContainers", ()))


def _key(pod: Body) -> tuple[str, str]:
    return pod["metadata"]["namespace"], pod["metadata"].get("labels", {}).get(names.JOB, "")
