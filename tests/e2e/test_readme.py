"""Every command the README shows is run, as a newcomer would: in its order, in one shell, on this cluster."""

import os
import re
import subprocess

import pytest

from house import paths

pytestmark = pytest.mark.testbed_only
# `make test` is what runs this test, and CI's only command; running it from here would never end.
RUNS_THIS = "make test"
# Run last by the lifecycle suite and by `make test` itself; here it would take the cluster from the other tests.
ENDS_THE_CLUSTER = "make down"


def shown():
    blocks = re.findall(r"```sh\n(.*?)```", (paths.ROOT / "README.md").read_text(), re.DOTALL)
    return [line for block in blocks for line in block.splitlines()]


def dry_run(command):
    return subprocess.run([*command.split(), "-n"], cwd=paths.ROOT, capture_output=True, text=True, check=False)


def test_the_readme_shows_the_two_commands_and_ci_runs_the_test_command():
    assert shown()[:3] == ["make demo", ENDS_THE_CLUSTER, RUNS_THIS]
    assert f"exec {RUNS_THIS}" in (paths.ROOT / ".ci" / "run").read_text()
    for command in (ENDS_THE_CLUSTER, RUNS_THIS):
        assert f"-m house {command.split()[1]}" in dry_run(command).stdout


@pytest.mark.parametrize("command", sorted(set(re.findall(r"`(make \w+)`", (paths.ROOT / "README.md").read_text()))))
def test_a_command_named_in_passing_is_a_target(command):
    assert f"-m house {command.split()[1]}" in dry_run(command).stdout


@pytest.mark.usefixtures("testbed", "after_the_demo")
def test_every_command_of_the_readme_works():
    commands = [line for line in shown() if line not in (RUNS_THIS, ENDS_THE_CLUSTER)]
    assert len(commands) > 10
    ours = ("PYTEST", "MAKE", "MFLAGS")
    environment = {name: value for name, value in os.environ.items() if not name.startswith(ours)}
    script = "set -ex\n" + "\n".join(commands)
    done = subprocess.run(
        ["bash", "-c", script], cwd=paths.ROOT, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout[-3_000:] + done.stderr[-3_000:]
    assert "it runs on" in done.stdout
    assert "the pods of node2 get 20% of one core" in done.stdout
