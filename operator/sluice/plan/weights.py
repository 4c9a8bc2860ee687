"""`balance` in the orders: what the agent may do about shares and late tasks, and the weights. For plan.orders; pure.

A second writer there is not: the latency loop (:mod:`sluice.plan.balancing`) only says what the weights are.
"""

from collections.abc import Mapping

from sluice.plan import crew
from sluice.values import names, views
from sluice.values.streamjob import Body

_PLACES = 6  # a thousand executors are told apart
_THEIRS = "spark.speculation.multiplier"  # who sets it himself, sets it


def ordered(view: views.JobView, driver: str, told: Body) -> Body:
    """The orders of a driver, whatever they are, with this one's part as it should be."""
    spec = view.job.spec.rebalance
    rest = {field: value for field, value in told.items() if field != "balance"}
    if spec.mode == "Off":
        return rest
    replays = view.job.spec.replays and not _is_settled(view.job.spec.spark_conf)
    balance: dict[str, object] = {"act": spec.mode == "Act", "lever": spec.lever, "timeout": replays}
    if spec.keep_order:
        balance["whole"] = True
    if found := _weights(view, driver, told):
        balance["weights"] = found
    return {**rest, "balance": balance}


def in_force(told: Body) -> Mapping[str, float]:
    """Those that a driver was told last; none: it was told none."""
    found: Mapping[str, float] = told.get("balance", {}).get("weights", {})
    return found


def rounded(weights: Mapping[str, float]) -> dict[str, float]:
    """In parts of one, as they are written: who has most takes what rounding leaves."""
    total = sum(weights.values())
    found = {name: round(weights[name] / total, _PLACES) for name in sorted(weights)}
    most = max(found, key=lambda name: found[name])
    rest = sum(part for name, part in found.items() if name != most)
    return {**found, most: round(1.0 - rest, _PLACES)}


def _is_settled(theirs: Mapping[str, str]) -> bool:
    """By the user himself, so that nobody else may say when a task is late."""
    return theirs.get("spark.speculation") == "false" or _THEIRS in theirs


def _weights(view: views.JobView, driver: str, told: Body) -> Mapping[str, float]:
    """Of executors that are there alone: what one had that is gone is shared out."""
    spec = view.job.spec.rebalance
    if spec.mode != "Act" or not spec.latency or view.job.spec.real_time:
        return {}
    ours = view.balance is not None and view.balance.driver == driver
    wanted = view.balance.weights if ours and view.balance else in_force(told)
    there = _executors(view, driver) if wanted else set()
    kept = {name: part for name, part in wanted.items() if name in there}
    return kept if len(kept) == len(wanted) or not kept else rounded(kept)


def _executors(view: views.JobView, driver: str) -> set[str]:
    owners = {pod.uid for pod in view.pods if pod.name == driver}
    mine = (pod for pod in view.pods if pod.role == names.EXECUTOR and pod.owner_uid in owners and not pod.over)
    return {crew.number(pod) for pod in mine}
