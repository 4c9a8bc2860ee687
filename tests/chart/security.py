"""Pod Security Standard *restricted*, as far as a pod's own words go."""

from collections.abc import Mapping
from typing import Any

Body = Mapping[str, Any]

_VOLUMES = {
    "configMap", "csi", "downwardAPI", "emptyDir", "ephemeral", "persistentVolumeClaim", "projected", "secret",
}  # fmt: skip


def unrestricted(spec: Body) -> list[str]:
    """What a namespace that enforces *restricted* would refuse a pod for."""
    pod = spec.get("securityContext", {})
    found = [key for key in ("hostNetwork", "hostPID", "hostIPC") if spec.get(key)]
    found += [f"volume {v['name']}" for v in spec.get("volumes", ()) if not _VOLUMES & v.keys()]
    for container in (*spec.get("initContainers", ()), *spec["containers"]):
        own = container.get("securityContext", {})
        found += [f"{container['name']}: {fault}" for fault in _faults({**pod, **own})]
        found += [f"{container['name']}: hostPort" for port in container.get("ports", ()) if port.get("hostPort")]
    return found


def _faults(context: Body) -> list[str]:
    wanted = {
        "allowPrivilegeEscalation": context.get("allowPrivilegeEscalation") is False,
        "capabilities": context.get("capabilities", {}).get("drop") == ["ALL"] and "add" not in context["capabilities"],
        "privileged": not context.get("privileged"),
        "runAsNonRoot": context.get("runAsNonRoot") is True,
        "runAsUser": context.get("runAsUser") != 0,
        "seccompProfile": context.get("seccompProfile", {}).get("type") in ("RuntimeDefault", "Localhost"),
    }
    return [name for name, met in wanted.items() if not met]
