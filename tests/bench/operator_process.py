"""The operator as a process of this machine: pinned to one CPU, measured, killed, frozen. And the API server's CPU."""

import asyncio
import contextlib
import dataclasses
import json
import os
import pathlib
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import AsyncIterator, Mapping

from house import paths, trouble
from testbed import cgroups, network

_START_S = 60.0
_END_S = 20.0
_TICKS = os.sysconf("SC_CLK_TCK")
_FIRST_PORT = 28_080
_DAEMONS = ("kube-apiserver", "etcd", "kube-controller-manager", "kube-scheduler", "kwok")


@dataclasses.dataclass(frozen=True)
class Start:
    """How an operator is started: several of one namespace are told apart by their number."""

    kubeconfig: pathlib.Path
    namespace: str
    number: int = 1
    settings: Mapping[str, str] = dataclasses.field(default_factory=dict)

    @property
    def port(self) -> int:
        """Where it answers."""
        return _FIRST_PORT + self.number

    def environment(self) -> dict[str, str]:
        """Of this process, plus what a chart would set."""
        return {
            **os.environ,
            "PYTHONPATH": os.pathsep.join(str(paths.ROOT / root) for root in ("operator", "policies")),
            "KUBECONFIG": str(self.kubeconfig),
            "SLUICE_NAMESPACES": self.namespace,
            "SLUICE_POD_NAME": f"operator-{self.number}",
            "SLUICE_POD_NAMESPACE": self.namespace,
            "SLUICE_HTTP_PORT": str(self.port),
            "SLUICE_LOG_LEVEL": "warning",
            **self.settings,
        }


@dataclasses.dataclass(frozen=True)
class Operator:
    """A running one."""

    pid: int
    port: int

    def cpu_s(self) -> float:
        """User and system time so far, of all its threads."""
        return cpu_s(self.pid)

    def rss_mib(self) -> float:
        """What it holds now."""
        return memory_mib(self.pid, "VmRSS")

    def highest_rss_mib(self) -> float:
        """The most it ever held."""
        return memory_mib(self.pid, "VmHWM")

    def send(self, number: signal.Signals) -> None:
        """SIGKILL, SIGSTOP, SIGCONT, SIGTERM."""
        os.kill(self.pid, number)

    def role(self) -> str:
        """`starts`, `waits` or `leads`, as it says itself; nothing while it does not answer."""
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/readyz", timeout=2) as answer:
                said = answer.read().decode()
        except (urllib.error.URLError, TimeoutError, ConnectionError):
            return ""
        return str(said.split()[-1])


def memory_mib(pid: int, field: str) -> float:
    """What the kernel says of a process's memory: VmRSS is what it holds now, VmHWM the most it ever held."""
    lines = pathlib.Path(f"/proc/{pid}/status").read_text().splitlines()
    return next(int(line.split()[1]) / 1024 for line in lines if line.startswith(field))


@contextlib.asynccontextmanager
async def running(start: Start, role: str = "leads") -> AsyncIterator[Operator]:
    """An operator on one CPU that has come to its role; ended, however the block ends."""
    log = paths.LOGS / f"bench-operator-{start.number}.log"
    process = _launch(start, log)
    try:
        made = Operator(process.pid, start.port)
        await _wait_for(process, made, role, log)
        yield made
    finally:
        await asyncio.to_thread(_end, process)


def _launch(start: Start, log: pathlib.Path) -> "subprocess.Popen[bytes]":
    log.parent.mkdir(parents=True, exist_ok=True)
    last_cpu = str(max(os.sched_getaffinity(0)))
    alone = "setpriv --pdeathsig KILL --".split()  # a bench that is killed leaves no operator behind
    with log.open("w") as out:
        return subprocess.Popen(
            (*alone, "taskset", "-c", last_cpu, sys.executable, "-m", "sluice"),
            env=start.environment(),
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=out,
        )


async def _wait_for(process: "subprocess.Popen[bytes]", made: Operator, role: str, log: pathlib.Path) -> None:
    end_s = time.monotonic() + _START_S
    while await asyncio.to_thread(made.role) != role:
        if process.poll() is not None or time.monotonic() > end_s:
            raise trouble.Trouble(f"the operator does not come to where it {role}; {log}:\n{_end_of(log)}")
        await asyncio.sleep(0.2)


def _end_of(log: pathlib.Path) -> str:
    return "\n".join(log.read_text().splitlines()[-15:])


def _end(process: "subprocess.Popen[bytes]") -> None:
    with contextlib.suppress(ProcessLookupError):
        process.send_signal(signal.SIGCONT)  # a frozen one hears nothing else
        process.terminate()
    try:
        process.wait(_END_S)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def cpu_s(pid: int) -> float:
    """User and system time of a process so far."""
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / _TICKS


def control_plane() -> dict[str, int]:
    """The daemons of the testbed's control box that work for every job, by name."""
    found = {}
    for pid in cgroups.processes(network.CONTROL):
        with contextlib.suppress(OSError):  # one that ended while we looked
            words = pathlib.Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
            found[pathlib.Path(words[0].decode()).name] = pid
    return {name: found[name] for name in _DAEMONS}


class Meter:
    """CPU seconds of an operator and of each daemon of the control plane, since the last reset."""

    def __init__(self, operator: Operator) -> None:
        self._pids = {"operator": operator.pid, **control_plane()}
        self.reset()

    def reset(self) -> None:
        """From here on."""
        self._began_s, self._before = time.monotonic(), self._now()

    def seconds(self) -> dict[str, float]:
        """CPU seconds until now."""
        return {name: now - self._before[name] for name, now in self._now().items()}

    def cores(self) -> dict[str, float]:
        """The same by the seconds that passed: how many cores each kept busy."""
        passed_s = time.monotonic() - self._began_s
        return {name: used_s / passed_s for name, used_s in self.seconds().items()}

    def _now(self) -> dict[str, float]:
        return {name: cpu_s(pid) for name, pid in self._pids.items()}


def plain_kubeconfig(server: str, name: str) -> pathlib.Path:
    """A kubeconfig for a server that asks nobody who they are."""
    file = paths.CACHE / "bench" / f"{name}.kubeconfig"
    file.parent.mkdir(parents=True, exist_ok=True)
    context = {"name": "bench", "context": {"cluster": "bench", "user": "bench"}}
    text = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": "bench", "cluster": {"server": server}}],
        "users": [{"name": "bench", "user": {}}],
        "contexts": [context],
        "current-context": "bench",
    }
    file.write_text(json.dumps(text))
    return file
