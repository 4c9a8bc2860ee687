"""Where the API server keeps each kind that Sluice reads or writes."""

from sluice.values import names

_OURS = f"/apis/{names.GROUP}/{names.VERSION}"
_HOMES = {
    "ConfigMap": ("/api/v1", "configmaps"),
    "Event": ("/api/v1", "events"),
    "Lease": ("/apis/coordination.k8s.io/v1", "leases"),
    "Node": ("/api/v1", "nodes"),
    "PersistentVolumeClaim": ("/api/v1", "persistentvolumeclaims"),
    "Pod": ("/api/v1", "pods"),
    "PodDisruptionBudget": ("/apis/policy/v1", "poddisruptionbudgets"),
    "RoleBinding": ("/apis/rbac.authorization.k8s.io/v1", "rolebindings"),
    "Service": ("/api/v1", "services"),
    "ServiceAccount": ("/api/v1", "serviceaccounts"),
    names.KIND: (_OURS, names.PLURAL),
}


def collection(kind: str, namespace: str = "") -> str:
    """All of a kind: in one namespace, or everywhere."""
    if kind not in _HOMES:
        raise ValueError(f"kind {kind!r}: allowed are {', '.join(_HOMES)}")
    home, plural = _HOMES[kind]
    return f"{home}/namespaces/{namespace}/{plural}" if namespace else f"{home}/{plural}"


def item(kind: str, namespace: str, name: str) -> str:
    """One object."""
    return f"{collection(kind, namespace)}/{name}"


def plural(path: str) -> str:
    """What a path is about, for counting: `pods`, `streamjobs`."""
    _, _, inside = path.partition("/namespaces/")
    words = inside.split("/")[1:] if "/" in inside else path.split("/")[3 if path.startswith("/api/") else 4 :]
    return words[0] if words else "namespaces"
