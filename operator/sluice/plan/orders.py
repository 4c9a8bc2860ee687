"""`status.orders`: what the agents beside the drivers are told, as `images/agent/README.md` has it. For plan.status.

A driver with the plugin is named here in the same write that records its attempt, so before its pod is made; who is not
named was started without. A driver that waits for nobody may pass its gate at once, with the next free epoch.
"""

from collections.abc import Mapping

from sluice.plan import verdicts, weights
from sluice.values import names, records, views
from sluice.values.streamjob import Body

_VERSION = 1
_BEGIN: Body = {"gate": {"open": True}}


def wanted(view: views.JobView, verdict: verdicts.Verdict) -> Body | None:
    """As they should read; None where no driver ever had the plugin. The serial rises with each change."""
    before: Body = view.job.status.get("orders") or {}
    were = told(view)
    drivers = {pod.name: were[pod.name] for pod in living(view) if pod.name in were}
    if verdict.plugged is not None:
        drivers.pop(verdict.driver.pod, None)
    if verdict.plugged:
        drivers[verdict.driver.pod] = _BEGIN
    drivers |= verdict.told
    drivers = {name: weights.ordered(view, name, one) for name, one in drivers.items()}
    if drivers == were:
        return before or None
    return {"version": _VERSION, "serial": before.get("serial", 0) + 1, "drivers": drivers}


def told(view: views.JobView) -> Mapping[str, Body]:
    """What each driver was told so far, by pod."""
    before: Body = view.job.status.get("orders") or {}
    found: Mapping[str, Body] = before.get("drivers") or {}
    return found


def living(view: views.JobView) -> list[records.Pod]:
    """Drivers that are not over."""
    return [pod for pod in view.pods if pod.role == names.DRIVER and not pod.over]
