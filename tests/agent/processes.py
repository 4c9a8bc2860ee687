"""The agent as a process, told by its environment as the operator tells it."""

import os
import pathlib
import subprocess
import sys

from agent import fake_api
from house import paths

ENVIRONMENT = {
    "SLUICE_JOB": "clicks",
    "SLUICE_NAMESPACE": "shop",
    "SLUICE_GATE": fake_api.GATE,
    "SLUICE_EXECUTORS": "sluice.dev/job=clicks,sluice.dev/role=executor",
    "SLUICE_GATE_TIMEOUT_S": "30",
}

_PATH = os.pathsep.join(str(paths.ROOT / root) for root in ("images/agent", "policies"))


def python(code: str) -> subprocess.CompletedProcess[str]:
    """Code that knows the agent's modules, run to its end."""
    env = {**os.environ, "PYTHONPATH": _PATH}
    return subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True, check=False)


def start(server: str, account: pathlib.Path, **environment: str) -> subprocess.Popen[str]:
    """A new one; what it says is in its stdout."""
    words = [sys.executable, "-u", "-m", "sluice_agent", "--server", server, "--account", str(account)]
    env = {**ENVIRONMENT, **environment, "PYTHONPATH": _PATH}
    return subprocess.Popen(words, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
