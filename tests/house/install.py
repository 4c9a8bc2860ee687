"""Installs what a target needs and this machine lacks: Debian packages, and the venv from its lock."""

import hashlib
import os
import pathlib
import subprocess
import sys
from collections.abc import Sequence

from house import paths, stages, trouble

_LOCK = paths.ROOT / "requirements" / "dev.txt"


def missing_packages(names: Sequence[str]) -> list[str]:
    """The Debian packages that are not installed."""
    command = ["dpkg-query", "-W", "-f", "${Package} ${db:Status-Status}\n", *names]
    try:
        said = subprocess.run(command, capture_output=True, text=True, check=False).stdout
    except FileNotFoundError:
        return list(names)
    have = {line.split()[0] for line in said.splitlines() if line.endswith(" installed")}
    return [name for name in names if name not in have]


def packages(desk: stages.Desk, names: Sequence[str]) -> None:
    """Installs the missing Debian packages; whoever may not is told which."""
    missing = missing_packages(names)
    if not missing:
        return
    if os.geteuid() != 0 or not pathlib.Path("/usr/bin/apt-get").exists():
        raise trouble.Trouble(f"these Debian packages are missing: {' '.join(missing)}. As root: apt-get install them")
    desk.say(f"installing {' '.join(missing)}")
    quiet = {"DEBIAN_FRONTEND": "noninteractive"}
    desk.shell.run("apt-get", "update", "-qq", env=quiet)
    desk.shell.run("apt-get", "install", "-y", "-qq", "--no-install-recommends", *missing, env=quiet)


def _venv() -> pathlib.Path:
    """The venv of this lock and this Python, outside the tree: a second clone finds it made."""
    text = f"{sys.version_info[:2]} {_LOCK.read_text()}"
    return paths.CACHE / "venv" / hashlib.sha256(text.encode()).hexdigest()[:12]


def venv_made() -> bool:
    """Whether the tree has its venv."""
    return (_venv() / "made").exists() and paths.VENV.exists() and paths.VENV.resolve() == _venv().resolve()


def make_venv(desk: stages.Desk) -> None:
    """Makes the venv from the lock, hashes checked, and points `.venv` at it."""
    at = _venv()
    if not (at / "made").exists():
        desk.shell.run(sys.executable, "-m", "venv", "--clear", at)
        desk.shell.run(at / "bin" / "pip", "install", "-q", "--require-hashes", "-r", _LOCK)
        (at / "made").touch()
    if paths.VENV.is_symlink() or paths.VENV.is_file():
        paths.VENV.unlink()
    elif paths.VENV.exists():
        raise trouble.Trouble(f"{paths.VENV} is a folder of your own; move it away, `make` puts a link there")
    paths.VENV.symlink_to(at)


def python() -> pathlib.Path:
    """The venv's Python where there is one, else the one that runs this."""
    inside = paths.VENV / "bin" / "python"
    return inside if inside.exists() else pathlib.Path(sys.executable)
