"""What Prometheus is told, where there is a Prometheus operator to tell it."""

import re

import pytest
import yaml

from build import jobs
from chart import render
from sluice import metrics

RULES = yaml.safe_load((render.CHART / "files" / "alerts.yaml").read_text())["groups"][0]["rules"]


def test_where_its_kinds_are_missing_nothing_of_it_is_made():
    assert render.of_kind(render.objects(), "PodMonitor", "PrometheusRule") == []


def test_the_pod_monitor_finds_the_operator_s_metrics():
    found = render.objects(render.MONITORING, metrics={"podMonitor": {"labels": {"release": "prometheus"}}})
    monitor = render.one(found, "PodMonitor")
    pod = render.operator_pod(found)
    assert monitor["spec"]["selector"]["matchLabels"].items() <= pod["metadata"]["labels"].items()
    assert monitor["spec"]["podMetricsEndpoints"] == [{"port": "http", "path": "/metrics", "interval": "15s"}]
    assert monitor["metadata"]["labels"]["release"] == "prometheus"


def plugged(**values):
    images = {"agentImage": "registry.example/agent:1", "pluginImage": "registry.example/plugin:1"}
    return render.objects(render.MONITORING, **images, **values)


@pytest.mark.parametrize(
    ("namespaces", "looked_in"), [([], {"any": True}), (["ads"], {"matchNames": ["ads"]})], ids=["all", "some"]
)
def test_another_finds_the_drivers_of_all_jobs_by_the_port_of_their_agent(namespaces, looked_in):
    spec = render.one(plugged(namespaces=namespaces), "PodMonitor", "sluice-drivers")["spec"]
    assert spec["namespaceSelector"] == looked_in
    pod = jobs.objects(jobs.job(), jobs.PLUGGED)["Pod"]
    assert spec["selector"]["matchLabels"].items() <= pod["metadata"]["labels"].items()
    ports = [port["name"] for one in pod["spec"]["initContainers"] for port in one.get("ports", ())]
    assert [endpoint["port"] for endpoint in spec["podMetricsEndpoints"]] == ports


@pytest.mark.parametrize("values", [{}, {"pluginImage": None}], ids=["as it is", "values of an older release"])
def test_without_a_plugin_drivers_have_nothing_to_scrape(values):
    found = render.of_kind(render.objects(render.MONITORING, **values), "PodMonitor")
    assert [body["metadata"]["name"] for body in found] == ["sluice"]


def test_each_of_the_two_can_be_turned_off():
    off = {"podMonitor": {"enabled": False}, "alerts": {"enabled": False}}
    assert render.of_kind(plugged(metrics=off), "PodMonitor", "PrometheusRule") == []


def test_the_rules_are_the_file_s():
    assert render.one(render.objects(render.MONITORING), "PrometheusRule")["spec"]["groups"][0]["rules"] == RULES


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule["alert"])
def test_an_alert_asks_for_metrics_that_exist_and_says_what_to_do(rule):
    asked = set(re.findall(r"\bsluice_\w+", rule["expr"]))
    known = {
        name + suffix
        for family in metrics.REGISTRY.collect()
        for name in [family.name]
        for suffix in ("", "_total", "_bucket", "_sum", "_count")
    }
    assert asked
    assert asked <= known
    assert rule["for"]
    assert rule["labels"]["severity"] in ("critical", "warning")
    assert len(rule["annotations"]["description"]) > 60
