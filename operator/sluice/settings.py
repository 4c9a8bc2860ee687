"""What an operator is told at its start: one field for each variable of its environment, and for each chart value.

`__main__` reads it once and hands it down as a value. Nobody else asks the environment.
"""

import dataclasses
import re
from collections.abc import Callable, Mapping
from typing import Any, Literal

from sluice.values import quantities

_LABEL = re.compile(r"[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?")
_SUBDOMAIN = re.compile(r"(?=.{1,253}$)[a-z0-9]([a-z0-9.-]*[a-z0-9])?")
_IMAGE = re.compile(r"[\w.:/@-]{1,512}")
_HTTP = re.compile(r"https?://[^\s/?#]+(/[^\s?#]*)?")
_MASTER = re.compile(r"k8s://https?://[^\s/]+(:\d+)?")


def _one_of(*allowed: str) -> Callable[[str], str]:
    def read(text: str) -> str:
        if text not in allowed:
            raise ValueError(", ".join(allowed))
        return text

    return read


def _like(pattern: re.Pattern[str], allowed: str) -> Callable[[str], str]:
    def read(text: str) -> str:
        if not pattern.fullmatch(text):
            raise ValueError(allowed)
        return text

    return read


def _whole(least: int, most: int) -> Callable[[str], int]:
    def read(text: str) -> int:
        if not re.fullmatch(r"[0-9]{1,9}", text) or not least <= int(text) <= most:
            raise ValueError(f"a whole number from {least} to {most}")
        return int(text)

    return read


def _duration_s(least: str, most: str) -> Callable[[str], float]:
    def read(text: str) -> float:
        try:
            found_s = quantities.duration_s(text)
        except ValueError:
            found_s = -1.0
        if not quantities.duration_s(least) <= found_s <= quantities.duration_s(most):
            raise ValueError(f"a duration from {least} to {most}")
        return found_s

    return read


def _namespaces(text: str) -> tuple[str, ...]:
    found = tuple(name.strip() for name in text.split(","))
    if not all(_LABEL.fullmatch(name) for name in found):
        raise ValueError("names of namespaces, a comma between them; nothing for all of them")
    return tuple(sorted(set(found)))


def _set(variable: str, default: object, read: Callable[[str], object], about: str) -> Any:
    return dataclasses.field(default=default, metadata={"variable": variable, "read": read, "about": about})


_name = _like(_SUBDOMAIN, "a Kubernetes name: a-z, 0-9, - and ., at most 253 characters")
_image = _like(_IMAGE, "an image such as registry.example/sluice-agent:0.1.0, or nothing")
_http = _like(_HTTP, "a URL such as http://prometheus.monitoring:9090, or nothing")
_url = _like(_MASTER, "a Spark master such as k8s://https://kubernetes.default.svc")


@dataclasses.dataclass(frozen=True)
class Settings:
    """Everything that may differ between two operators of one build."""

    namespaces: tuple[str, ...] = _set(
        "SLUICE_NAMESPACES", (), _namespaces, "Namespaces whose StreamJobs are run, a comma between them; nothing: all."
    )
    agent_image: str = _set("SLUICE_AGENT_IMAGE", "", _image, "The sidecar of every driver; nothing: no sidecar.")
    plugin_image: str = _set("SLUICE_PLUGIN_IMAGE", "", _image, "Brings the plugin into every driver; nothing: none.")
    pod_name: str = _set("SLUICE_POD_NAME", "sluice", _name, "The operator's own pod: who leads, who wrote an event.")
    pod_namespace: str = _set("SLUICE_POD_NAMESPACE", "sluice", _name, "Where the operator's own Lease is kept.")
    lease_name: str = _set("SLUICE_LEASE_NAME", "sluice", _name, "The Lease that says which operator leads.")
    workers: int = _set("SLUICE_WORKERS", 32, _whole(1, 256), "Jobs looked at side by side; connections to the API.")
    placement: Literal["cluster", "off"] = _set(
        "SLUICE_PLACEMENT", "cluster", _one_of("cluster", "off"), "off: nodes may not be read, so no gate is ever set."
    )
    gate_timeout_s: float = _set(
        "SLUICE_GATE_TIMEOUT", 30.0, _duration_s("1s", "5m"), "An executor not placed by then starts wherever it fits."
    )
    http_port: int = _set("SLUICE_HTTP_PORT", 8080, _whole(1024, 65535), "Port of /healthz, /readyz and /metrics.")
    log_level: str = _set(
        "SLUICE_LOG_LEVEL", "info", _one_of("debug", "info", "warning", "error"), "The least that is worth a log line."
    )
    driver_role: str = _set("SLUICE_DRIVER_ROLE", "sluice-driver", _name, "The ClusterRole every driver is bound to.")
    api_server_url: str = _set(
        "SLUICE_API_SERVER_URL", "k8s://https://kubernetes.default.svc", _url, "Where drivers find the API server."
    )
    prometheus_url: str = _set(
        "SLUICE_PROMETHEUS_URL", "", _http, "Where task times are asked for; nothing: the agents beside the drivers."
    )


def read(environment: Mapping[str, str]) -> Settings:
    """The settings of an environment; ValueError names each wrong variable, its value and what is allowed.

    A variable that is not there, or says nothing, keeps its default.
    """
    found: dict[str, Any] = {}
    wrong = []
    for field in dataclasses.fields(Settings):
        variable = field.metadata["variable"]
        if not (text := environment.get(variable, "").strip()):
            continue
        try:
            found[field.name] = field.metadata["read"](text)
        except ValueError as allowed:
            wrong.append(f"{variable}={text!r}: allowed is {allowed}")
    if wrong:
        raise ValueError("; ".join(wrong))
    return Settings(**found)
