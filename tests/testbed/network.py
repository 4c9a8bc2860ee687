"""The wires: a switch in a box of its own, every other box on one of its ports, and a route to each node's pods.

The host takes no part: no link, address, route or rule of it changes. Links live in the switch, so shaping and cutting
are done there, and a box that dies takes its wire along.
"""

import dataclasses
import subprocess

from house import trouble
from testbed import box

SWITCH, CONTROL = "switch", "control"
_SWITCH_ADDRESS = "10.77.0.254"
CONTROL_ADDRESS = "10.77.0.1"
SERVICE_RANGE = "10.96.0.0/16"
POD_RANGE = "10.244.0.0/16"
BRIDGE = "br0"
MOST_NODES = 9
NODE_NAMES = tuple(f"node{n}" for n in range(1, MOST_NODES + 1))


@dataclasses.dataclass(frozen=True)
class Network:
    """How each box is wired to the switch. Routes for all possible nodes are there from the start."""

    switch: box.Box

    def wire_switch(self, pid: int) -> None:
        """Makes the switch itself; it can reach pods and services, for the forwarders that live in it."""
        lines = ["link set lo up", f"link add {BRIDGE} type bridge", f"addr add {_SWITCH_ADDRESS}/24 dev {BRIDGE}"]
        lines += [f"link set {BRIDGE} up", f"route add {SERVICE_RANGE} via {CONTROL_ADDRESS}"]
        _ip(pid, lines + _pod_routes(SWITCH))

    def wire(self, name: str, pid: int) -> None:
        """Plugs a box into the switch and gives it its address and routes."""
        switch_pid = self.switch.pid()
        if switch_pid is None:
            raise trouble.Trouble(f"cannot wire {name}: the switch is not running; `make cluster` repairs it")
        port = port_of(name)
        add = [f"link add {port} type veth peer name eth0 netns {pid}", f"link set {port} master {BRIDGE} up"]
        _ip(switch_pid, add)
        lines = ["link set lo up", f"addr add {address(name)}/24 dev eth0", "link set eth0 up"]
        if name != CONTROL:
            lines.append(f"route add default via {CONTROL_ADDRESS}")
        _ip(pid, lines + _pod_routes(name))


def _pod_routes(name: str) -> list[str]:
    return [f"route add {pod_range(other)} via {address(other)}" for other in NODE_NAMES if other != name]


def address(name: str) -> str:
    """The address of a box."""
    fixed = {SWITCH: _SWITCH_ADDRESS, CONTROL: CONTROL_ADDRESS}
    return fixed.get(name) or f"10.77.0.{10 + number(name)}"


def number(node: str) -> int:
    """node3 → 3."""
    return int(node.removeprefix("node"))


def pod_range(node: str) -> str:
    """The addresses of a node's pods."""
    return f"10.244.{number(node)}.0/24"


def port_of(name: str) -> str:
    """The switch's port of a box."""
    return f"to-{name}"


def _ip(pid: int, lines: list[str]) -> None:
    done = subprocess.run(
        ["nsenter", "-t", str(pid), "-n", "--", "ip", "-batch", "-"],
        input="\n".join(lines),
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        raise trouble.Trouble(f"the network refused: {done.stderr.strip()} (asked: {'; '.join(lines)})")
