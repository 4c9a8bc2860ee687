"""KWOK nodes: they look real to the API server and the scheduler, and run nothing. For questions of scale."""

import json
import pathlib

from house import trouble
from testbed import addons

TAINT = "kwok.x-k8s.io/node"
_MOST = 5_000


def scale(kubeconfig: pathlib.Path, count: int) -> str:
    """Sees to it that there are `count` fake nodes."""
    if not 0 <= count <= _MOST:
        raise trouble.Trouble(f"count is {count}; allowed are 0 to {_MOST}")
    names = [f"fake-{number:04d}" for number in range(1, count + 1)]
    listed = addons.kubectl(kubeconfig, "get", "nodes", "-l", "type=kwok", "-o", "name").split()
    gone = sorted(set(listed) - {f"node/{name}" for name in names})
    if gone:
        addons.kubectl(kubeconfig, "delete", "--wait=false", *gone)
    new = [_node(name) for name in names if f"node/{name}" not in listed]
    if new:
        text = json.dumps({"apiVersion": "v1", "kind": "List", "items": new})
        addons.kubectl(kubeconfig, "create", "-f", "-", text=text)
    return f"{count} fake nodes: {len(new)} new, {len(gone)} gone. Pods get there by tolerating {TAINT}=fake"


def _node(name: str) -> dict[str, object]:
    room = {"cpu": "32", "memory": "256Gi", "pods": "110"}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {
            "name": name,
            "annotations": {TAINT: "fake", "node.alpha.kubernetes.io/ttl": "0"},
            "labels": {"type": "kwok", "kubernetes.io/hostname": name, "kubernetes.io/os": "linux"},
        },
        "spec": {"taints": [{"key": TAINT, "value": "fake", "effect": "NoSchedule"}]},
        "status": {"allocatable": room, "capacity": room},
    }
