"""The whole vocabulary between plan and act. What must come before what is written at each step."""

import dataclasses

from sluice.values.streamjob import Body


@dataclasses.dataclass(frozen=True)
class RecordStatus:
    """Says in the StreamJob's status what was seen and is about to be done. After: nothing. Before: all other steps."""

    namespace: str
    name: str
    uid: str
    resource_version: str  # the status this patch was made for; another one in between is a conflict
    patch: Body  # a JSON merge patch of `status`


@dataclasses.dataclass(frozen=True)
class Create:
    """Makes an object. After: RecordStatus. Before: whatever names it (the driver comes after what it mounts).

    One that is there already is fine if it is our own: same controller, or no controller and our label.
    """

    manifest: Body
    renew: bool = False  # apply this manifest to the one that is there; else leave that as it is


@dataclasses.dataclass(frozen=True)
class Try:
    """Asks whether an object would be taken, and makes none. After: nothing. Before: the driver that would make it."""

    manifest: Body


@dataclasses.dataclass(frozen=True)
class Delete:
    """Takes exactly this object away. After: RecordStatus. One that is gone, or another of its name, is fine."""

    kind: str
    namespace: str
    name: str
    uid: str
    grace_s: int | None = None  # None: the pod's own


@dataclasses.dataclass(frozen=True)
class PatchPod:
    """Changes exactly this version of a pod: node affinity, gate and reason together. After: nothing.

    Gone, or changed since: the next cycle sees it anew.
    """

    namespace: str
    name: str
    uid: str
    resource_version: str
    patch: Body  # a JSON merge patch


@dataclasses.dataclass(frozen=True)
class Tell:
    """A Kubernetes event about a StreamJob. After: nothing. Before: what it tells of. A lost one stops nothing."""

    namespace: str
    name: str
    uid: str
    warning: bool
    reason: str  # CamelCase
    message: str


Step = RecordStatus | Create | Try | Delete | PatchPod | Tell


@dataclasses.dataclass(frozen=True)
class Steps:
    """Stages one after another, the steps of a stage side by side; the first that fails ends it."""

    stages: tuple[tuple[Step, ...], ...] = ()
    look_again_s: float | None = None  # when to look even if nothing wakes the cycle
