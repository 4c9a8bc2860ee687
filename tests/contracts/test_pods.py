"""The rules for pods that Sluice leans on: gates, places, and how one goes. On the real API server and the fake."""

import datetime

import pytest

from act import manifests
from contracts import servers
from contracts.asking import do, gated, get, kinds, make, patch
from fakes import loops
from sluice.transport import paths
from sluice.values import steps

BOTH = pytest.mark.parametrize("which", [servers.FAKE, servers.REAL])


def on(node):
    """Required node affinity, as the placement patches it."""
    term = {"matchExpressions": [{"key": "kubernetes.io/hostname", "operator": "In", "values": [node]}]}
    return {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [term]}}}


def moment_s(text):
    return datetime.datetime.fromisoformat(text).timestamp()


@BOTH
@loops.in_a_loop
async def test_a_gate_is_lifted_and_a_node_chosen_in_one_patch_and_then_no_more(which):
    async with servers.connect(which) as (line, namespace):
        meta = (await make(line, gated(namespace, nodeSelector={"no": "such"})))["metadata"]
        change = {"spec": {"schedulingGates": None, "affinity": on("nowhere")}}
        step = steps.PatchPod(namespace, "waiting", meta["uid"], meta["resourceVersion"], change)
        done = await do(line, step)
        assert done.ok, done.failures
        assert "schedulingGates" not in done.bodies[0]["spec"]
        late = await patch(line, gated(namespace), {"spec": {"affinity": on("elsewhere")}})
        assert late.status == 422
        assert kinds(await do(line, step)) == ["Conflict"]


@BOTH
@loops.in_a_loop
async def test_a_pod_that_is_nowhere_is_gone_as_soon_as_it_is_deleted(which):
    async with servers.connect(which) as (line, namespace):
        meta = (await make(line, gated(namespace)))["metadata"]
        assert (await do(line, steps.Delete("Pod", namespace, "waiting", meta["uid"]))).ok
        assert (await get(line, gated(namespace))).status == 404


@BOTH
@loops.in_a_loop
async def test_a_pod_on_its_way_out_tells_its_grace_and_when_that_is_over(which):
    async with servers.connect(which) as (line, namespace):
        pod = manifests.pod("leaving", namespace, nodeName="nowhere")
        pod["metadata"] = {"name": "leaving", "namespace": namespace}
        meta = (await make(line, pod))["metadata"]
        path = paths.item("Pod", namespace, "leaving")
        gone = (await line.call("DELETE", path, {"gracePeriodSeconds": 600})).body["metadata"]
        assert gone["deletionGracePeriodSeconds"] == 600
        assert 600 <= moment_s(gone["deletionTimestamp"]) - moment_s(meta["creationTimestamp"]) <= 610
        await line.call("DELETE", path, {"gracePeriodSeconds": 0})
