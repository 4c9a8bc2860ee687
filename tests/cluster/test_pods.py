"""A container's processes are found by what the API server says of its pod."""

import pytest

from testbed import box, pods


@pytest.mark.parametrize(
    ("quality", "folder"),
    [
        ("Guaranteed", "kubepods"),
        ("Burstable", "kubepods/burstable"),
        ("BestEffort", "kubepods/besteffort"),
    ],
)
def test_a_running_container_has_a_group_below_its_node_and_its_pod(tmp_path, quality, folder):
    machine = box.Box("node2", tmp_path)
    found = pods.find(machine, pod(quality, {"running": {}}), "driver")
    assert found == pods.Container(machine, f"node2/{folder}/podu-1/abc")


@pytest.mark.parametrize("state", [{"waiting": {}}, {"terminated": {}}])
def test_one_that_does_not_run_is_not_found(tmp_path, state):
    machine = box.Box("node2", tmp_path)
    assert pods.find(machine, pod("Burstable", state), "driver") is None
    assert pods.find(machine, pod("Burstable", {"running": {}}), "sidecar") is None


def pod(quality, state):
    container = {"name": "driver", "containerID": "containerd://abc", "state": state}
    return {"metadata": {"uid": "u-1"}, "status": {"qosClass": quality, "containerStatuses": [container]}}
