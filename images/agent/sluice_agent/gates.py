"""Lifts the gate of executors that wait too long: a silent operator must not keep a job from running.

The operator opens a gate when it has found a place. What still waits after `gate_timeout_s` starts wherever it fits.
"""

import dataclasses
import datetime
import logging
import urllib.parse
from collections.abc import Mapping
from typing import Any

from sluice_agent import client, settings

_LOG = logging.getLogger(__name__)
_MERGE = "application/merge-patch+json"
_SHORTEST_S = 1.0


@dataclasses.dataclass(frozen=True)
class Waiting:
    """An executor behind the gate."""

    name: str
    resource_version: str
    age_s: float
    other_gates: tuple[Mapping[str, Any], ...]


class Refused(Exception):  # it is what it says
    """The API server does not let us; trying at once again would not help."""


def look(api: client.Client, told: settings.Settings) -> float:
    """Lifts what has waited too long; how long nothing can be due, in seconds."""
    answer = api.call("GET", _pending(told))
    if not answer.ok:
        raise Refused(f"cannot list executors: {answer.sentence}")
    # Half of the patience: an executor is seen before it is due, and the look at which it is due is made for it.
    next_s = told.gate_timeout_s / 2
    for executor in waiting(answer.body, told.gate, answer.at_s):
        left_s = told.gate_timeout_s - executor.age_s
        if left_s <= 0:
            _lift(api, told, executor)
        else:
            next_s = min(next_s, left_s)
    return max(next_s, _SHORTEST_S)


def waiting(listed: Mapping[str, Any], gate: str, now_s: float) -> list[Waiting]:
    """The executors of a list of pods that wait behind this gate."""
    found = []
    for pod in listed.get("items") or ():
        meta, gates = pod["metadata"], pod["spec"].get("schedulingGates") or ()
        others = tuple(item for item in gates if item["name"] != gate)
        if len(others) < len(gates) and "deletionTimestamp" not in meta:
            created = datetime.datetime.fromisoformat(meta["creationTimestamp"])
            found.append(Waiting(meta["name"], meta["resourceVersion"], now_s - created.timestamp(), others))
    return found


def _lift(api: client.Client, told: settings.Settings, executor: Waiting) -> None:
    """Opens the gate of exactly this version of the pod: if the operator was quicker, its decision stays."""
    patch = {
        "metadata": {"resourceVersion": executor.resource_version},
        "spec": {"schedulingGates": list(executor.other_gates)},
    }
    path = f"/api/v1/namespaces/{told.namespace}/pods/{executor.name}"
    answer = api.call("PATCH", path, patch, _MERGE)
    if answer.ok:
        _LOG.warning("%s waited %.0f s for the operator: it starts wherever it fits", executor.name, executor.age_s)
    elif answer.status not in (404, 409):
        raise Refused(f"cannot lift the gate of {executor.name}: {answer.sentence}")


def _pending(told: settings.Settings) -> str:
    """Only what is not yet on a node, and from the API server's memory: thousands of agents ask."""
    query = {"labelSelector": told.executors, "fieldSelector": "status.phase=Pending", "resourceVersion": "0"}
    return f"/api/v1/namespaces/{told.namespace}/pods?{urllib.parse.urlencode(query)}"
