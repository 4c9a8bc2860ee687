"""What a machine looks like from outside the testbed: for showing that `down` leaves it as `up` found it."""

import pathlib
import subprocess

from testbed import addons, cluster

_FOLDERS = ("/run", "/var/lib", "/var/log", "/etc/cni", "/opt")
_TALKS = {
    "links": "ip -o link show",
    "addresses": "ip -o addr show",
    "routes": "ip route show table all",
    "rules": "ip rule show",
    "address translation": "iptables-save",
}
_PROGRAMS = ("etcd", "kube-apiserver", "kubelet", "kube-proxy", "containerd", "containerd-shim", "kwok", "kube")
_LOOKED_AT = ("net.ipv4.ip_forward", "net.ipv4.conf.all.forwarding", "kernel.panic", "vm.overcommit_memory")


def look() -> dict[str, set[str]]:
    """Everything the testbed could leave behind, by kind."""
    seen = {kind: _said(command) for kind, command in _TALKS.items()}
    seen["mounts"] = {line.split(" ", 3)[3] for line in pathlib.Path("/proc/self/mountinfo").read_text().splitlines()}
    seen["cgroups"] = {str(p) for p in pathlib.Path("/sys/fs/cgroup").glob("*/*") if p.is_dir()}
    seen["files"] = {str(path) for folder in _FOLDERS for path in pathlib.Path(folder).glob("*")}
    seen["sysctls"] = {f"{name}={_sysctl(name)}" for name in _LOOKED_AT}
    seen["listening"] = {line for line in _said("ss -Hltn") if any(f":{port} " in line for port in _ports())}
    seen["processes"] = {name for name in _processes() if name in _PROGRAMS}
    return seen


def left(before: dict[str, set[str]], after: dict[str, set[str]]) -> dict[str, set[str]]:
    """What differs, by kind; nothing where nothing does."""
    return {kind: after[kind] ^ before[kind] for kind in before if after[kind] != before[kind]}


def _said(command: str) -> set[str]:
    lines = subprocess.run(command.split(), capture_output=True, text=True, check=False).stdout.splitlines()
    return {line for line in lines if not line.startswith("#") and "expires" not in line and not line.startswith(":")}


def _ports() -> list[int]:
    return [cluster.API_PORT, *(port for port, _ in addons.FORWARDS.values())]


def _sysctl(name: str) -> str:
    return pathlib.Path("/proc/sys", *name.split(".")).read_text().strip()


def _processes() -> list[str]:
    names = []
    for file in pathlib.Path("/proc").glob("[0-9]*/comm"):
        try:
            names.append(file.read_text().strip())
        except (FileNotFoundError, ProcessLookupError):
            continue
    return names
