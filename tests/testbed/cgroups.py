"""Groups of processes: what belongs to the testbed, how much CPU it gets, whether it stands still.

All of them live under one group, `sluice`, so that nothing of ours is ever lost: what is in there is ours, whoever
started it. Works on the separate hierarchies of cgroup v1 and on the one of v2.
"""

import contextlib
import errno
import os
import pathlib
import signal
import time

from house import trouble

ROOT = pathlib.Path("/sys/fs/cgroup")
ALL = "sluice"
PODS = "kubepods"  # kubelet makes it below its node's own, beside `system` with kubelet itself
_NEEDED = ("cpu", "cpuset", "memory", "pids")
_PERIOD_US = 20_000  # short, so that a slowed node stutters less than a batch is long
_KILL_DEADLINE_S = 20.0


def unified() -> bool:
    """Whether this machine has cgroup v2 alone."""
    return (ROOT / "cgroup.controllers").exists()


def hierarchies() -> list[pathlib.Path]:
    """The mount points a group must exist in: one on v2, one per controller on v1."""
    if unified():
        return [ROOT]
    return sorted(
        {path.resolve() for path in ROOT.iterdir() if (path / "cgroup.procs").exists() and path.name != "unified"}
    )


def missing() -> list[str]:
    """The controllers the testbed needs and this machine lacks."""
    if unified():
        have = set((ROOT / "cgroup.controllers").read_text().split())
    else:
        have = {path.name for path in ROOT.iterdir() if (path / "cgroup.procs").exists()} if ROOT.exists() else set()
        have -= set() if "freezer" in have else set(_NEEDED)  # v1 freezes by a controller, v2 without
    return [name for name in _NEEDED if name not in have]


def make(group: str) -> None:
    """Makes `sluice/<group>` and what is above it, ready to take processes."""
    for hierarchy in hierarchies():
        at = hierarchy
        for part in (ALL, *group.split("/")):
            if unified():
                (at / "cgroup.subtree_control").write_text(" ".join(f"+{name}" for name in _NEEDED))
            at = at / part
            at.mkdir(exist_ok=True)
            _fill_cpuset(at)


def _fill_cpuset(at: pathlib.Path) -> None:
    # A v1 cpuset group refuses processes until it names cpus and mems, at each level.
    for name in ("cpuset.cpus", "cpuset.mems"):
        file = at / name
        if not unified() and file.exists() and not file.read_text().strip():
            file.write_text((at.parent / name).read_text())


def entry_files(group: str) -> list[pathlib.Path]:
    """The files a process writes its pid to, to be in the group."""
    return [hierarchy / ALL / group / "cgroup.procs" for hierarchy in hierarchies()]


def exists(group: str) -> bool:
    """Whether somebody has made it: a node's pods have one once its kubelet has begun, the control plane has none."""
    return all(file.exists() for file in entry_files(group))


def processes(group: str = "") -> list[int]:
    """The pids of all that is in a group or below it."""
    pids: set[int] = set()
    for hierarchy in hierarchies():
        for file in (hierarchy / ALL / group).rglob("cgroup.procs"):
            with contextlib.suppress(OSError):  # the group went while we looked
                pids.update(map(int, file.read_text().split()))
    return sorted(pids)


def kill(group: str = "") -> None:
    """Ends all processes of a group and removes it; returns when it is gone."""
    deadline_s = time.monotonic() + _KILL_DEADLINE_S
    _thaw_all(group)  # a frozen process does not even die
    while left := processes(group):
        for pid in left:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        if time.monotonic() > deadline_s:
            raise trouble.Trouble(f"processes {left} of group {ALL}/{group} do not end within {_KILL_DEADLINE_S:.0f} s")
        time.sleep(0.02)
    for hierarchy in hierarchies():
        _remove(hierarchy / ALL / group, deadline_s)


def _thaw_all(group: str) -> None:
    at = ROOT / ("" if unified() else "freezer") / ALL / group
    below = [path.name for path in at.iterdir() if path.is_dir()] if at.exists() and not group else []
    for name in [group, *below]:
        freeze(name, frozen=False)


def _remove(top: pathlib.Path, deadline_s: float) -> None:
    if not top.exists():
        return
    for directory in [*sorted((path for path in top.rglob("*") if path.is_dir()), reverse=True), top]:
        while True:
            try:
                directory.rmdir()
                break
            except FileNotFoundError:
                break
            except OSError as why:  # EBUSY for a moment after its last process ended
                if why.errno != errno.EBUSY or time.monotonic() > deadline_s:
                    raise
                time.sleep(0.02)


def freeze(group: str, *, frozen: bool) -> None:
    """Stops or continues all processes of a group at once."""
    if unified():
        file, value = ROOT / ALL / group / "cgroup.freeze", "1" if frozen else "0"
    else:
        file, value = ROOT / "freezer" / ALL / group / "freezer.state", "FROZEN" if frozen else "THAWED"
    if file.exists():
        file.write_text(value)


def frozen(group: str) -> bool:
    """Whether a group stands still."""
    if unified():
        return (ROOT / ALL / group / "cgroup.freeze").read_text().strip() == "1"
    return (ROOT / "freezer" / ALL / group / "freezer.state").read_text().strip() != "THAWED"


def limit_cpu(group: str, cores: float | None) -> None:
    """Gives a group so many cores at most; None lifts the limit."""
    quota_us = -1 if cores is None else max(1_000, round(cores * _PERIOD_US))
    if unified():
        (ROOT / ALL / group / "cpu.max").write_text(f"{'max' if quota_us < 0 else quota_us} {_PERIOD_US}")
    else:
        (ROOT / "cpu" / ALL / group / "cpu.cfs_period_us").write_text(str(_PERIOD_US))
        (ROOT / "cpu" / ALL / group / "cpu.cfs_quota_us").write_text(str(quota_us))


def cpu_limit(group: str) -> float | None:
    """The limit of a group in cores, or None."""
    if unified():
        quota, period = (ROOT / ALL / group / "cpu.max").read_text().split()
        return None if quota == "max" else int(quota) / int(period)
    quota_us = int((ROOT / "cpu" / ALL / group / "cpu.cfs_quota_us").read_text())
    return None if quota_us < 0 else quota_us / int((ROOT / "cpu" / ALL / group / "cpu.cfs_period_us").read_text())


def cpu_used_s(group: str) -> float:
    """The CPU time a group has used so far."""
    if unified():
        stat = dict(line.split() for line in (ROOT / ALL / group / "cpu.stat").read_text().splitlines())
        return int(stat["usage_usec"]) / 1e6
    return int((ROOT / "cpuacct" / ALL / group / "cpuacct.usage").read_text()) / 1e9


def memory_bytes(group: str = "") -> int:
    """What the processes of a group hold: their own pages and shared memory, without the file cache."""
    at = ROOT / ("" if unified() else "memory") / ALL / group
    stat = dict(line.split() for line in (at / "memory.stat").read_text().splitlines())
    keys = ("anon", "shmem", "kernel") if unified() else ("total_rss", "total_shmem")
    kernel = 0 if unified() else int((at / "memory.kmem.usage_in_bytes").read_text())
    return sum(int(stat.get(key, 0)) for key in keys) + kernel
