"""The operator on the cluster, installed as by a user: the CRD by kubectl, the chart by helm. For the e2e tests."""

import dataclasses
import json
from typing import Any

from crds import schema
from house import paths, shell
from testbed import binaries, images, target

RELEASE = "e2e-operator"  # and its namespace
JOBS, LEAVING = "e2e-jobs", "e2e-leaving"
_NAME = f"{RELEASE}-sluice"
_CHART = paths.ROOT / "charts" / "sluice"
_HELM = binaries.HELM.directory / "helm"
_DEADLINE = "--timeout=180s"


@dataclasses.dataclass(frozen=True)
class Operator:
    """The one of these tests. It runs the jobs of its own namespaces, and leaves alone what else the cluster has."""

    kube: target.Target

    def install(self, **values: Any) -> None:
        """Installs it, or upgrades the one that is there; returns when it is ready."""
        told = json.dumps({**_values(), **values})
        words = ("upgrade", "--install", RELEASE, _CHART, "--skip-crds", "--values", "-", "--wait", _DEADLINE)
        self._helm(*words, text=told)

    def uninstall(self) -> None:
        """Takes it away, but not the CRD: with that would go every StreamJob there is."""
        self._helm("uninstall", RELEASE, "--ignore-not-found", "--wait", _DEADLINE)

    def scale(self, replicas: int) -> None:
        """Returns when there are exactly so many of it."""
        self._kubectl("scale", f"deployment/{_NAME}", f"--replicas={replicas}")
        if replicas:
            self._kubectl("rollout", "status", f"deployment/{_NAME}", _DEADLINE)
        else:
            self._kubectl("wait", "--for=delete", "pod", "-l", f"app.kubernetes.io/instance={RELEASE}", _DEADLINE)

    def restarts(self) -> list[int]:
        """How often each of its containers was restarted."""
        listed = json.loads(self._kubectl("get", "pods", "-l", "app.kubernetes.io/name=sluice", "-o", "json"))["items"]
        return [status["restartCount"] for pod in listed for status in pod["status"]["containerStatuses"]]

    def logs(self) -> str:
        """What it has said lately."""
        return self._kubectl("logs", "-l", "app.kubernetes.io/name=sluice", "--tail=60", "--prefix", "--ignore-errors")

    def _kubectl(self, *words: str) -> str:
        return self.kube.kubectl("-n", RELEASE, *words)

    def _helm(self, *words: Any, text: str | None = None) -> None:
        shell.read(_HELM, "--kubeconfig", self.kube.kubeconfig, "--namespace", RELEASE, *words, text=text)


def prepare(kube: target.Target) -> None:
    """The CRD as it is now, and empty namespaces: the chart makes a Role in each, so they come first."""
    kube.kubectl("apply", "--server-side", "--force-conflicts", "-f", str(schema.FILE))
    kube.kubectl("wait", "--for=condition=Established", "crd/streamjobs.sluice.dev", "--timeout=30s")
    clear(kube)
    for name in (RELEASE, JOBS, LEAVING):
        kube.kubectl("create", "namespace", name)


def clear(kube: target.Target) -> None:
    """Removes the namespaces and all that is in them."""
    kube.kubectl("delete", "namespace", RELEASE, JOBS, LEAVING, "--ignore-not-found", _DEADLINE)


def _values() -> dict[str, Any]:
    repository, _, tag = images.OPERATOR.ref().rpartition(":")
    return {
        "image": {"repository": repository, "tag": tag},
        "agentImage": images.AGENT.ref(),
        "namespaces": [JOBS, LEAVING],
        "placement": "cluster",
        "driverRole": {"name": f"{RELEASE}-driver"},
    }
