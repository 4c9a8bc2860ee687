"""Many fake nodes beside the real ones: what scale tests stand on. Ten times as many are a bench of the cluster."""

import json

import pytest

from demo import plain_spark
from testbed import fakes

pytestmark = pytest.mark.testbed_only
NODES, PODS = 20, 200


def crowd(pods):
    """A deployment that goes to fake nodes only."""
    container = {"name": "none", "image": "none", "resources": {"requests": {"cpu": "100m", "memory": "64Mi"}}}
    spec = {
        "nodeSelector": {"type": "kwok"},
        "tolerations": [{"key": fakes.TAINT, "operator": "Exists"}],
        "containers": [container],
    }
    template = {"metadata": {"labels": {"app": "crowd"}}, "spec": spec}
    wanted = {"replicas": pods, "selector": {"matchLabels": {"app": "crowd"}}, "template": template}
    return {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "crowd"}, "spec": wanted}


@pytest.mark.timeout(400)
def test_two_hundred_pods_run_on_twenty_fake_nodes_beside_the_real_ones(kube, testbed, namespace):
    testbed.fake(NODES)
    try:
        kube.kubectl("-n", namespace, "create", "-f", "-", text=json.dumps(crowd(PODS)))

        def running():
            at = "jsonpath={.status.readyReplicas}"
            return kube.kubectl("-n", namespace, "get", "deployment", "crowd", "-o", at) == str(PODS)

        plain_spark.until(f"{PODS} pods running", running, deadline_s=170)
        at = "jsonpath={.items[*].spec.nodeName}"
        placed = kube.kubectl("-n", namespace, "get", "pods", "-o", at).split()
        assert len(set(placed)) == NODES
        assert set(placed).isdisjoint(testbed.nodes)
        listed = json.loads(kube.kubectl("get", "nodes", "-l", "type!=kwok", "-o", "json"))["items"]
        assert sorted(node["metadata"]["name"] for node in listed) == testbed.nodes
    finally:
        kube.kubectl("-n", namespace, "delete", "deployment", "crowd", "--ignore-not-found", "--cascade=foreground")
        testbed.fake(0)
