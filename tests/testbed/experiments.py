"""Breaks the cluster on purpose: slow, shape, freeze, cut, kill, and the way back from each.

Every verb says what it did in one line; each is undone by its twin or by `full`.
"""

import re
import subprocess

from house import trouble
from testbed import box, cgroups, network

_LIFT = "full"
_SHAPING_BURST = "64kb"
_SHAPING_WAIT = "50ms"
_UNITS_BIT = {"kbit": 1_000, "mbit": 1_000_000, "gbit": 1_000_000_000}


def slow(machine: box.Box, share: str) -> str:
    """Gives the pods of a node so much of one core (`20%`), or all they can get (`full`); its daemons stay quick."""
    machine.inside()
    pods = f"{machine.name}/{cgroups.PODS}"
    if not cgroups.exists(pods):
        raise trouble.Trouble(f"box is {machine.name!r}, which has no pods; allowed are nodes whose kubelet has begun")
    if share == _LIFT:
        cgroups.limit_cpu(pods, None)
        return f"the pods of {machine.name} get all the CPU there is"
    match = re.fullmatch(r"(\d+(?:\.\d+)?)%", share)
    if match is None or not 5 <= float(match[1]) <= 6400:
        raise trouble.Trouble(f"share is {share!r}; allowed are 5% to 6400% (of one core) and `{_LIFT}`")
    cgroups.limit_cpu(pods, float(match[1]) / 100)
    return f"the pods of {machine.name} get {share} of one core; `slow {machine.name} {_LIFT}` lifts it"


def link(switch: box.Box, machine: box.Box, rate: str) -> str:
    """Shapes what a node sends and what it receives to a rate (`50mbit`), or lifts that (`full`)."""
    machine.inside()
    match = re.fullmatch(r"(\d+)(kbit|mbit|gbit)", rate)
    if rate != _LIFT and (match is None or int(match[1]) * _UNITS_BIT[match[2]] < 64_000):
        raise trouble.Trouble(
            f"rate is {rate!r}; allowed are 64kbit and more, as in 500kbit, 50mbit, 1gbit, and `{_LIFT}`"
        )
    ends = [(switch.inside("-n"), network.port_of(machine.name)), (machine.inside("-n"), "eth0")]
    for inside, device in ends:
        _tc([*inside, "tc", "qdisc", "del", "dev", device, "root"], may_fail=True)
        if rate != _LIFT:
            shape = ["tbf", "rate", rate, "burst", _SHAPING_BURST, "latency", _SHAPING_WAIT]
            _tc([*inside, "tc", "qdisc", "add", "dev", device, "root", *shape])
    if rate == _LIFT:
        return f"the link of {machine.name} is as fast as it can be"
    return f"the link of {machine.name} carries {rate} each way; `link {machine.name} {_LIFT}` lifts it"


def _tc(command: list[str], *, may_fail: bool = False) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0 and not may_fail:
        raise trouble.Trouble(f"`{' '.join(command[-12:])}` was refused: {done.stderr.strip()}")


def freeze(machine: box.Box) -> str:
    """Stops all processes of a node, pods included, where they stand."""
    machine.inside()
    cgroups.freeze(machine.name, frozen=True)
    return f"{machine.name} stands still, pods and all; `thaw {machine.name}` lets it go on"


def thaw(machine: box.Box) -> str:
    """Lets a frozen node go on."""
    machine.inside()
    cgroups.freeze(machine.name, frozen=False)
    return f"{machine.name} goes on"


def cut(switch: box.Box, machine: box.Box) -> str:
    """Unplugs a node from the switch: nothing arrives, nothing is refused, as in a partition."""
    machine.inside()
    _port(switch, machine, "nomaster")
    return f"{machine.name} is cut off from everything; `heal {machine.name}` plugs it in again"


def heal(switch: box.Box, machine: box.Box) -> str:
    """Plugs a node in again."""
    machine.inside()
    _port(switch, machine, "master", network.BRIDGE)
    return f"{machine.name} is plugged in"


def _port(switch: box.Box, machine: box.Box, *words: str) -> None:
    command = [*switch.inside("-n"), "ip", "link", "set", network.port_of(machine.name), *words]
    subprocess.run(command, check=True, capture_output=True)
