"""Whether this machine can carry the testbed: who we are, what the kernel can do, how much room there is.

Asked first by every verb that changes something, so that what cannot work says so in a sentence and leaves nothing.
"""

import os
import pathlib
import platform
import shutil
import socket
import subprocess

from house import install, paths, stages, trouble
from testbed import binaries, box, cgroups, images, versions

_HIDDEN_IN_BOXES = ("/run", "/tmp", "/var/lib", "/var/log")
_COLD_ROOM_GIB, _WARM_ROOM_GIB = 25, 3
_MEMORY_GIB = 6
_PROBES = {
    "network namespaces": "true",
    "bridges (CONFIG_BRIDGE)": "ip link add probe type bridge",
    "virtual wires (CONFIG_VETH)": "ip link add probe type veth peer name other",
    "link shaping (CONFIG_NET_SCH_TBF)": "tc qdisc add dev lo root tbf rate 1mbit burst 64kb latency 50ms",
    "address translation (iptables)": "iptables -t nat -A POSTROUTING -m comment --comment probe -j MASQUERADE",
}
"""What the kernel must be able to do, each tried in a network namespace that is gone with the try."""


def reason_against() -> str | None:
    """Why the testbed cannot run here at all, or None."""
    if platform.system() != "Linux":
        return f"the testbed needs Linux; this is {platform.system()}"
    if os.geteuid() != 0:
        return f"the testbed needs root, for namespaces and cgroups; this is user {os.geteuid()}. Try `sudo -E make …`"
    return None


def check(desk: stages.Desk) -> None:
    """Raises Trouble with one sentence when something is missing."""
    if reason := reason_against():
        raise trouble.Trouble(reason)
    if missing := cgroups.missing():
        raise trouble.Trouble(f"the kernel has no cgroup controller {', '.join(missing)} at {cgroups.ROOT}")
    _check_seen_in_boxes(f"the cache {paths.CACHE}", paths.CACHE.resolve(), "set SLUICE_CACHE")
    _check_seen_in_boxes(f"Python {box.PYTHON}", box.PYTHON, "take another by `make PYTHON=…`")
    if "overlay" not in pathlib.Path("/proc/filesystems").read_text():
        raise trouble.Trouble("the kernel has no overlay filesystem (CONFIG_OVERLAY_FS)")
    _check_room(desk)


def _check_seen_in_boxes(what: str, at: pathlib.Path, cure: str) -> None:
    if hidden := [folder for folder in _HIDDEN_IN_BOXES if pathlib.Path(folder) in at.parents]:
        raise trouble.Trouble(f"{what} is below {hidden[0]}, which nodes have their own of; {cure}")


def _check_room(desk: stages.Desk) -> None:
    warm = all(program.built() for program in binaries.ALL) and all(image.built() for image in images.ALL)
    paths.CACHE.mkdir(parents=True, exist_ok=True)
    free_gib = shutil.disk_usage(paths.CACHE).free / 2**30
    needed_gib = _WARM_ROOM_GIB if warm else _COLD_ROOM_GIB
    if free_gib < needed_gib:
        raise trouble.Trouble(f"{paths.CACHE} has {free_gib:.1f} GiB free; needed are {needed_gib} GiB")
    memory_gib = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    if memory_gib < _MEMORY_GIB:
        raise trouble.Trouble(f"this machine has {memory_gib:.1f} GiB of memory; needed are {_MEMORY_GIB} GiB")
    desk.say(f"{os.cpu_count()} cores, {memory_gib:.0f} GiB memory, {free_gib:.0f} GiB free")


def check_kernel(_: stages.Desk) -> None:
    """Tries what the network needs, now that the tools are there."""
    for name, probe in _PROBES.items():
        done = subprocess.run(["unshare", "-n", "sh", "-ec", probe], capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise trouble.Trouble(f"the kernel lacks {name}: `{probe}` said {done.stderr.strip()!r}")


def packages_installed() -> bool:
    """Whether all Debian packages are there."""
    return not install.missing_packages(versions.PACKAGES)


def install_packages(desk: stages.Desk) -> None:
    """Installs the missing ones."""
    install.packages(desk, versions.PACKAGES)


def listen(port: int, purpose: str) -> socket.socket:
    """A listening socket on the host's loopback; a taken port says whose it should be."""
    listener = socket.socket()
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind(("127.0.0.1", port))
    except OSError as why:
        listener.close()
        raise trouble.Trouble(
            f"port {port} of 127.0.0.1, needed for {purpose}, is taken ({why.strerror}); end what has it"
        ) from why
    listener.listen(512)
    return listener
