"""The chart as helm renders it, and questions about what came out. Asks no cluster."""

import functools
import json
import subprocess
from collections.abc import Mapping
from typing import Any

import pytest
import yaml

from house import paths
from testbed import binaries, versions

CHART = paths.ROOT / "charts" / "sluice"
NAMESPACE = "sluice-system"
IMAGE = "registry.example/sluice"
MONITORING = ("monitoring.coreos.com/v1/PodMonitor", "monitoring.coreos.com/v1/PrometheusRule")
_HELM = binaries.OTHERS.directory / "helm"

Body = Mapping[str, Any]


def helm(
    *words: str, values: Body | None = None, kubernetes: str = versions.KUBERNETES
) -> subprocess.CompletedProcess[str]:
    """Runs helm as a fairly new cluster would see it, with values on top of the image."""
    if not _HELM.exists():
        pytest.skip("helm is not built; `make images` builds it")
    told = json.dumps({"image": {"repository": IMAGE}, **(values or {})})
    command = [str(_HELM), *words, str(CHART), "--kube-version", kubernetes, "--values", "-"]
    return subprocess.run(command, input=told, capture_output=True, text=True, check=False)


def refusal(**values: Any) -> str:
    """Why helm does not take these values."""
    done = helm("template", "sluice", values=values)
    assert done.returncode != 0
    return done.stderr


def objects(capabilities: tuple[str, ...] = (), **values: Any) -> tuple[Body, ...]:
    """Every object of a release called sluice."""
    return _objects(capabilities, json.dumps(values))


def of_kind(found: tuple[Body, ...], *kinds: str) -> list[Body]:
    """Those of some kinds."""
    return [body for body in found if body["kind"] in kinds]


def one(found: tuple[Body, ...], kind: str, name: str = "sluice") -> Body:
    """The one object of a kind and name."""
    (body,) = [body for body in of_kind(found, kind) if body["metadata"]["name"] == name]
    return body


def operator_pod(found: tuple[Body, ...]) -> Body:
    """The template of the operator's pod."""
    template: Body = one(found, "Deployment")["spec"]["template"]
    return template


@functools.cache
def _objects(capabilities: tuple[str, ...], values: str) -> tuple[Body, ...]:
    asked = [word for capability in capabilities for word in ("--api-versions", capability)]
    done = helm("template", "sluice", "--namespace", NAMESPACE, *asked, values=json.loads(values))
    assert done.returncode == 0, done.stderr
    return tuple(body for body in yaml.safe_load_all(done.stdout) if body)
