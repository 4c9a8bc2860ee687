"""The agent's image holds Python and these policies, nothing more."""

import subprocess
import sys

import pytest

from house import paths

_SMALL = ("lever", "latency", "timeout", "queueing", "hone", "simulate.slots", "simulate.batches", "simulate.tuples")


@pytest.mark.timeout(30)  # a fresh interpreter on a busy machine
@pytest.mark.parametrize("name", _SMALL)
def test_a_policy_of_the_agent_runs_on_the_standard_library_alone(name):
    """-I -S: no site-packages, no environment."""
    code = f"import sys; sys.path.insert(0, {str(paths.ROOT / 'policies')!r}); import sluice_policies.{name}"
    done = subprocess.run([sys.executable, "-I", "-S", "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
