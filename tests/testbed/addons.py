"""What the testbed runs on Kubernetes: CoreDNS, Prometheus, Kafka, S3, and volumes every node can write."""

import json
import pathlib
import shutil
import string

from house import shell
from testbed import binaries, images

_MANIFESTS = pathlib.Path(__file__).with_name("manifests")
_SERVED = {"prometheus": "10.96.0.20", "kafka": "10.96.0.30", "s3": "10.96.0.40"}
_SHARED_VOLUMES = 32
_OPEN_TO_ALL = 0o1777
READY_DEADLINE_S = 120

FORWARDS = {
    "prometheus": (29090, f"{_SERVED['prometheus']}:9090"),
    "kafka": (29092, f"{_SERVED['kafka']}:9094"),
    "s3": (25000, f"{_SERVED['s3']}:5000"),
}
"""What the host reaches on its loopback: port here, address there."""


def apply(kubeconfig: pathlib.Path, *, own_cluster: bool) -> None:
    """Puts the add-ons onto a cluster; one that is not the testbed's brings its own DNS and picks the addresses."""
    names = ["namespace", "prometheus", "kafka", "s3"] + ([] if own_cluster else ["coredns", "shared-volumes"])
    words = {f"image_{image.name}": image.ref() for image in images.ALL}
    words |= {f"address_{name}": "" if own_cluster else address for name, address in _SERVED.items()}
    text = "\n---\n".join(string.Template((_MANIFESTS / f"{n}.yaml").read_text()).substitute(words) for n in names)
    kubectl(kubeconfig, "apply", "--server-side", "--force-conflicts", "-f", "-", text=text)


def supply_volumes(kubeconfig: pathlib.Path, at: pathlib.Path) -> None:
    """Sees to it that there are free shared volumes: new ones, and used ones emptied of their last owner."""
    for volume in json.loads(kubectl(kubeconfig, "get", "pv", "-o", "json"))["items"]:
        if volume["status"].get("phase") == "Released" and volume["spec"].get("storageClassName") == "shared":
            shutil.rmtree(at / volume["metadata"]["name"])
            free = json.dumps({"spec": {"claimRef": None}})
            kubectl(kubeconfig, "patch", "pv", volume["metadata"]["name"], "--type=merge", "-p", free)
    for number in range(1, _SHARED_VOLUMES + 1):
        directory = at / f"shared-{number:02d}"
        directory.mkdir(parents=True, exist_ok=True)
        directory.chmod(_OPEN_TO_ALL)
    items = [_volume(f"shared-{n:02d}", at / f"shared-{n:02d}") for n in range(1, _SHARED_VOLUMES + 1)]
    listed = json.dumps({"apiVersion": "v1", "kind": "List", "items": items})
    kubectl(kubeconfig, "apply", "--server-side", "--force-conflicts", "-f", "-", text=listed)


def _volume(name: str, directory: pathlib.Path) -> dict[str, object]:
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolume",
        "metadata": {"name": name},
        "spec": {
            "storageClassName": "shared",
            "accessModes": ["ReadWriteMany"],
            "capacity": {"storage": "10Gi"},
            "persistentVolumeReclaimPolicy": "Retain",
            "hostPath": {"path": str(directory), "type": "Directory"},
        },
    }


def wait(kubeconfig: pathlib.Path, *, own_cluster: bool) -> None:
    """Returns when every add-on serves."""
    wanted = [("testbed", name) for name in ("prometheus", "kafka", "s3")]
    wanted += [] if own_cluster else [("kube-system", "coredns")]
    for namespace, name in wanted:
        deadline = f"--timeout={READY_DEADLINE_S}s"
        kubectl(kubeconfig, "-n", namespace, "rollout", "status", f"deployment/{name}", deadline)


def kubectl(kubeconfig: pathlib.Path, *words: str, text: str | None = None) -> str:
    """What kubectl answers."""
    return shell.read(binaries.kubectl(), "--kubeconfig", kubeconfig, *words, text=text)
