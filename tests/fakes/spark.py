"""Spark in a driver's pod, as far as executors go: makes them of its template, and obeys `status.orders`.

What the plugin and the agent do between the two is left out: an order is carried out as soon as it stands there.
"""

import json
import re
from collections.abc import Callable
from typing import Any

from fakes import api
from sluice.build import conf
from sluice.values import names

Body = dict[str, Any]
_LABEL = "spark.kubernetes.executor.label."
_OVER = ("Succeeded", "Failed")


class Spark:
    """In all drivers."""

    def __init__(self, kube: api.FakeApi, let_go: Callable[[Body], None]) -> None:
        self._kube, self._let_go = kube, let_go
        self._made: dict[str, int] = {}  # executors so far, by uid of their driver

    def go_on(self, driver: Body) -> bool:
        """Sends one executor away that is to go, or makes one that is missing; whether there was one."""
        if _label(driver, names.ROLE) != names.DRIVER or driver["status"]["phase"] != "Running" or leaves(driver):
            return False
        orders = self._orders(driver)
        told, wanted = self._told(driver), orders.get("executors", {})
        mine = [pod for pod in self._kube.objects("Pod") if self._is_of(driver, pod)]
        named = [pod for pod in mine if _number(pod) in wanted.get("decommission", ())]
        if going := [pod for pod in named if not leaves(pod)]:
            self._let_go(going[0])
            return True
        # One that was sent away counts until it is gone, one that somebody deleted does not.
        there = [pod for pod in mine if not leaves(pod) or pod in named]
        if len(there) >= (wanted.get("total") or int(told["spark.executor.instances"])):
            return False
        template = orders.get("executorTemplate") or self._configured(driver)[conf.TEMPLATE]
        number = self._made[driver["metadata"]["uid"]] = self._made.get(driver["metadata"]["uid"], 0) + 1
        self._kube.put(_executor(driver, told, json.loads(template), number))
        return True

    def _orders(self, driver: Body) -> Body:
        job = self._kube.store.objects.get((names.PLURAL, driver["metadata"]["namespace"], _label(driver, names.JOB)))
        drivers = (job or {}).get("status", {}).get("orders", {}).get("drivers", {})
        found: Body = drivers.get(driver["metadata"]["name"], {})
        return found

    def _is_of(self, driver: Body, pod: Body) -> bool:
        owners = {owner["uid"] for owner in pod["metadata"].get("ownerReferences", ())}
        return driver["metadata"]["uid"] in owners and pod["status"]["phase"] not in _OVER

    def _told(self, driver: Body) -> dict[str, str]:
        words = driver["spec"]["containers"][0]["args"]
        own = dict(word.split("=", 1) for at, word in enumerate(words) if words[at - 1] == "--conf")
        lines = self._configured(driver)[conf.PROPERTIES].splitlines()
        return dict(re.sub(r"\\(.)", r"\1", line).split("=", 1) for line in lines) | own

    def _configured(self, driver: Body) -> dict[str, str]:
        job, revision = _label(driver, names.JOB), _label(driver, names.REVISION)
        name = names.config_map(job, revision)
        data: dict[str, str] = self._kube.get("ConfigMap", driver["metadata"]["namespace"], name)["data"]
        return data


def leaves(pod: Body) -> bool:
    """Whether it is on its way out."""
    return "deletionTimestamp" in pod["metadata"]


def _executor(driver: Body, told: dict[str, str], template: Body, number: int) -> Body:
    meta, spec = driver["metadata"], template["spec"]
    labels = {key.removeprefix(_LABEL): value for key, value in told.items() if key.startswith(_LABEL)}
    name = f"{told['spark.kubernetes.executor.podNamePrefix']}-exec-{number}"
    owner = {"apiVersion": "v1", "kind": "Pod", "name": meta["name"], "uid": meta["uid"], "controller": True}
    asked = {"cpu": told["spark.executor.cores"], "memory": "1Gi"}
    of_template = template["metadata"].get("labels", {})
    return {
        "kind": "Pod",
        "metadata": {
            "name": name,
            "namespace": meta["namespace"],
            "labels": {**of_template, **labels},
            "ownerReferences": [owner],
        },
        "spec": {**spec, "containers": [{**spec["containers"][0], "resources": {"requests": asked}}]},
        "status": {"phase": "Pending"},
    }


def _number(pod: Body) -> str:
    return str(pod["metadata"]["name"]).rpartition("-exec-")[2]


def _label(pod: Body, key: str) -> str:
    return str(pod["metadata"].get("labels", {}).get(key, ""))
