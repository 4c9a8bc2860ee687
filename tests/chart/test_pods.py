"""The pods of a release: what they are told, and that the strictest namespace takes them."""

import dataclasses

import pytest

from chart import render, security
from sluice import settings

PLUGGED = {"agentImage": "registry.example/agent:1", "pluginImage": "registry.example/plugin:1"}
# What each value becomes: a value of the chart, and the variable that says it.
TOLD = {
    "SLUICE_NAMESPACES": ({"namespaces": ["clicks", "ads"]}, "clicks,ads"),
    "SLUICE_AGENT_IMAGE": ({"agentImage": "registry.example/agent:1"}, "registry.example/agent:1"),
    "SLUICE_PLUGIN_IMAGE": (PLUGGED, "registry.example/plugin:1"),
    "SLUICE_WORKERS": ({"workers": 8}, "8"),
    "SLUICE_PLACEMENT": ({"placement": "off"}, "off"),
    "SLUICE_GATE_TIMEOUT": ({"gateTimeout": "1m"}, "1m"),
    "SLUICE_HTTP_PORT": ({"httpPort": 9090}, "9090"),
    "SLUICE_LOG_LEVEL": ({"logLevel": "debug"}, "debug"),
    "SLUICE_DRIVER_ROLE": ({"driverRole": {"name": "two-driver"}}, "two-driver"),
    "SLUICE_PROMETHEUS_URL": ({"prometheus": {"url": "http://p.monitoring:9090"}}, "http://p.monitoring:9090"),
    "SLUICE_API_SERVER_URL": ({"apiServerUrl": "k8s://https://10.0.0.1"}, "k8s://https://10.0.0.1"),
}
OF_THE_POD = {"SLUICE_POD_NAME": "metadata.name", "SLUICE_POD_NAMESPACE": "metadata.namespace"}
OF_THE_RELEASE = {"SLUICE_LEASE_NAME": "sluice"}


def environment(**values):
    (container,) = render.operator_pod(render.objects(**values))["spec"]["containers"]
    return {one["name"]: one.get("value", one.get("valueFrom")) for one in container["env"]}


def test_the_environment_is_the_settings_and_nothing_else():
    variables = {field.metadata["variable"] for field in dataclasses.fields(settings.Settings)}
    assert set(environment()) == variables == {*TOLD, *OF_THE_POD, *OF_THE_RELEASE}


def test_the_chart_s_defaults_are_the_operator_s():
    found = {name: value for name, value in environment().items() if name not in OF_THE_POD}
    assert settings.read(found) == settings.Settings()


@pytest.mark.parametrize("variable", TOLD)
def test_a_value_arrives_in_its_variable_and_is_allowed_there(variable):
    values, text = TOLD[variable]
    assert environment(**values)[variable] == text
    settings.read({variable: text})


def test_the_pod_tells_its_own_name_and_namespace():
    found = environment()
    assert {name: found[name]["fieldRef"]["fieldPath"] for name in OF_THE_POD} == OF_THE_POD


@pytest.mark.parametrize(
    ("values", "placement"),
    [
        ({}, "cluster"),
        ({"namespaces": ["ads"]}, "off"),
        ({"namespaces": ["ads"], "placement": "cluster"}, "cluster"),
        ({"placement": "off"}, "off"),
    ],
)
def test_placement_goes_with_what_may_be_read(values, placement):
    assert environment(**values)["SLUICE_PLACEMENT"] == placement


def test_every_pod_is_restricted_its_root_cannot_be_written_and_it_has_limits():
    found = render.objects()
    pods = [render.operator_pod(found)["spec"], render.one(found, "Pod", "sluice-test")["spec"]]
    for spec in pods:
        assert security.unrestricted(spec) == []
        assert spec["enableServiceLinks"] is False
        for container in spec["containers"]:
            assert container["securityContext"]["readOnlyRootFilesystem"] is True
            assert container["resources"]["limits"]["memory"]
            assert container["resources"]["requests"].keys() == {"cpu", "memory"}


def test_the_checker_finds_what_restricted_forbids():
    spec = {
        "hostNetwork": True,
        "volumes": [{"name": "host", "hostPath": {}}],
        "securityContext": {"runAsUser": 0},
        "containers": [{"name": "a", "securityContext": {"privileged": True}, "ports": [{"hostPort": 1}]}],
    }
    assert security.unrestricted(spec) == [
        "hostNetwork",
        "volume host",
        "a: allowPrivilegeEscalation",
        "a: capabilities",
        "a: privileged",
        "a: runAsNonRoot",
        "a: runAsUser",
        "a: seccompProfile",
        "a: hostPort",
    ]


def test_probes_ask_the_pages_that_the_operator_answers():
    (container,) = render.operator_pod(render.objects(httpPort=9090))["spec"]["containers"]
    asked = {probe: container[probe]["httpGet"] for probe in ("startupProbe", "livenessProbe", "readinessProbe")}
    assert asked == {
        "startupProbe": {"path": "/healthz", "port": "http"},
        "livenessProbe": {"path": "/healthz", "port": "http"},
        "readinessProbe": {"path": "/readyz", "port": "http"},
    }
    assert container["ports"] == [{"name": "http", "containerPort": 9090, "protocol": "TCP"}]


def test_an_update_brings_the_new_pod_up_before_the_old_one_goes():
    spec = render.one(render.objects(), "Deployment")["spec"]
    assert spec["strategy"]["rollingUpdate"] == {"maxSurge": 1, "maxUnavailable": 0}


def test_two_replicas_are_not_drained_at_once():
    assert render.one(render.objects(replicas=2), "PodDisruptionBudget")["spec"]["minAvailable"] == 1
    assert render.of_kind(render.objects(), "PodDisruptionBudget") == []


def test_the_service_finds_the_operator_and_not_the_pod_that_tests_it():
    found = render.objects()
    selector = render.one(found, "Service")["spec"]["selector"].items()
    assert selector <= render.operator_pod(found)["metadata"]["labels"].items()
    assert not selector <= render.one(found, "Pod", "sluice-test")["metadata"]["labels"].items()
