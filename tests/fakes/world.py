"""The scheduler, the kubelets, Spark and the garbage collector, as far as a StreamJob meets them. One thing at a time.

    world = world.World(kube)
    task = asyncio.create_task(world.turn())
    world.full.add("node1")                 # the scheduler finds no room there
    world.end(driver, exit_code=1)          # as its program would

Each thing takes a moment, and in between others have their turn: a run is the same whenever it is run.
"""

import asyncio
import collections
from collections.abc import Callable, Iterator
from typing import Any

from fakes import api, inside, spark
from sluice.plan import eligible
from sluice.values import names

Body = dict[str, Any]
_MOMENT_S = 0.2
_SWEEP_S = 20.0  # the garbage collector is in no hurry
_OVER = ("Succeeded", "Failed")
_NODES = ("node1", "node2", "node3")
_UNREACHABLE = {"key": "node.kubernetes.io/unreachable", "effect": "NoSchedule"}


class World:
    """What goes on in a cluster beside the operator."""

    def __init__(self, kube: api.FakeApi, nodes: tuple[str, ...] = _NODES) -> None:
        self.full: set[str] = set()  # nodes the scheduler finds no room on
        self.silent: set[str] = set()  # nodes whose kubelet does not answer; what runs there may still run
        self.for_one_node: set[str] = set()  # claims that are ReadWriteOnce
        self.broken: set[str] = set()  # images whose program ends as soon as it begins
        self.asleep = False  # nothing goes on
        self.inside: inside.Inside | None = None  # what goes on in drivers that have the plugin; none: they are silent
        self.doubled: list[set[str]] = []  # drivers of one job that could write at the same time: never any
        self._kube = kube
        self._begun = 1  # pods, with one that nobody is
        self._spark = spark.Spark(kube, self._let_go)
        kube.store.told.append(lambda _: self._look_for_doubles())
        for name in nodes:
            kube.put(_node(name))

    async def turn(self) -> None:
        """Until it is cancelled."""
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(self._sweep())
            tasks.create_task(self._go_on())

    def pods(self, role: str, job: str) -> list[Body]:
        """Pods of a job that are not over."""
        return [pod for pod in self._pods() if _label(pod, names.ROLE) == role and _label(pod, names.JOB) == job]

    def cordon(self, name: str, *, cordoned: bool = True) -> None:
        """As `kubectl cordon` and `uncordon`."""
        self._kube.change("Node", "", name, spec={"unschedulable": cordoned or None})

    def silence(self, name: str) -> None:
        """A node does not answer any more, and the cluster finds out."""
        self.silent.add(name)
        self._kube.change("Node", "", name, status={"conditions": [{"type": "Ready", "status": "Unknown"}]})
        self._kube.change("Node", "", name, spec={"taints": [_UNREACHABLE]})

    def hear(self, name: str) -> None:
        """It is back."""
        self.silent.discard(name)
        self._kube.change("Node", "", name, status={"conditions": [{"type": "Ready", "status": "True"}]})
        self._kube.change("Node", "", name, spec={"taints": None})

    def evict(self, name: str) -> bool:
        """As the eviction API: whether a pod is asked to end; a budget that has none to spare refuses."""
        pod = next(pod for pod in self._pods() if pod["metadata"]["name"] == name)
        budgets = list(self._budgets(pod))
        assert len(budgets) <= 1, "an eviction of a pod under two budgets is an error, not refused for a while"
        if _is_ready(pod) and not all(self._has_spare(budget) for budget in budgets):
            return False
        self._let_go(pod)
        return True

    def _budgets(self, pod: Body) -> Iterator[Body]:
        for budget in self._kube.objects("PodDisruptionBudget", pod["metadata"]["namespace"]):
            if eligible.matches(pod["metadata"]["labels"], budget["spec"]["selector"]):
                yield budget

    def lacks(self, budget: Body) -> bool:
        """Whether it wants more healthy pods than there are."""
        return self._healthy(budget) < int(budget["spec"]["minAvailable"])

    def _has_spare(self, budget: Body) -> bool:
        return self._healthy(budget) > int(budget["spec"]["minAvailable"])

    def _healthy(self, budget: Body) -> int:
        counted = (
            pod for pod in self._pods() if eligible.matches(pod["metadata"]["labels"], budget["spec"]["selector"])
        )
        return sum(_is_ready(pod) and not spark.leaves(pod) for pod in counted)

    def room(self, **most: int) -> None:
        """So many pods each of these nodes takes."""
        for name, pods in most.items():
            self._kube.change("Node", "", name, status={"allocatable": {"pods": str(pods)}})

    def end(self, pod: Body, exit_code: int, words: str = "") -> None:
        """The program in a pod ends by itself."""
        meta, main = pod["metadata"], pod["spec"]["containers"][0]["name"]
        ended = {"exitCode": exit_code, "reason": "Error", "message": words, "finishedAt": self._kube.store.stamp()}
        status = {
            "phase": "Failed" if exit_code else "Succeeded",
            "conditions": [{"type": "Ready", "status": "False"}],
            "containerStatuses": [{"name": main, "state": {"terminated": ended}}],
        }
        self._kube.change("Pod", meta["namespace"], meta["name"], status=status)

    async def _go_on(self) -> None:
        heard = self._kube.store.follow(self._kube.store.version, lambda _: True)
        try:
            while True:
                await asyncio.sleep(_MOMENT_S)
                if self.asleep or not self._do_one_thing():
                    await heard.get()
        finally:
            self._kube.store.leave(heard)

    async def _sweep(self) -> None:
        while True:
            await asyncio.sleep(_SWEEP_S)
            alive = {body["metadata"]["uid"] for body in self._kube.store.objects.values()}
            for body in list(self._kube.store.objects.values()):
                if not {owner["uid"] for owner in body["metadata"].get("ownerReferences", ())} <= alive:
                    self._let_go(body)

    def _let_go(self, body: Body) -> None:
        meta = body["metadata"]
        if body["kind"] == "Pod" and body["spec"].get("nodeName"):
            self._kube.change("Pod", meta["namespace"], meta["name"], metadata={"deletionTimestamp": "2027-01-01"})
        else:
            self._kube.remove(body["kind"], meta["namespace"], meta["name"])

    def _do_one_thing(self) -> bool:
        doers: tuple[Callable[[Body], bool], ...] = (
            self._schedule, self._run, self._stop, self._spark.go_on, self._talk,
        )  # fmt: skip
        pods = [pod for pod in self._pods(over=True) if pod["spec"].get("nodeName") not in self.silent]
        return any(do(pod) for do in doers for pod in pods)

    def _schedule(self, pod: Body) -> bool:
        """To where its affinity says, or anywhere; a pod that fits nowhere is told so once."""
        if pod["spec"].get("nodeName") or pod["spec"].get("schedulingGates"):
            return False
        asked = {
            name
            for term in eligible.terms(pod["spec"].get("affinity") or {})
            for field in term.get("matchFields", ())
            for name in field["values"]
        }
        fitting = [name for name in self._open() if name not in self.full and (not asked or name in asked)]
        said = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": "0/3 nodes: full"}
        return self._change(pod, spec={"nodeName": fitting[0]} if fitting else {}, conditions=[] if fitting else [said])

    def _open(self) -> list[str]:
        """Nodes that take one more, as their number of pods goes."""
        there = collections.Counter(pod["spec"].get("nodeName") for pod in self._pods())
        nodes = [node for node in self._kube.objects("Node") if not {"unschedulable", "taints"} & node["spec"].keys()]
        room = {node["metadata"]["name"]: int(node["status"]["allocatable"]["pods"]) for node in nodes}
        return [name for name, most in room.items() if there[name] < most]

    def _run(self, pod: Body) -> bool:
        if not pod["spec"].get("nodeName") or pod["status"]["phase"] != "Pending" or spark.leaves(pod):
            return False
        if self._is_held(pod):
            return self._leave_bare(pod)
        if pod["spec"]["containers"][0].get("image") in self.broken:
            self.end(pod, 1, "no such class")
            return True
        ready = {"type": "Ready", "status": "True", "lastTransitionTime": self._kube.store.stamp()}
        self._begun += 1
        address = f"127.0.{self._begun >> 8}.{self._begun & 255}"  # of this machine, and each pod has one of its own
        return self._change(pod, phase="Running", conditions=[ready], podIP=address)

    def _is_held(self, pod: Body) -> bool:
        """Whether a volume of it is attached to another node."""
        wanted = _claims(pod) & self.for_one_node
        elsewhere = (other for other in self._pods() if other["status"]["phase"] == "Running" and _apart(pod, other))
        return any(_claims(other) & wanted for other in elsewhere)

    def _leave_bare(self, pod: Body) -> bool:
        kind = "PodReadyToStartContainers"
        if any(one["type"] == kind for one in pod["status"].get("conditions", ())):
            return False
        bare = {"type": kind, "status": "False", "lastTransitionTime": self._kube.store.stamp()}
        return self._change(pod, conditions=[bare])

    def _stop(self, pod: Body) -> bool:
        """The kubelet says how it ended, then lets go of it."""
        if not spark.leaves(pod):
            return False
        if pod["status"]["phase"] in _OVER:
            self._kube.remove("Pod", pod["metadata"]["namespace"], pod["metadata"]["name"])
        else:
            if self.inside:
                self.inside.stop(pod)
            self.end(pod, 143)
        return True

    def _talk(self, pod: Body) -> bool:
        if self.inside is None or _label(pod, names.ROLE) != names.DRIVER:
            return False
        return self.inside.go_on(pod, self.end)

    def _change(self, pod: Body, spec: Body | None = None, **status: Any) -> bool:
        """Returns whether that made a difference."""
        before = self._kube.store.version
        self._kube.change("Pod", pod["metadata"]["namespace"], pod["metadata"]["name"], spec=spec or {}, status=status)
        return self._kube.store.version > before

    def _pods(self, *, over: bool = False) -> Iterator[Body]:
        for pod in self._kube.objects("Pod"):
            if over or pod["status"]["phase"] not in _OVER:
                yield pod

    def _look_for_doubles(self) -> None:
        if self.inside is not None:
            self.doubled = self.inside.doubled
            return
        living: dict[str, set[str]] = {}
        for at, body in self._kube.store.objects.items():
            if at[0] == "pods" and _label(body, names.ROLE) == names.DRIVER and body["status"]["phase"] not in _OVER:
                living.setdefault(_label(body, names.JOB), set()).add(body["metadata"]["name"])
        self.doubled += [drivers for drivers in living.values() if len(drivers) > 1]


def _node(name: str) -> Body:
    room = {"cpu": "8", "memory": "32Gi", "pods": "110"}
    status = {"allocatable": room, "conditions": [{"type": "Ready", "status": "True"}]}
    return {"kind": "Node", "metadata": {"name": name}, "spec": {}, "status": status}


def _claims(pod: Body) -> set[str]:
    found = (volume.get("persistentVolumeClaim") for volume in pod["spec"].get("volumes", ()))
    return {claim["claimName"] for claim in found if claim}


def _apart(one: Body, other: Body) -> bool:
    return bool(one["spec"].get("nodeName") != other["spec"].get("nodeName"))


def _is_ready(pod: Body) -> bool:
    return any(one["type"] == "Ready" and one["status"] == "True" for one in pod["status"].get("conditions", ()))


def _label(pod: Body, key: str) -> str:
    return str(pod["metadata"].get("labels", {}).get(key, ""))
