"""What runs beside the jobs: DNS, Prometheus, Kafka, S3, shared volumes; each from a pod and from the host."""

import json
import urllib.error
import urllib.request

import kafka as kafka_client
import pytest

from demo import plain_spark, topics
from house import shell
from testbed import addons, images, oci


def program_pod(name, program, image=images.SPARK):
    """A pod that runs a Python program."""
    command = ["python3", "-c", program]
    container = {"name": "main", "image": image.ref(), "imagePullPolicy": "IfNotPresent", "command": command}
    spec = {"restartPolicy": "Never", "terminationGracePeriodSeconds": 1, "containers": [container]}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name}, "spec": spec}


def with_volume(pod, claim, node):
    """The same pod on a node, with a shared volume."""
    volume = {"name": "shared", "persistentVolumeClaim": {"claimName": claim}}
    mounted = {**pod["spec"]["containers"][0], "volumeMounts": [{"name": "shared", "mountPath": "/shared"}]}
    selector = {"kubernetes.io/hostname": node}
    spec = {**pod["spec"], "containers": [mounted], "volumes": [volume], "nodeSelector": selector}
    return {**pod, "spec": spec}


def run(kube, namespace, pod):
    """Runs a pod to its end; what it prints."""
    name = pod["metadata"]["name"]
    kube.kubectl("-n", namespace, "create", "-f", "-", text=json.dumps(pod))

    def ended():
        phase = kube.kubectl("-n", namespace, "get", "pod", name, "-o", "jsonpath={.status.phase}")
        return phase if phase in ("Succeeded", "Failed") else None

    phase = plain_spark.until(f"pod {name} ended", ended)
    said = kube.kubectl("-n", namespace, "logs", name)
    assert phase == "Succeeded", said
    return said


def test_a_pod_finds_services_by_name_and_nothing_outside(kube, namespace):
    program = """
import socket
for name, port in (("kafka.testbed", 9092), ("s3.testbed", 5000), ("prometheus.testbed.svc.cluster.local", 9090)):
    socket.create_connection((name, port), timeout=10).close()
print("reached")
"""
    assert run(kube, namespace, program_pod("client", program)) == "reached\n"


def test_prometheus_reads_a_pod_that_asks_for_it(kube, testbed, namespace):
    program = """
import http.server
class Metrics(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200); self.end_headers(); self.wfile.write(b"testbed_answer 42\\n")
http.server.HTTPServer(("", 8000), Metrics).serve_forever()
"""
    wish = {"prometheus.io/scrape": "true", "prometheus.io/port": "8000"}
    pod = program_pod("asks", program)
    pod["metadata"]["annotations"] = wish
    kube.kubectl("-n", namespace, "create", "-f", "-", text=json.dumps(pod))
    port, _ = addons.FORWARDS["prometheus"]
    url = f'http://127.0.0.1:{port}/api/v1/query?query=testbed_answer%7Bnamespace%3D"{namespace}"%7D'

    def answer():
        with urllib.request.urlopen(url, timeout=10) as reply:
            return json.load(reply)["data"]["result"]

    found = plain_spark.until("the pod's metric in Prometheus", answer)
    assert found[0]["value"][1] == "42"
    assert found[0]["metric"]["pod"] == "asks"
    assert found[0]["metric"]["node"] in testbed.nodes


@pytest.mark.usefixtures("testbed")
def test_the_host_reads_from_kafka_what_a_pod_wrote(kube):
    topics.create(kube, "to-host")
    topics.fill(kube, "to-host", ["one", "two", "three"])
    port, _ = addons.FORWARDS["kafka"]
    reader = kafka_client.KafkaConsumer(
        "to-host", bootstrap_servers=f"127.0.0.1:{port}", auto_offset_reset="earliest", consumer_timeout_ms=5_000
    )
    try:
        assert sorted(record.value.decode() for record in reader) == ["one", "three", "two"]
    finally:
        reader.close()


@pytest.mark.usefixtures("testbed")
def test_s3_refuses_a_second_writer_of_one_name():
    port, _ = addons.FORWARDS["s3"]

    # Any signature does, but there must be one: an unsigned caller may not touch what another made.
    who = "Credential=testbed/20260101/us-east-1/s3/aws4_request, SignedHeaders=host, Signature=0"
    signed = {"Authorization": f"AWS4-HMAC-SHA256 {who}", "Content-Type": "application/octet-stream"}

    def call(method, path, body=None, **headers):
        asked = urllib.request.Request(f"http://127.0.0.1:{port}{path}", body, {**signed, **headers}, method=method)
        with urllib.request.urlopen(asked, timeout=10) as answer:
            return answer.read()

    call("PUT", "/exclusive")
    call("DELETE", "/exclusive/epoch")
    once = {"If-None-Match": "*"}
    call("PUT", "/exclusive/epoch", b"1", **once)
    with pytest.raises(urllib.error.HTTPError, match="412") as refused:
        call("PUT", "/exclusive/epoch", b"2", **once)
    refused.value.close()
    assert call("GET", "/exclusive/epoch") == b"1"


def test_what_one_node_writes_to_a_shared_volume_another_reads(kube, testbed, namespace):
    resources = {"requests": {"storage": "1Gi"}}
    spec = {"accessModes": ["ReadWriteMany"], "storageClassName": "shared", "resources": resources}
    claim = {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": "checkpoint"}, "spec": spec}
    kube.kubectl("-n", namespace, "create", "-f", "-", text=json.dumps(claim))
    write = "open('/shared/note', 'w').write('from the first node')"
    read = "print(open('/shared/note').read())"
    run(kube, namespace, with_volume(program_pod("writer", write), "checkpoint", testbed.nodes[0]))
    said = run(kube, namespace, with_volume(program_pod("reader", read), "checkpoint", testbed.nodes[-1]))
    assert said == "from the first node\n"


@pytest.mark.parametrize(
    ("image", "program"),
    [
        (
            images.OPERATOR,
            "import sluice.main, sluice_policies, kopf, kubernetes, networkx, prometheus_api_client, yaml",
        ),
        (images.AGENT, "import sluice_agent.main, sluice_policies"),
    ],
    ids=["operator", "agent"],
)
def test_our_own_images_hold_what_they_import_and_do_not_run_as_root(kube, namespace, image, program):
    pod = program_pod(image.name, f"{program}; import os; print(os.getuid())", image)
    assert int(run(kube, namespace, pod)) > 0


SMALL_MB = {images.OPERATOR: 236, images.AGENT: 126, images.PLUGIN: 70}
"""Of a whole image, its base included (the testbed's: 68 MB). Most of the operator's is numpy, numba and its LLVM."""


@pytest.mark.usefixtures("testbed")
@pytest.mark.parametrize("image", SMALL_MB, ids=[image.name for image in SMALL_MB])
def test_our_own_images_are_small_to_pull(image):
    layers = oci.layers(image.layout())
    assert {oci.is_packed(layer) for layer in layers} == {True}  # so their size is what is pulled
    assert sum(layer.stat().st_size for layer in layers) <= SMALL_MB[image] * 1_000_000


def test_every_node_has_every_image(testbed):
    wanted = {image.ref() for image in images.ALL}
    for node in testbed.nodes:
        ctr = [*testbed.named(node).inside("-m"), "ctr", "-n", "k8s.io", "images", "ls", "-q"]
        assert wanted <= set(shell.read(*ctr).split())
