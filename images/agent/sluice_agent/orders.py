"""What the operator wants of one driver: `status.orders` of the StreamJob, read whole or not at all.

From :mod:`sluice_agent.watch` to :mod:`sluice_agent.board`. Pure. The document is described in
`images/agent/README.md`, what the plugin gets of it in `images/spark/plugin/PROTOCOL.md`.
"""

import dataclasses
import hashlib
import json
import re
from collections.abc import Mapping
from typing import Any

from sluice_agent import documents

MOST_BYTES = 512 << 10
_LONGEST_TEMPLATE = 128 << 10
_MOST_EXECUTORS = 1000
_LONGEST_DRAIN_MS = 24 * 3600 * 1000
_EXECUTOR = re.compile(r"[1-9][0-9]{0,8}")  # as Spark counts them on Kubernetes


@dataclasses.dataclass(frozen=True)
class Balance:
    """How this driver's batches are to be balanced: for us, not for the plugin."""

    act: bool  # false: we say how we would
    lever: bool
    timeout: bool
    whole: bool  # partitions stay whole
    weights: Mapping[str, float]  # of executors, by the operator's slower loop; empty: none


@dataclasses.dataclass(frozen=True)
class Orders:
    """For one driver."""

    order: int  # the operator's number
    serial: int  # ours: the same words have the same one, whoever restarted meanwhile
    words: Mapping[str, Any]  # the plugin's document, but for version and serial
    decommission: tuple[str, ...]
    template: str  # of executors; empty: nothing is said
    balance: Balance | None = None  # None: Spark cuts the input by itself

    @property
    def document(self) -> dict[str, Any]:
        """As the plugin gets it."""
        return {"version": documents.VERSION, "serial": self.serial, **self.words}


def read(found: Any, driver: str) -> Orders | None:
    """Orders for this driver, None when there are none; documents.Wrong says why not."""
    if found is None:
        return None
    size = len(json.dumps(found))
    if size > MOST_BYTES:
        raise documents.Wrong(f"orders have {size} bytes: allowed are {MOST_BYTES}")
    whole = documents.versioned(found, "orders")
    order = documents.whole(whole, "serial", where="orders.")
    for name in documents.within(whole, "drivers", "orders."):
        if not documents.is_name(name):
            raise documents.wrong("orders.drivers", name, "the names of driver pods")
    ours = documents.within(whole, "drivers", "orders.").get(driver)
    if ours is None:
        return None
    try:
        return _of_the_driver(documents.within({driver: ours}, driver), order)
    except documents.Wrong as why:
        raise documents.Wrong(f"orders {order}: {why}") from why


def _of_the_driver(ours: Mapping[str, Any], order: int) -> Orders:
    gate, executors = documents.within(ours, "gate"), documents.within(ours, "executors")
    leaving = _executors(executors)
    words: dict[str, Any] = {
        "gate": {
            "open": documents.flag(gate, "open", "gate."),
            "epoch": documents.whole(gate, "epoch", where="gate."),
        },
        "executors": {
            "total": documents.whole(executors, "total", 0, _MOST_EXECUTORS, "executors."),
            "decommission": list(leaving),
        },
        "warmUp": documents.flag(ours, "warmUp"),
        "preload": documents.flag(ours, "preload"),
    }
    drain = ours.get("drain")
    if drain is not None:
        words["drain"] = _drain(documents.within(ours, "drain"))
    template, balance = _template(ours.get("executorTemplate")), ours.get("balance")
    told = None if balance is None else _balance(documents.within(ours, "balance"))
    if told and told.act and (told.lever or told.weights):
        words["cut"] = {"whole": told.whole}  # until a query's first batch was measured
    return Orders(order, _serial(words), words, leaving, template, told)


def _balance(found: Mapping[str, Any]) -> Balance:
    act, lever, timeout, whole = (
        documents.flag(found, name, "balance.") for name in ("act", "lever", "timeout", "whole")
    )
    weights = documents.within(found, "weights", "balance.")
    if len(weights) > _MOST_EXECUTORS:
        raise documents.wrong("balance.weights", weights, f"at most {_MOST_EXECUTORS}")
    return Balance(act, lever, timeout, whole, {name: _weight(weights, name) for name in weights})


def _weight(weights: Mapping[str, Any], name: str) -> float:
    if not _EXECUTOR.fullmatch(name):
        raise documents.wrong("balance.weights", name, "the numbers of executors, as text")
    value = documents.number(weights, name, "balance.weights.")
    if value is None or not 0 < value <= 1:
        raise documents.wrong(f"balance.weights.{name}", value, "a number above 0, at most 1")
    return value


def _drain(drain: Mapping[str, Any]) -> dict[str, Any]:
    if "timeoutMs" not in drain:
        raise documents.wrong("drain.timeoutMs", None, f"a whole number from 0 to {_LONGEST_DRAIN_MS}")
    return {
        "id": documents.name(drain, "id", "drain."),
        "timeoutMs": documents.whole(drain, "timeoutMs", 0, _LONGEST_DRAIN_MS, "drain."),
        "calmMs": documents.whole(drain, "calmMs", 0, _LONGEST_DRAIN_MS, "drain."),
        "stop": documents.flag(drain, "stop", "drain."),
    }


def _executors(executors: Mapping[str, Any]) -> tuple[str, ...]:
    found = documents.items(executors, "decommission", _MOST_EXECUTORS, "executors.")
    for name in found:
        if not isinstance(name, str) or not _EXECUTOR.fullmatch(name):
            raise documents.wrong("executors.decommission", name, "the numbers of executors, as text")
    return tuple(sorted(set(found), key=int))


def _template(text: Any) -> str:
    """A broken template would stop Spark from making executors at all."""
    if text is None:
        return ""
    if not isinstance(text, str) or len(text) > _LONGEST_TEMPLATE:
        size = len(text) if isinstance(text, str) else documents.shown(text)
        raise documents.Wrong(f"executorTemplate is {size}: allowed is text of {_LONGEST_TEMPLATE} characters")
    pod = documents.parse(text.encode(errors="replace"), "executorTemplate")
    if not isinstance(pod, dict) or (pod.get("apiVersion"), pod.get("kind")) != ("v1", "Pod"):
        raise documents.wrong("executorTemplate", pod, "a v1 Pod as JSON")
    containers = documents.items(documents.within(pod, "spec", "executorTemplate."), "containers", 100)
    if not containers or not all(isinstance(item, dict) and documents.is_name(item.get("name")) for item in containers):
        raise documents.wrong("executorTemplate.spec.containers", containers, "a list of containers with names")
    return text


def _serial(words: Mapping[str, Any]) -> int:
    written = json.dumps(words, sort_keys=True, separators=(",", ":")).encode()
    return int.from_bytes(hashlib.sha256(written).digest()[:6], "big")
