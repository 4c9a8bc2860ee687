"""The operator on a cluster, installed as by a user: the CRD by kubectl, the chart by helm."""

import dataclasses
import json
from collections.abc import Mapping
from typing import Any

from crds import schema
from house import paths, shell
from testbed import binaries, images, target

_CHART = paths.ROOT / "charts" / "sluice"
_HELM = binaries.OTHERS.directory / "helm"
_DEADLINE = "--timeout=180s"


@dataclasses.dataclass(frozen=True)
class Operator:
    """A release, in a namespace of its name. It runs the jobs of its namespaces, and no others."""

    kube: target.Target
    release: str
    namespaces: tuple[str, ...]
    usual: Mapping[str, Any] = dataclasses.field(default_factory=dict)  # values of the chart beside those it needs

    def prepare(self) -> None:
        """The CRD as it is now, and empty namespaces: the chart makes a Role in each, so they come first."""
        self.kube.kubectl("apply", "--server-side", "--force-conflicts", "-f", str(schema.FILE))
        self.kube.kubectl("wait", "--for=condition=Established", "crd/streamjobs.sluice.dev", "--timeout=30s")
        self.clear()
        for name in self._all_namespaces():
            self.kube.kubectl("create", "namespace", name)

    def clear(self) -> None:
        """Removes the namespaces and all that is in them."""
        self.kube.kubectl("delete", "namespace", *self._all_namespaces(), "--ignore-not-found", _DEADLINE)

    def install(self, **values: Any) -> None:
        """Installs it, or upgrades the one that is there; returns when it is ready."""
        told = json.dumps({**self._values(), **self.usual, **values})
        words = ("upgrade", "--install", self.release, _CHART, "--skip-crds", "--values", "-", "--wait", _DEADLINE)
        self._helm(*words, text=told)

    def uninstall(self) -> None:
        """Takes it away, but not the CRD: with that would go every StreamJob there is."""
        self._helm("uninstall", self.release, "--ignore-not-found", "--wait", _DEADLINE)

    def scale(self, replicas: int) -> None:
        """Returns when there are exactly so many of it."""
        self._kubectl("scale", self._deployment, f"--replicas={replicas}")
        if replicas:
            self._kubectl("rollout", "status", self._deployment, _DEADLINE)
        else:
            self._kubectl("wait", "--for=delete", "pod", "-l", f"app.kubernetes.io/instance={self.release}", _DEADLINE)

    def restarts(self) -> list[int]:
        """How often each of its containers was restarted."""
        listed = json.loads(self._kubectl("get", "pods", "-l", "app.kubernetes.io/name=sluice", "-o", "json"))["items"]
        return [status["restartCount"] for pod in listed for status in pod["status"]["containerStatuses"]]

    def logs(self) -> str:
        """What it has said lately."""
        return self._kubectl("logs", "-l", "app.kubernetes.io/name=sluice", "--tail=60", "--prefix", "--ignore-errors")

    @property
    def _deployment(self) -> str:
        return f"deployment/{self.release}-sluice"

    def _all_namespaces(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys((self.release, *self.namespaces)))

    def _kubectl(self, *words: str) -> str:
        return self.kube.kubectl("-n", self.release, *words)

    def _helm(self, *words: Any, text: str | None = None) -> None:
        shell.read(_HELM, "--kubeconfig", self.kube.kubeconfig, "--namespace", self.release, *words, text=text)

    def _values(self) -> dict[str, Any]:
        repository, _, tag = images.OPERATOR.ref().rpartition(":")
        return {
            "image": {"repository": repository, "tag": tag},
            "agentImage": images.AGENT.ref(),
            "pluginImage": images.PLUGIN.ref(),
            "namespaces": list(self.namespaces),
            "placement": "cluster",
            "driverRole": {"name": f"{self.release}-driver"},
        }
