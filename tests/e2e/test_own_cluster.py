"""A cluster of one's own: used only when asked for, and then the demo runs on it. The testbed plays that cluster."""

import os
import signal
import subprocess

import pytest

from house import paths
from testbed import images

pytestmark = pytest.mark.testbed_only


def demo(**environment):
    names = ("SLUICE_TESTBED", "SLUICE_REGISTRY", "KUBECONFIG")
    kept = {name: value for name, value in os.environ.items() if name not in names}
    env = {**kept, "PYTHONPATH": paths.PYTHONPATH, **environment}
    command = [str(paths.VENV / "bin" / "python"), "-m", "demo"]
    pipe = subprocess.PIPE
    return subprocess.Popen(command, env=env, stdout=pipe, stderr=pipe, text=True, start_new_session=True)


@pytest.mark.usefixtures("after_the_demo")
def test_the_demo_runs_on_a_cluster_named_by_kubeconfig(testbed):
    asked = {"KUBECONFIG": str(testbed.kubeconfig), "SLUICE_TESTBED": "external", "SLUICE_REGISTRY": "localhost"}
    with demo(**asked) as begun:
        seen = []
        for line in begun.stdout:
            seen.append(line)
            if "the job copies them" in line:  # what comes after it is the README's test to see
                break
        os.killpg(begun.pid, signal.SIGTERM)
        assert "the job copies them" in "".join(seen), (seen, begun.stderr.read())


@pytest.mark.parametrize(
    ("environment", "sentence"),
    [
        ({"SLUICE_TESTBED": "mine"}, "SLUICE_TESTBED is 'mine'; allowed are unset (the testbed) and 'external'"),
        ({"SLUICE_TESTBED": "external"}, "SLUICE_TESTBED=external needs KUBECONFIG"),
        ({"SLUICE_TESTBED": "external", "KUBECONFIG": "/dev/null"}, "SLUICE_TESTBED=external needs SLUICE_REGISTRY"),
        (
            {"SLUICE_TESTBED": "external", "KUBECONFIG": "/nowhere", "SLUICE_REGISTRY": "r"},
            "KUBECONFIG is '/nowhere'; it must name one file",
        ),
    ],
)
def test_half_a_wish_for_an_own_cluster_is_answered_with_a_sentence(environment, sentence):
    with demo(**environment) as done:
        said = done.stderr.read()
    assert done.returncode == 1
    assert sentence in said
    assert "Traceback" not in said


def test_the_registry_goes_before_every_image(monkeypatch):
    monkeypatch.setenv("SLUICE_REGISTRY", "registry.example/team")
    assert {image.ref().rsplit("/", 1)[0] for image in images.ALL} == {"registry.example/team"}
