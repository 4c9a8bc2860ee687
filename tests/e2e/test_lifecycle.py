"""Up, killed at any moment, up again, down: the cluster always comes, and the machine is always left as it was."""

import fcntl
import json
import os
import signal
import subprocess
import sys

import pytest

from e2e import traces
from house import paths
from testbed import cluster, images, machine, target

pytestmark = pytest.mark.lifecycle
MOMENTS_S = (0.2, 1.0, 2.0, 4.0, 7.0)


@pytest.fixture(scope="module", autouse=True)
def _where_it_can_run():
    if target.is_own():
        pytest.skip("a cluster of your own is neither brought up nor taken down")
    if reason := machine.reason_against():
        pytest.skip(reason)


def call(*words):
    env = {**os.environ, "PYTHONPATH": str(paths.ROOT / "tests")}
    command = [sys.executable, "-m", "testbed", *words]
    return subprocess.Popen(
        command, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, start_new_session=True
    )


def finish(process):
    said, _ = process.communicate(timeout=2_700)
    return process.returncode, said


def kill_after(process, seconds):
    """Kills a testbed command and all it started in its own session, like an out-of-memory kill."""
    try:
        process.wait(timeout=seconds)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
    process.communicate()


def nodes_that_run_a_pod():
    """Every node of the cluster, once each has shown that it can start a pod."""
    kube = cluster.Cluster()
    for node in kube.nodes:
        container = {"name": "pause", "image": images.PAUSE.ref()}
        spec = {"nodeName": node, "terminationGracePeriodSeconds": 0, "containers": [container]}
        pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": f"on-{node}"}, "spec": spec}
        kube.kubectl("apply", "-f", "-", text=json.dumps(pod))
    for node in kube.nodes:
        kube.kubectl("wait", "--for=condition=Ready", f"pod/on-{node}", "--timeout=60s")
        kube.kubectl("delete", "pod", f"on-{node}")
    return kube.nodes


def test_down_leaves_the_machine_as_it_was():
    assert finish(call("down"))[0] == 0
    # A machine's first `up` installs packages and fills the cache, which stay: not part of the comparison.
    assert finish(call("up"))[0] == 0
    assert finish(call("down"))[0] == 0
    before = traces.look()
    code, said = finish(call("up"))
    assert code == 0, said
    during = traces.look()
    assert during["links"] == before["links"]
    assert during["routes"] == before["routes"]
    assert during["mounts"] == before["mounts"]
    assert "kubelet" in during["processes"]
    code, said = finish(call("down"))
    assert code == 0, said
    assert traces.left(before, traces.look()) == {}
    assert not cluster.Cluster().home.exists()


def test_up_takes_over_from_whatever_a_killed_up_left():
    for moment_s in MOMENTS_S:
        kill_after(call("up"), moment_s)
    code, said = finish(call("up"))
    assert code == 0, said
    assert nodes_that_run_a_pod() == ["node1", "node2", "node3"]


def test_up_takes_over_from_a_killed_down():
    for moment_s in MOMENTS_S[:3]:
        kill_after(call("down"), moment_s)
        code, said = finish(call("up"))
        assert code == 0, said
    assert nodes_that_run_a_pod() == ["node1", "node2", "node3"]


def test_up_does_nothing_where_nothing_is_to_do():
    pids = {name: cluster.Cluster().named(name).pid() for name in ("control", "node1", "node2", "node3")}
    code, said = finish(call("up"))
    assert code == 0, said
    assert {name: cluster.Cluster().named(name).pid() for name in pids} == pids


def test_a_second_command_at_the_same_time_says_so():
    with (paths.CACHE / "cluster.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        code, said = finish(call("down"))
    assert code == 1
    assert "another testbed command is at work" in said
    assert cluster.Cluster().running()
