"""`pip install .`: what a user has who has no source tree."""

import importlib.metadata
import os
import re
import subprocess
import sys

import pytest

import sluice
from house import paths

pytestmark = pytest.mark.timeout(60)
_PIP = (sys.executable, "-m", "pip", "install", "-q", "--no-index", "--no-deps", "--no-build-isolation")
_HOMES = ("operator", "policies")


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """Where it is; what it needs itself is in our own environment."""
    target = tmp_path_factory.mktemp("installed")
    subprocess.run([*_PIP, "--no-compile", "--target", target, paths.ROOT], check=True)
    return target


def test_it_is_a_command_of_its_own_and_a_plugin_of_kubectl(installed):
    assert sorted(file.name for file in (installed / "bin").iterdir()) == ["kubectl-sluice", "sluice"]
    words = [installed / "bin" / "kubectl-sluice", "--version"]
    env = {**os.environ, "PYTHONPATH": str(installed)}
    done = subprocess.run(words, cwd=installed, env=env, capture_output=True, text=True, check=True)
    assert done.stdout == f"sluice {sluice.__version__}\n"


def test_every_module_of_ours_is_in_it_and_no_other(installed):
    homes = [paths.ROOT / home for home in _HOMES]
    assert modules(installed) == sorted(file for home in homes for file in modules(home))


def modules(home):
    return sorted(str(file.relative_to(home)) for file in home.rglob("*.py"))


def test_it_asks_for_what_the_operator_needs(installed):
    (found,) = importlib.metadata.distributions(name="sluice", path=[str(installed)])
    lines = (paths.ROOT / "requirements" / "operator.in").read_text().splitlines()
    assert found.requires == [line.split()[0] for line in lines if re.match(r"\w", line)]
    assert found.version == sluice.__version__
