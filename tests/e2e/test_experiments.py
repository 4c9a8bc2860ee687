"""Each experiment changes what it says, measured; and its way back works."""

import contextlib
import functools
import json
import subprocess
import time

import pytest

from demo import plain_spark
from house import trouble
from testbed import cgroups, images, network

pytestmark = pytest.mark.testbed_only


def used_cores(group, over_s=3.0):
    before, began_s = cgroups.cpu_used_s(group), time.monotonic()
    time.sleep(over_s)  # the measured interval itself
    return (cgroups.cpu_used_s(group) - before) / (time.monotonic() - began_s)


@contextlib.contextmanager
def a_worker_among_the_pods(machine):
    """It takes all the CPU it can get."""
    group = f"{machine.name}/{cgroups.PODS}/worker"
    cgroups.make(group)
    enter = 'echo $$ | tee "$@" >/dev/null; exec timeout 60 sh -c "while :; do :; done"'
    worker = subprocess.Popen(["sh", "-c", enter, "sh", *map(str, cgroups.entry_files(group))])
    try:
        yield group
    finally:
        cgroups.kill(group)
        worker.wait()


def test_the_pods_of_a_slowed_node_get_the_share_it_was_given(testbed):
    with a_worker_among_the_pods(testbed.named("node2")) as worker:
        try:
            free = plain_spark.until("the worker works", lambda: (used := used_cores(worker)) > 0.4 and used)
            assert "20%" in testbed.slow("node2", "20%")
            slowed = used_cores(f"node2/{cgroups.PODS}")
            testbed.slow("node2", "full")
            assert 0.1 < slowed < 0.25
            assert used_cores(worker) > 2 * slowed
            assert free > 2 * slowed
        finally:
            testbed.slow("node2", "full")


def test_a_pod_with_a_higher_limit_than_its_slowed_node_starts_all_the_same(kube, testbed, namespace):
    container = {"name": "pause", "image": images.PAUSE.ref(), "resources": {"limits": {"cpu": "500m"}}}
    spec = {"nodeName": "node2", "terminationGracePeriodSeconds": 0, "containers": [container]}
    try:
        for name, share in (("before", "20%"), ("after", "10%")):
            pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name}, "spec": spec}
            kube.kubectl("-n", namespace, "create", "-f", "-", text=json.dumps(pod))
            kube.kubectl("-n", namespace, "wait", "--for=condition=Ready", f"pod/{name}", "--timeout=60s")
            assert share in testbed.slow("node2", share)
    finally:
        testbed.slow("node2", "full")


RECEIVE = """
import socket, time
listener = socket.socket(); listener.bind(("", 7777)); listener.listen(); print("ready", flush=True)
peer, _ = listener.accept()
first = peer.recv(1 << 16); began, count = time.monotonic(), 0
while data := peer.recv(1 << 16):
    count += len(data)
print(count * 8 / (time.monotonic() - began) / 1e6, flush=True)
"""
SEND = """
import socket, sys
peer = socket.create_connection((sys.argv[1], 7777), timeout=10)
peer.sendall(bytes(8_000_000))
"""


def throughput_mbit(sender, receiver):
    """How fast 8 MB go from one box to another."""
    at = network.address(receiver.name)
    receive = [*receiver.inside("-n"), "python3", "-c", RECEIVE]
    with subprocess.Popen(receive, stdout=subprocess.PIPE, text=True) as listening:
        assert listening.stdout is not None
        assert listening.stdout.readline() == "ready\n"
        subprocess.run([*sender.inside("-n"), "python3", "-c", SEND, at], check=True)
        return float(listening.stdout.readline())


def test_a_shaped_link_carries_its_rate_each_way(testbed):
    one, other = testbed.named("node1"), testbed.named("node2")
    free = throughput_mbit(one, other)
    testbed.link("node2", "50mbit")
    try:
        assert 30 < throughput_mbit(one, other) < 60
        assert 30 < throughput_mbit(other, one) < 60
    finally:
        testbed.link("node2", "full")
    assert free > 200
    assert throughput_mbit(one, other) > 200


def is_ready(kube, node, status):
    listed = json.loads(kube.kubectl("get", "node", node, "-o", "json"))["status"]["conditions"]
    return next(c["status"] for c in listed if c["type"] == "Ready") == status


def heartbeat(kube, node):
    at = "jsonpath={.spec.renewTime}"
    return kube.kubectl("-n", "kube-node-lease", "get", "lease", node, "-o", at)


def beats(kube, node, since):
    return heartbeat(kube, node) > since


def test_frozen_cut_and_dead_nodes_lose_their_heartbeat_and_come_back(kube, testbed):
    undo = {"node1": testbed.thaw, "node2": testbed.heal, "node3": testbed.start}
    testbed.freeze("node1")
    testbed.cut("node2")
    testbed.kill("node3")
    try:
        assert cgroups.frozen("node1")
        assert cgroups.processes("node3") == []
        with pytest.raises(trouble.Trouble, match="node3 is not running"):
            testbed.slow("node3", "20%")
        last = {node: heartbeat(kube, node) for node in undo}
        for node in undo:
            plain_spark.until(f"{node} NotReady", functools.partial(is_ready, kube, node, "Unknown"), deadline_s=90)
        assert {node: heartbeat(kube, node) for node in undo} == last
    finally:
        for node, back in undo.items():
            back(node)
    for node in undo:
        plain_spark.until(f"{node} Ready", functools.partial(is_ready, kube, node, "True"), deadline_s=90)
        # A kubelet that comes back may tell its status first, and renew its lease a moment later.
        plain_spark.until(f"a heartbeat of {node}", functools.partial(beats, kube, node, last[node]), deadline_s=60)


@pytest.mark.usefixtures("testbed")
def test_what_ran_on_the_cluster_serves_again_after_all_that(kube):
    deployments = json.loads(kube.kubectl("-n", "testbed", "get", "deployments", "-o", "json"))["items"]
    for deployment in deployments:
        name = deployment["metadata"]["name"]
        kube.kubectl("-n", "testbed", "rollout", "status", f"deployment/{name}", "--timeout=120s")


@pytest.mark.parametrize(
    ("verb", "words", "sentence"),
    [
        ("slow", ("node9", "20%"), "node is 'node9'; there are node1"),
        ("slow", ("node1", "fast"), "share is 'fast'; allowed are 5% to 6400%"),
        ("slow", ("node1", "1%"), "share is '1%'"),
        ("link", ("node1", "50"), "rate is '50'; allowed are 64kbit and more"),
        ("link", ("node1", "1kbit"), "rate is '1kbit'"),
        ("kill", ("switch",), "node is 'switch'"),
    ],
)
def test_a_wrong_word_is_answered_with_what_is_allowed(testbed, verb, words, sentence):
    with pytest.raises(trouble.Trouble, match=sentence.replace("(", "\\(")):
        getattr(testbed, verb)(*words)
