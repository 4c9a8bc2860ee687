"""What driver and executors have in common: a pod that passes the Pod Security Standard *restricted* by default."""

from collections.abc import Mapping
from typing import Any

from sluice.build import merge
from sluice.values.streamjob import Body

USER = 185  # of Spark's images, which name it and so do not tell a kubelet that it is not root
_CONTAINER = {"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}}
_LOST = ("node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable")
_AWAY_S = 30  # a node that does not answer for so long is left; Kubernetes' own 300 s is a long pause


def defaults(account: str) -> dict[str, Any]:
    """A pod's spec before the user's template."""
    return {
        "serviceAccountName": account,
        # One variable for each Service of the namespace: with thousands, no process starts any more.
        "enableServiceLinks": False,
        "securityContext": {
            "runAsNonRoot": True,
            "runAsUser": USER,
            "fsGroup": USER,
            "fsGroupChangePolicy": "OnRootMismatch",
            "seccompProfile": {"type": "RuntimeDefault"},
        },
    }


def template(found: Any, where: str) -> tuple[Body, Body]:
    """Metadata and spec of a user's template; ValueError names what is not as a pod is."""
    whole = mapping(found, where)
    return mapping(whole.get("metadata"), f"{where}.metadata"), mapping(whole.get("spec"), f"{where}.spec")


def notes(found: Any, ours: Mapping[str, str], where: str) -> dict[str, Any]:
    """Labels or annotations: the user's, and ours over them."""
    return merge.lay(ours, mapping(found, where), where)


def secured(spec: Body, where: str) -> dict[str, Any]:
    """The same pod, each of its containers without privileges that nobody asked for, and away from lost nodes."""
    found = dict(spec)
    for kind in ("initContainers", "containers"):
        if spec.get(kind):
            found[kind] = [_secured(item, f"{where}.{kind}") for item in spec[kind]]
    tolerated = spec.get("tolerations") or []
    theirs = {item.get("key") for item in tolerated if isinstance(item, Mapping)}
    ours = [
        {"key": key, "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": _AWAY_S}
        for key in _LOST
        if key not in theirs
    ]
    return {**found, "tolerations": [*tolerated, *ours]}


def _secured(container: Body, where: str) -> Body:
    theirs = mapping(container.get("securityContext"), f"{where}.securityContext")
    return {**container, "securityContext": merge.lay(theirs, _CONTAINER, where)}


def mapping(found: Any, where: str) -> Body:
    """What should be an object, or is left out."""
    if not isinstance(found, Mapping | None):
        raise ValueError(f"{where}={found!r}: allowed is an object")
    return found or {}
