"""Two real processes and one real Lease: killed, told to end, and frozen."""

import os
import signal
import subprocess
import sys
import time

import pytest

from house import paths

_DEADLINE_S = 60.0


class Candidate:
    """A process that writes as long as it may, and the file it writes to."""

    def __init__(self, kube, namespace, name, folder):
        self._said = folder / name
        roots = (paths.ROOT / "operator", paths.ROOT / "policies", paths.ROOT / "tests")
        env = {**os.environ, "KUBECONFIG": str(kube.kubeconfig), "PYTHONPATH": os.pathsep.join(map(str, roots))}
        with self._said.open("wb") as said:
            command = [sys.executable, "-m", "e2e.candidate", namespace, name]
            self.process = subprocess.Popen(command, env=env, stdout=said, stderr=subprocess.STDOUT)

    def lines(self):
        return self._said.read_text().splitlines()

    def writes_s(self):
        return [float(line.split()[1]) for line in self.lines() if line.startswith("writes ")]

    def wait_for(self, word):
        deadline_s = time.monotonic() + _DEADLINE_S
        while not any(line.startswith(word) for line in self.lines()):
            assert time.monotonic() < deadline_s, self.lines()
            time.sleep(0.05)

    def send(self, what):
        """When it was sent, by the clock of the candidates."""
        self.process.send_signal(what)
        return time.clock_gettime(time.CLOCK_BOOTTIME)


@pytest.fixture
def two(kube, namespace, tmp_path):
    """One that leads, and one that waits."""
    first = Candidate(kube, namespace, "first", tmp_path)
    first.wait_for("writes")
    second = Candidate(kube, namespace, "second", tmp_path)
    second.wait_for("waits")
    yield first, second
    for candidate in (first, second):
        candidate.process.kill()
        candidate.process.wait()


def test_a_leader_that_is_killed_is_followed_within_15_seconds(two):
    first, second = two
    killed_s = first.send(signal.SIGKILL)
    second.wait_for("writes")
    assert first.writes_s()[-1] < second.writes_s()[0] <= killed_s + 15


def test_a_leader_that_is_told_to_end_is_followed_at_once(two):
    first, second = two
    told_s = first.send(signal.SIGTERM)
    second.wait_for("writes")
    assert first.process.wait(10) == 0
    assert first.writes_s()[-1] < second.writes_s()[0] <= told_s + 5


def test_a_leader_that_was_frozen_writes_nothing_more_and_ends(two):
    first, second = two
    first.send(signal.SIGSTOP)
    second.wait_for("writes")
    first.send(signal.SIGCONT)
    assert first.process.wait(30) == 3
    assert "lost: " in first.lines()[-1]
    assert first.writes_s()[-1] < second.writes_s()[0]
    assert second.process.poll() is None
