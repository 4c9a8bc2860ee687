"""Breaks one container on purpose, as :mod:`testbed.experiments` breaks a node: killed, stopped, or cut off.

What takes time is looked up before, so that the blow itself takes milliseconds. A container that is gone by the time of
the way back needs none.
"""

import contextlib
import dataclasses
import json
import os
import signal
from collections.abc import Sequence
from typing import Any

from house import shell, trouble
from testbed import box, cgroups

_PODS = cgroups.PODS
_OF_CLASS = {"Guaranteed": _PODS, "Burstable": f"{_PODS}/burstable", "BestEffort": f"{_PODS}/besteffort"}
_DEVICE = "eth0"
_NO_ROOM = ("root", "pfifo", "limit", "0")  # of a queue: nothing passes, nothing is refused


@dataclasses.dataclass(frozen=True)
class Container:
    """One that runs on a node of the testbed."""

    machine: box.Box
    group: str  # of its processes

    def kill(self) -> None:
        """Ends all of its processes, as for want of memory."""
        self._send(signal.SIGKILL)

    def freeze(self) -> None:
        """Stops them where they stand."""
        self._send(signal.SIGSTOP)

    def thaw(self) -> None:
        """Lets them go on."""
        self._send(signal.SIGCONT)

    def _send(self, number: signal.Signals) -> None:
        for pid in cgroups.processes(self.group):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, number)

    def inside(self) -> tuple[str, ...]:
        """The words to put before a command, to run it in its pod's network; none once it is gone."""
        pids = cgroups.processes(self.group)
        return ("nsenter", "-t", str(pids[0]), "-n", "--") if pids else ()


@dataclasses.dataclass(frozen=True)
class Wire:
    """What links the pod of a container to its node."""

    container: Container
    device: str  # its end in the node

    @classmethod
    def of(cls, container: Container) -> "Wire":
        """Both ends, by the number that each has of the other."""
        inside = container.inside()
        if not inside:
            raise trouble.Trouble(f"no process is left of {container.group}, whose wire is looked for")
        (inner,) = _links(inside, _DEVICE)
        outer = {link["ifindex"]: link["ifname"] for link in _links(container.machine.inside("-n"))}
        return cls(container, outer[inner["link_index"]])

    def cut(self) -> None:
        """Nothing arrives, nothing leaves, nobody is told."""
        self._at_both_ends("add", *_NO_ROOM)

    def heal(self) -> None:
        """As it was."""
        try:
            self._at_both_ends("del", "root")
        except trouble.Trouble:
            if self.container.inside():  # else its pod went while we were at it, and the wire with it
                raise

    def _at_both_ends(self, verb: str, *words: str) -> None:
        if inside := self.container.inside():
            shell.read(*self.container.machine.inside("-n"), "tc", "qdisc", verb, "dev", self.device, *words)
            shell.read(*inside, "tc", "qdisc", verb, "dev", _DEVICE, *words)


def find(machine: box.Box, pod: dict[str, Any], name: str) -> Container | None:
    """A container by its pod as the API server tells it; None as long as it does not run."""
    status = pod.get("status", {})
    listed = [one for one in status.get("containerStatuses", ()) if one["name"] == name]
    if not listed or "running" not in listed[0]["state"]:
        return None
    number = listed[0]["containerID"].rpartition("/")[2]
    group = f"{machine.name}/{_OF_CLASS[status['qosClass']]}/pod{pod['metadata']['uid']}/{number}"
    return Container(machine, group)


def _links(inside: Sequence[str], *device: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(shell.read(*inside, "ip", "-json", "link", "show", *device))
    return found
