"""The condition Balanced, and what the latency loop decided as `status.decisions` has it. For plan.conditions; pure."""

from collections.abc import Sequence

from sluice.plan import balancing, crew, inside, measured, sampled, verdicts
from sluice.values import balances, reports, streamjob, views
from sluice.values.streamjob import Body

MOST = 3  # of the last ten decisions: a loop of 15 s would else push out what happens once a month
_NODES = 8  # named in a sentence
QUIET = ("Off", "Observe", "Waiting", "NotMeasured", "NoDriver", "NotHeard", "NoBatch", "Silent")  # no event
_OF_THE_LOOP = ("Waiting", "Balanced", "Shifting", "Refused")
_HOLDS: dict[balances.Reason, bool | None] = {"Waiting": None, "Balanced": True, "Shifting": False, "Refused": None}
_OFF = "rebalance.mode is Off: Spark cuts the input"
_NEITHER = "neither rebalance.lever nor rebalance.latency is enabled: Spark cuts the input"
_REAL_TIME = "in Real-Time Mode work is shifted by routing, which comes later"
_ASIDE, _LESS = "; ", "can carry less than half of an equal part"  # a message that ends so tells who is slow
_NO_QUERY: measured.Found = (None, "Waiting", "no query runs yet")
_UNMEASURED: measured.Found = (None, "Waiting", "nothing was measured yet")


def balanced(view: views.JobView, seen: inside.Inside) -> measured.Found:
    """Whether each executor gets what it can do."""
    spec = view.job.spec.rebalance
    if spec.mode == "Off":
        return False, "Off", _OFF
    if missing := measured.missing(seen):
        return missing
    if not (spec.lever or spec.latency):
        return False, "Off", _NEITHER
    alive = [one for one in (seen.said.queries if seen.said else ()) if one.phase != "ended"]
    found = _of_queries(view, alive)
    if found[1] not in _OF_THE_LOOP:
        return found
    holds, reason, message = found
    message = _ASIDE.join(one for one in (message, _slow(view, seen.driver, alive)) if one)
    if spec.mode == "Observe":
        return False, "Observe", f"rebalance.mode is Observe, so nothing is done: {message}"
    return holds, reason, message


def _of_queries(view: views.JobView, alive: Sequence[reports.Query]) -> measured.Found:
    if not alive:
        return _NO_QUERY
    if why := _left_alone(view.job.spec, alive):
        return False, "LeftAlone", why
    if unsaid := balancing.unsaid(alive):
        return None, "Waiting", unsaid
    return _by_latency(view) if view.job.spec.rebalance.latency else _by_lever(alive)


def slow(message: str) -> str:
    """What of the condition's message tells who is slow."""
    return message.rpartition(_ASIDE)[2] if message.endswith(_LESS) else ""


def _slow(view: views.JobView, driver: str, alive: Sequence[reports.Query]) -> str:
    """Who carries little, and where: what a person looks for first when a batch takes long."""
    named = {number for one in alive for number in one.slow}
    found = [pod for number, pod in sampled.numbered(view.pods, driver).items() if number in named]
    if not found:
        return ""
    nodes = sorted({pod.node for pod in found})
    where = ", ".join(nodes) if len(nodes) <= _NODES else f"{len(nodes)} nodes"
    return f"{crew.numbers(found)} on {where} {_LESS}"


def decision(view: views.JobView) -> tuple[verdicts.Decision, ...]:
    """What the loop last decided."""
    last = view.balance
    return (
        (verdicts.Decision(last.at_s, balancing.KIND, last.driver, last.what, last.message),)
        if last and last.what
        else ()
    )


def few(decisions: Sequence[Body]) -> list[Body]:
    """All but the loop's older ones."""
    ours = [one for one in decisions if one["kind"] == balancing.KIND]
    return [one for one in decisions if one not in ours[:-MOST]]


def _left_alone(spec: streamjob.Spec, alive: Sequence[reports.Query]) -> str:
    """The first query whose input is not cut, and why."""
    for one in alive:
        if spec.real_time or one.engine == "RealTime":
            return f"{one.name}: {_REAL_TIME}"
        if one.split:
            return f"{one.name}: {one.split}"
    return ""


def _by_latency(view: views.JobView) -> measured.Found:
    last = view.balance
    if last is not None:
        return _HOLDS[last.reason], last.reason, last.message
    # An operator that has only begun has measured nothing: what stands is as good as ever.
    before = [c for c in view.job.status.get("conditions", ()) if c["type"] == "Balanced"]
    if before and before[0]["reason"] in _OF_THE_LOOP:
        reason, message = before[0]["reason"], before[0]["message"]
        return _HOLDS[reason], reason, message.removesuffix(_ASIDE + slow(message))
    return _UNMEASURED


def _by_lever(alive: Sequence[reports.Query]) -> measured.Found:
    moving = [one.name for one in alive if one.settled is not True]
    if moving:
        return False, "Shifting", f"Lever's shares of {moving[0]} have not settled"
    return True, "Balanced", "Lever's shares are in force"
