"""An isolated machine: processes, network, mounts and host name of its own, in a cgroup of its own.

Who makes one: :mod:`testbed.cluster`. What runs in it is said by daemons (:mod:`testbed.control_plane`,
:mod:`testbed.node`); :mod:`testbed.box_init` is its process 1. A box has no part that outlives its processes: kill
them, and namespaces, mounts and links are gone.
"""

import dataclasses
import json
import pathlib
import shlex
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Sequence

from house import paths, trouble
from testbed import box_init, cgroups

_START_DEADLINE_S = 20.0
_OWN_DIRECTORIES = {"/var/lib": "lib", "/var/log": "log"}
_FRESH_DIRECTORIES = ("/run", "/tmp")
# A clone may lie below /tmp: a box does not see the link in its .venv, but what that leads to.
PYTHON = pathlib.Path(sys.executable).resolve()


@dataclasses.dataclass(frozen=True)
class Daemon:
    """A program that a box keeps running."""

    name: str
    command: tuple[str, ...]
    env: dict[str, str] = dataclasses.field(default_factory=dict)
    wait_for: str = ""
    """A path inside the box that must exist before it starts."""
    pass_fds: tuple[int, ...] = ()


@dataclasses.dataclass(frozen=True)
class Box:
    """One box by name; its directory holds what it keeps over a restart (disk) and its logs."""

    name: str
    directory: pathlib.Path

    @property
    def lib(self) -> pathlib.Path:
        """What the box sees as /var/lib."""
        return self.directory / "lib"

    @property
    def logs(self) -> pathlib.Path:
        """What its daemons say."""
        return self.directory / "daemons"

    def pid(self) -> int | None:
        """The host's pid of the box's process 1, or None when it is not up."""
        file = self.directory / "pid"
        if not file.exists():
            return None
        pid, born = file.read_text().split()
        return int(pid) if _born(int(pid)) == born else None

    def inside(self, *namespaces: str) -> tuple[str, ...]:
        """The words to put before a command, to run it in the box; by default in all its namespaces."""
        pid = self.pid()
        if pid is None:
            raise trouble.Trouble(f"{self.name} is not running; `python -m testbed start {self.name}` starts it")
        return ("nsenter", "-t", str(pid), *(namespaces or ("-m", "-n", "-p", "-u", "-i")), "--")

    def boot(
        self,
        daemons: Sequence[Daemon],
        wire: Callable[[int], None],
        sysctls: dict[str, str],
        borrowed: dict[str, str] | None = None,
    ) -> None:
        """Starts the box; `wire` is called with its pid before its daemons start. Cut short, it leaves no box.

        `borrowed` are folders of the host that it sees, read-only, at a path of its own.
        """
        self.kill()
        cgroups.make(f"{self.name}/system")
        description = self._describe(daemons, sysctls, borrowed or {})
        starter = self._launch(description, [fd for daemon in daemons for fd in daemon.pass_fds])
        pid = self._wait_for_init()
        (self.directory / "pid").write_text(f"{pid} {_born(pid)}")
        wire(pid)
        assert starter.stdin is not None
        starter.stdin.write(b"go\n")
        starter.stdin.close()
        starter.wait()  # it has handed over to the box, which is nobody's child

    def kill(self) -> None:
        """Ends the box like a power cut: its processes, mounts, links and cgroups are gone, its disk stays."""
        (self.directory / "pid").unlink(missing_ok=True)
        cgroups.kill(self.name)

    def remove(self) -> None:
        """Kills the box and throws its disk away."""
        self.kill()
        paths.remove(self.directory)

    def _describe(self, daemons: Sequence[Daemon], sysctls: dict[str, str], borrowed: dict[str, str]) -> pathlib.Path:
        self.logs.mkdir(parents=True, exist_ok=True)
        described = [{**dataclasses.asdict(d), "log": str(self.logs / f"{d.name}.log")} for d in daemons]
        own = {inside: str(self.directory / name) for inside, name in _OWN_DIRECTORIES.items()}
        file = self.directory / "box.json"
        file.write_text(
            json.dumps(
                {
                    "name": self.name,
                    "fresh": _FRESH_DIRECTORIES,
                    "own": own,
                    "borrowed": borrowed,
                    "sysctls": sysctls,
                    "daemons": described,
                }
            )
        )
        return file

    def _launch(self, description: pathlib.Path, fds: list[int]) -> "subprocess.Popen[bytes]":
        files = " ".join(shlex.quote(str(file)) for file in cgroups.entry_files(f"{self.name}/system"))
        enter = f'echo $$ | tee {files} >/dev/null; exec "$@"'
        unshare = "unshare --fork --pid --mount --net --uts --ipc --mount-proc --propagation private".split()
        init = (str(PYTHON), own_copy(box_init.__file__, self.directory), str(description))
        with (self.logs / "init.log").open("ab") as log:
            return subprocess.Popen(
                ["sh", "-ec", enter, "sh", "setsid", "--fork", *unshare, *init],
                stdin=subprocess.PIPE,
                stdout=log,
                stderr=log,
                env={"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "LANG": "C.UTF-8"},
                cwd="/",
                pass_fds=fds,
            )

    def _wait_for_init(self) -> int:
        deadline_s = time.monotonic() + _START_DEADLINE_S
        while time.monotonic() < deadline_s:
            for pid in cgroups.processes(self.name):
                if _is_init(pid):
                    return pid
            time.sleep(0.01)
        raise trouble.Trouble(f"box {self.name} does not start; see {self.logs / 'init.log'}")


def own_copy(script: str, directory: pathlib.Path) -> str:
    """A script of ours where a box finds it: the tree may lie below a folder that boxes have their own of."""
    return str(shutil.copy(script, str(directory)))


def _born(pid: int) -> str | None:
    """The start time of a process in clock ticks; with the pid it names one process for ever."""
    try:
        stat = pathlib.Path(f"/proc/{pid}/stat").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return None
    fields = stat.rpartition(")")[2].split()
    return None if fields[0] == "Z" else fields[19]


def _is_init(pid: int) -> bool:
    """Whether a process is number 1 in a process namespace of its own, and already the program we asked for."""
    try:
        status = pathlib.Path(f"/proc/{pid}/status").read_text()
        command = pathlib.Path(f"/proc/{pid}/cmdline").read_bytes()
    except (FileNotFoundError, ProcessLookupError):
        return False
    numbers = next(line for line in status.splitlines() if line.startswith("NSpid:")).split()[1:]
    return len(numbers) > 1 and numbers[-1] == "1" and b"box_init.py" in command
