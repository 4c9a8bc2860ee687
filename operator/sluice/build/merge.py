"""One manifest laid over another, as Kubernetes' own strategic merge: what has a name is found by it.

Used three deep: Sluice's defaults, over them the user's template, over that what Sluice must have.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from sluice.values.streamjob import Body

_NAMED_BY = {
    "containers": "name",
    "initContainers": "name",
    "ephemeralContainers": "name",
    "volumes": "name",
    "env": "name",
    "imagePullSecrets": "name",
    "schedulingGates": "name",
    "volumeMounts": "mountPath",
    "volumeDevices": "devicePath",
    "ports": "containerPort",
    "hostAliases": "ip",
}
_GROWING = {"tolerations", "envFrom", "topologySpreadConstraints", "readinessGates", "supplementalGroups"}


def lay(over: Body, under: Body, where: str = "") -> dict[str, Any]:
    """Both; where they disagree, `over` counts. ValueError names the place in the spec that is not as a pod is."""
    found = dict(under)
    for key, value in over.items():
        at = f"{where}.{key}"
        found[key] = _checked(value, key, at) if under.get(key) is None else _laid(value, under[key], key, at)
    return found


def _laid(over: Any, under: Any, key: str, where: str) -> Any:
    if isinstance(under, Mapping):
        return under if over is None else lay(_as(Mapping, over, where), under, where)
    if key in _NAMED_BY:
        return under if over is None else _by_name(_as(list, over, where), under, _NAMED_BY[key], where)
    if key in _GROWING and isinstance(under, Sequence) and over is not None:
        return [*under, *(item for item in _as(list, over, where) if item not in under)]
    return over


def _by_name(over: Sequence[Any], under: Sequence[Any], name: str, where: str) -> list[Any]:
    found = {item[name]: item for item in under}
    for index, item in enumerate(over):
        at = f"{where}[{index}]"
        key = _name(item, name, at)
        found[key] = lay(item, found[key], at) if key in found else item
    return list(found.values())


def _checked(value: Any, key: str, where: str) -> Any:
    if value is not None and (key in _NAMED_BY or key in _GROWING):
        for index, item in enumerate(_as(list, value, where)):
            if key in _NAMED_BY:
                _name(item, _NAMED_BY[key], f"{where}[{index}]")
    return value


def _name(item: Any, name: str, where: str) -> Any:
    if not isinstance(item, Mapping) or not isinstance(item.get(name), str | int):
        raise ValueError(f"{where}: {name} is missing")
    return item[name]


def _as(kind: Any, value: Any, where: str) -> Any:
    if not isinstance(value, kind):
        raise ValueError(f"{where}={value!r}: allowed is {'an object' if kind is Mapping else 'a list'}")
    return value
