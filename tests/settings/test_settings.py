"""An operator says at its start what it was told wrong, all of it, and what is allowed."""

import dataclasses

import pytest

from sluice import settings


def test_an_empty_environment_gives_the_defaults():
    assert settings.read({}) == settings.Settings()
    assert settings.read({"SLUICE_WORKERS": " ", "SLUICE_NAMESPACES": ""}) == settings.Settings()


def test_every_variable_arrives_at_its_field():
    told = {
        "SLUICE_NAMESPACES": "clicks, ads,clicks",
        "SLUICE_AGENT_IMAGE": "registry.example:5000/sluice-agent@sha256:0a1b",
        "SLUICE_PLUGIN_IMAGE": "registry.example/sluice-plugin:1",
        "SLUICE_POD_NAME": "sluice-6d5f-x2x4z",
        "SLUICE_POD_NAMESPACE": "sluice-system",
        "SLUICE_LEASE_NAME": "sluice-two",
        "SLUICE_WORKERS": "8",
        "SLUICE_PLACEMENT": "off",
        "SLUICE_GATE_TIMEOUT": "1m30s",
        "SLUICE_HTTP_PORT": "9090",
        "SLUICE_LOG_LEVEL": "debug",
        "SLUICE_DRIVER_ROLE": "two-sluice-driver",
        "SLUICE_API_SERVER_URL": "k8s://https://10.0.0.1:6443",
        "SLUICE_PROMETHEUS_URL": "https://prometheus.example/tenant",
    }
    assert settings.read({**told, "SLUICE_SERVICE_HOST": "somebody else's"}) == settings.Settings(
        namespaces=("ads", "clicks"),
        agent_image="registry.example:5000/sluice-agent@sha256:0a1b",
        plugin_image="registry.example/sluice-plugin:1",
        pod_name="sluice-6d5f-x2x4z",
        pod_namespace="sluice-system",
        lease_name="sluice-two",
        workers=8,
        placement="off",
        gate_timeout_s=90.0,
        http_port=9090,
        log_level="debug",
        driver_role="two-sluice-driver",
        api_server_url="k8s://https://10.0.0.1:6443",
        prometheus_url="https://prometheus.example/tenant",
    )
    assert {field.metadata["variable"] for field in dataclasses.fields(settings.Settings)} == set(told)


@pytest.mark.parametrize(
    ("variable", "text", "allowed"),
    [
        ("SLUICE_NAMESPACES", "a,,b", "names of namespaces, a comma between them; nothing for all of them"),
        ("SLUICE_NAMESPACES", "Clicks", "names of namespaces, a comma between them; nothing for all of them"),
        ("SLUICE_AGENT_IMAGE", "a b", "an image such as registry.example/sluice-agent:0.1.0, or nothing"),
        ("SLUICE_POD_NAME", "a_b", "a Kubernetes name: a-z, 0-9, - and ., at most 253 characters"),
        ("SLUICE_LEASE_NAME", "a" * 254, "a Kubernetes name: a-z, 0-9, - and ., at most 253 characters"),
        ("SLUICE_WORKERS", "0", "a whole number from 1 to 256"),
        ("SLUICE_WORKERS", "257", "a whole number from 1 to 256"),
        ("SLUICE_WORKERS", "1e2", "a whole number from 1 to 256"),
        ("SLUICE_PLACEMENT", "Off", "cluster, off"),
        ("SLUICE_GATE_TIMEOUT", "30", "a duration from 1s to 5m"),
        ("SLUICE_GATE_TIMEOUT", "6m", "a duration from 1s to 5m"),
        ("SLUICE_HTTP_PORT", "80", "a whole number from 1024 to 65535"),
        ("SLUICE_HTTP_PORT", "tcp://10.0.0.1:80", "a whole number from 1024 to 65535"),
        ("SLUICE_LOG_LEVEL", "loud", "debug, info, warning, error"),
        ("SLUICE_API_SERVER_URL", "https://kubernetes", "a Spark master such as k8s://https://kubernetes.default.svc"),
        ("SLUICE_PROMETHEUS_URL", "prometheus:9090", "a URL such as http://prometheus.monitoring:9090, or nothing"),
    ],
)
def test_a_wrong_value_is_answered_with_its_variable_and_what_is_allowed(variable, text, allowed):
    with pytest.raises(ValueError) as caught:
        settings.read({variable: text})
    assert str(caught.value) == f"{variable}={text!r}: allowed is {allowed}"


def test_everything_that_is_wrong_is_said_at_once():
    with pytest.raises(ValueError, match=r"SLUICE_WORKERS='x': .*; SLUICE_LOG_LEVEL='y': "):
        settings.read({"SLUICE_LOG_LEVEL": "y", "SLUICE_WORKERS": "x"})


@pytest.mark.parametrize("field", dataclasses.fields(settings.Settings), ids=lambda field: field.name)
def test_every_field_says_what_it_is_for(field):
    assert field.metadata["about"].endswith(".")
