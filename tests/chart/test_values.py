"""What helm takes and what it refuses before anything is installed."""

import itertools
import re

import pytest
import yaml

from chart import render
from house import paths


def test_lint_finds_nothing_wrong():
    done = render.helm("lint", "--strict")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "WARNING" not in done.stdout


@pytest.mark.parametrize(
    ("values", "names"),
    [
        ({"replica": 2}, "replica"),
        ({"image": {"repository": "x", "tags": "1"}}, "image"),
        ({"metrics": {"podMonitor": {"enable": True}}}, "metrics/podMonitor"),
        ({"metrics": {"rules": {}}}, "metrics"),
        ({"driverRole": {"rules": []}}, "driverRole"),
        ({"serviceAccount": {"create": True}}, "serviceAccount"),
        ({"networkPolicy": {"enabled": True, "egress": []}}, "networkPolicy"),
        ({"networkPolicy": {"uiNamespaces": {"labels": {}}}}, "networkPolicy/uiNamespaces"),
        ({"admissionPolicy": {"mode": "Audit"}}, "admissionPolicy"),
        ({"imagePullSecrets": ["pull"]}, "imagePullSecrets/0"),
        ({"replicas": 3}, "replicas"),
        ({"workers": 0}, "workers"),
        ({"namespaces": ["Ads"]}, "namespaces/0"),
        ({"namespaces": "ads"}, "namespaces"),
        ({"placement": "Off"}, "placement"),
        ({"gateTimeout": 30}, "gateTimeout"),
        ({"httpPort": 80}, "httpPort"),
        ({"logLevel": "trace"}, "logLevel"),
        ({"apiServerUrl": "https://kubernetes"}, "apiServerUrl"),
        ({"podAnnotations": {"a": 1}}, "podAnnotations/a"),
        ({"prometheus": {"uri": ""}}, "prometheus"),
        ({"prometheus": {"url": "prometheus:9090"}}, "prometheus/url"),
    ],
    ids=str,
)
def test_what_is_not_known_or_out_of_bounds_is_refused_by_name(values, names):
    assert f"at '/{names}'" in render.refusal(**values) or f"'{names}' not allowed" in render.refusal(**values)


def test_without_an_image_helm_says_what_to_do():
    assert "name the image your cluster pulls the operator from" in render.refusal(image={"repository": ""})


def test_a_plugin_without_the_agent_it_talks_with_is_refused():
    assert "pluginImage needs agentImage" in render.refusal(pluginImage="registry.example/plugin:1")


def test_an_older_kubernetes_is_refused():
    done = render.helm("template", "sluice", kubernetes="1.29.9")
    assert done.returncode != 0
    assert ">=1.30" in done.stderr


def test_every_value_has_a_comment_of_its_own_or_its_group_has():
    lines = (render.CHART / "values.yaml").read_text().splitlines()
    self_explaining = {"podAnnotations", "nodeSelector", "tolerations", "affinity", "priorityClassName", "metrics"}
    for before, line in itertools.pairwise(lines):
        found = re.match(r"([a-zA-Z]+):", line)
        if found and found[1] not in self_explaining | {"image", "driverRole", "serviceAccount"}:
            assert before.startswith("#"), line


def test_the_crd_is_the_repository_s_own():
    kept = render.CHART / "crds" / "streamjobs.yaml"
    assert kept.read_bytes() == (paths.ROOT / "crds" / "streamjobs.yaml").read_bytes()


def test_chart_and_operator_have_one_version():
    chart = yaml.safe_load((render.CHART / "Chart.yaml").read_text())
    text = (paths.ROOT / "operator/sluice/__init__.py").read_text()
    assert f'__version__ = "{chart["appVersion"]}"' in text
    assert chart["version"] == chart["appVersion"]
