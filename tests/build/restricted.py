"""What Kubernetes' Pod Security Standard *restricted* asks for, as far as a manifest tells: breaches, by field."""

from collections.abc import Iterator
from typing import Any

_VOLUMES = {
    "configMap", "csi", "downwardAPI", "emptyDir", "ephemeral", "persistentVolumeClaim", "projected", "secret",
}  # fmt: skip


def breaches(spec: dict[str, Any]) -> list[str]:
    """Fields of a pod's spec that the standard would refuse."""
    found = [field for field in ("hostNetwork", "hostPID", "hostIPC") if spec.get(field)]
    found += [f"volumes[{v['name']}]" for v in spec.get("volumes", []) if not _VOLUMES & v.keys()]
    of_pod = spec.get("securityContext", {})
    for kind in ("initContainers", "containers"):
        for container in spec.get(kind, []):
            found += [f"{kind}[{container['name']}].{breach}" for breach in _container(container, of_pod)]
    return found


def _container(container: dict[str, Any], of_pod: dict[str, Any]) -> Iterator[str]:
    own = container.get("securityContext", {})
    both = {**of_pod, **own}
    if own.get("privileged"):
        yield "privileged"
    if own.get("allowPrivilegeEscalation") is not False:
        yield "allowPrivilegeEscalation"
    if "ALL" not in own.get("capabilities", {}).get("drop", []):
        yield "capabilities.drop"
    if set(own.get("capabilities", {}).get("add", [])) - {"NET_BIND_SERVICE"}:
        yield "capabilities.add"
    if both.get("runAsNonRoot") is not True:
        yield "runAsNonRoot"
    if both.get("runAsUser") == 0:
        yield "runAsUser"
    if both.get("seccompProfile", {}).get("type") not in ("RuntimeDefault", "Localhost"):
        yield "seccompProfile"
    if any(port.get("hostPort") for port in container.get("ports", [])):
        yield "hostPort"
