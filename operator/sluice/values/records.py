"""What observe keeps of pods, nodes and Leases: the few fields a decision is made of. Read by plan."""

import dataclasses
from collections.abc import Mapping

from sluice.values import names
from sluice.values.streamjob import Body


@dataclasses.dataclass(frozen=True, slots=True)
class Resources:
    """What a pod asks for, or a node has: a pod counts as one."""

    cpu_m: int = 0
    memory_bytes: int = 0
    pods: int = 0

    def __add__(self, other: "Resources") -> "Resources":
        """Both together."""
        return Resources(self.cpu_m + other.cpu_m, self.memory_bytes + other.memory_bytes, self.pods + other.pods)

    def __sub__(self, other: "Resources") -> "Resources":
        """What is left; may be below zero."""
        return Resources(self.cpu_m - other.cpu_m, self.memory_bytes - other.memory_bytes, self.pods - other.pods)

    def holds(self, other: "Resources") -> bool:
        """Whether the other fits into this."""
        return self.cpu_m >= other.cpu_m and self.memory_bytes >= other.memory_bytes and self.pods >= other.pods


@dataclasses.dataclass(frozen=True, slots=True)
class Ended:
    """How the main container of a pod ended."""

    exit_code: int
    reason: str = ""  # OOMKilled, Error, Completed, …
    message: str = ""  # its last words
    at_s: float = 0.0  # since 1970


@dataclasses.dataclass(frozen=True, slots=True)
class Wishes:
    """Where a gated pod may go, in its own words."""

    node_selector: Mapping[str, str] = dataclasses.field(default_factory=dict)
    affinity: Body = dataclasses.field(default_factory=dict)
    tolerations: tuple[Body, ...] = ()


@dataclasses.dataclass(frozen=True, slots=True)
class Pod:
    """A pod of ours, or one of others for what it occupies."""

    namespace: str
    name: str
    uid: str
    resource_version: str = ""
    labels: Mapping[str, str] = dataclasses.field(default_factory=dict)
    owner_uid: str = ""  # of its controller
    created_s: float = 0.0  # since 1970
    deleting: bool = False
    deleted_s: float = 0.0  # since 1970, when that was asked for
    phase: str = "Pending"
    reason: str = ""  # Evicted, NodeLost, … of the pod as a whole
    message: str = ""
    node: str = ""
    ip: str = ""  # of a driver
    requests: Resources = Resources(pods=1)
    gates: tuple[str, ...] = ()
    wishes: Wishes | None = None  # only while our gate holds it
    ready: bool = False
    ready_s: float = 0.0  # since 1970, since when
    waiting: str = ""  # ImagePullBackOff, CreateContainerConfigError, … of the first container that waits
    waiting_message: str = ""
    unschedulable: str = ""  # the scheduler's sentence
    bare_s: float = 0.0  # since 1970, since when it is on its node without its volumes; 0: it is not
    ended: Ended | None = None
    placed: str = ""  # the annotation `names.PLACED`

    @property
    def job(self) -> str:
        """The StreamJob it belongs to, or nothing."""
        return self.labels.get(names.JOB, "")

    @property
    def role(self) -> str:
        """`names.DRIVER`, `names.EXECUTOR`, or nothing."""
        return self.labels.get(names.ROLE, "")

    @property
    def gated(self) -> bool:
        """Whether it waits for us."""
        return names.GATE in self.gates

    @property
    def over(self) -> bool:
        """Whether nothing of it runs any more, nor will."""
        return self.phase in ("Succeeded", "Failed")


@dataclasses.dataclass(frozen=True, slots=True)
class Lease:
    """What says who runs a job, and outlives it."""

    namespace: str
    name: str
    uid: str


CORDON = "node.kubernetes.io/unschedulable"
_LOST = {"node.kubernetes.io/unreachable", "node.kubernetes.io/not-ready"}


@dataclasses.dataclass(frozen=True, slots=True)
class Taint:
    """What keeps pods off a node."""

    key: str
    value: str = ""
    effect: str = "NoSchedule"


@dataclasses.dataclass(frozen=True, slots=True)
class Node:
    """A machine."""

    name: str
    allocatable: Resources
    labels: Mapping[str, str] = dataclasses.field(default_factory=dict)
    taints: tuple[Taint, ...] = ()  # a cordon is one, too: the API server adds it
    ready: bool = True

    @property
    def lost(self) -> bool:
        """Whether nobody reaches it. It is not ready a moment before it is tainted: then pods are still sent there."""
        return not self.ready and any(taint.key in _LOST for taint in self.taints)

    @property
    def cordoned(self) -> bool:
        """Whether somebody wants nothing new there, and soon nothing at all."""
        return any(taint.key == CORDON for taint in self.taints)
