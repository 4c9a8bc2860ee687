"""The program `sluice` as a person calls it who has a kubeconfig. For the e2e tests."""

import os
import signal
import subprocess
import sys

from e2e import namespaces
from house import paths
from testbed import binaries, target


def says(kube: target.Target, *words: str) -> str:
    """What it prints when all goes well."""
    done = _run(kube, *words)
    assert done.returncode == 0, done.stderr
    return done.stdout


def refuses(kube: target.Target, *words: str) -> str:
    """The sentence it ends with when it does not."""
    done = _run(kube, *words)
    assert done.returncode != 0, done.stdout
    return done.stderr


def start(kube: target.Target, *words: str) -> "subprocess.Popen[str]":
    """One that goes on until :func:`end`."""
    return subprocess.Popen(
        _words(*words), env=_environment(kube), stdout=subprocess.PIPE, text=True, start_new_session=True
    )


def end(process: "subprocess.Popen[str]") -> None:
    """Ends it and what it started, as a terminal does that is closed."""
    os.killpg(process.pid, signal.SIGTERM)
    process.communicate()


def _run(kube: target.Target, *words: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(_words(*words), env=_environment(kube), capture_output=True, text=True, check=False)


def _words(*words: str) -> list[str]:
    return [sys.executable, "-m", "sluice", *words, "-n", namespaces.JOBS]


def _environment(kube: target.Target) -> dict[str, str]:
    path = os.pathsep.join((str(binaries.directory()), os.environ["PATH"]))
    return {**os.environ, "KUBECONFIG": str(kube.kubeconfig), "PYTHONPATH": paths.PYTHONPATH, "PATH": path}
