"""How many executors the load takes if batches are to keep `spec.slo`: advice in the status, never a change. Pure.

Called by plan.life. A batch is cut into as many pieces as there are slots; the slots of an executor share one queue, so
the wait of a piece is M/M/c (Du & Gupta; :mod:`sluice_policies.queueing`), its service what tasks ran. What of a batch
that does not explain (planning, commit, skew) stays as it is. Real input is burstier: the number is a least one. In
Real-Time Mode tasks run for as long as the batch does, so their time says nothing, and there is no advice.
"""

import dataclasses
import math
from typing import Any

from sluice.plan import handover, inside, restraint, sampled, verdicts
from sluice.values import driver_state, streamjob, views
from sluice.values.traffic import Traffic
from sluice_policies import queueing

_BUSIEST = 0.8  # a slot is never planned busier
_MOST = 1000  # executors, as the CRD has it
_STEADY_S = 3600.0  # fewer are advised only so long after the last advice: loads go up and down
_NOTHING = {"executors": None, "cores": None, "at": None, "why": None}


@dataclasses.dataclass(frozen=True)
class _Load:
    """What a second of input and a batch of it cost."""

    rows_per_s: float
    work: float  # slot-seconds a second: so many slots would be busy all the time
    batches_per_s: float
    rest_ms: float  # of a batch that no executor shortens
    slots: int  # of an executor

    def busy(self, executors: int) -> float:
        """Part of the time a slot works."""
        return self.work / (executors * self.slots)

    def batch_ms(self, executors: int) -> float:
        """How long a batch takes with so many: the rest, a piece's wait and its service."""
        pieces_per_s = executors * self.slots * self.batches_per_s
        served_per_s = pieces_per_s / self.work
        each = queueing.Demand(pieces_per_s / executors, served_per_s)
        return self.rest_ms + 1000 * (queueing.mean_wait_s(each, self.slots) + 1 / served_per_s)


def advised(view: views.JobView, verdict: verdicts.Verdict) -> verdicts.Verdict:
    """The verdict with another advice, if there is one."""
    job, before = view.job, view.job.status.get("sizing") or {}
    if job.spec.slo == streamjob.Slo() or job.spec.real_time:
        return dataclasses.replace(verdict, sizing=_NOTHING) if before else verdict
    load = _load(view, verdict) if verdict.ready and not verdict.moves else None
    if load is None:
        return verdict
    executors, why = _advice(job, load)
    if not _is_news(view, before, executors):
        return verdict
    cores = job.spec.executors.cores
    decision = verdicts.Decision(
        view.now_s, "Size", verdict.driver.pod, f"{executors} executors of {_cores(cores)} are needed", why
    )
    sizing = {"executors": executors, "cores": cores, "at": driver_state.timestamp(view.now_s), "why": why}
    return dataclasses.replace(verdict, sizing=sizing, decisions=(*verdict.decisions, decision))


def _is_news(view: views.JobView, before: Any, executors: int) -> bool:
    """More at once, fewer after a while; another shape of executor at once."""
    if not before or before["cores"] != view.job.spec.executors.cores:
        return True
    waited_s = view.now_s - driver_state.seconds(before["at"])
    return bool(executors > before["executors"] or (executors < before["executors"] and waited_s >= _STEADY_S))


def _load(view: views.JobView, verdict: verdicts.Verdict) -> _Load | None:
    """As measured; None while too little was."""
    if view.traffic is None:
        return None
    cost = sampled.measures(view.traffic, {}, {}, "")
    crowd = sampled.numbered(view.pods, verdict.driver.pod)
    work, slots = sum(sampled.loads_m(view.traffic).values()) / 1000, _slots(view.job.spec)
    if cost.batches < restraint.LEAST_BATCHES or not crowd or not work or not cost.rows:
        return None
    batches_per_s, rows_per_s = _rates(view.traffic)
    # Of what passes between two batches the agent tells nothing: what comes in is known from the query itself.
    part = (_arriving(view, verdict) or rows_per_s) / rows_per_s
    own_ms = _Load(rows_per_s, work, batches_per_s, 0.0, slots).batch_ms(len(crowd))
    rest_ms = max(0.0, cost.batch_ms - own_ms)
    return _Load(rows_per_s * part, work * part, batches_per_s * min(1.0, part), rest_ms, slots)


def _rates(found: Traffic) -> tuple[float, float]:
    """Batches and rows a second, all queries together."""
    ran = [one for one in found.queries if one.batches and one.seconds]
    return sum(one.batches / one.seconds for one in ran), sum(sum(one.rows.values()) / one.seconds for one in ran)


def _arriving(view: views.JobView, verdict: verdicts.Verdict) -> float:
    driver = handover.pod(view, verdict.driver.pod)
    said = inside.heard(view, driver) if driver else None
    return sum(one.input_rows_per_s or 0.0 for one in said.queries) if said else 0.0


def _slots(spec: streamjob.Spec) -> int:
    """Tasks that an executor runs side by side."""
    each = spec.spark_conf.get("spark.task.cpus", "1")
    return max(1, spec.executors.cores // int(each)) if each.isdecimal() and int(each) else spec.executors.cores


def _advice(job: streamjob.StreamJob, load: _Load) -> tuple[int, str]:
    goal_ms, field = _goal(job.spec.slo, load)
    fewest = max(1, math.ceil(load.work / (_BUSIEST * load.slots)))
    come = f"{load.rows_per_s:.0f} rows come a second, a slot serves {load.rows_per_s / load.work:.0f}"
    if fewest > _MOST or load.batch_ms(_MOST) > goal_ms:
        short = f"no number keeps {field}: {load.rest_ms:.0f} ms of a batch are not work of executors"
        return min(fewest, _MOST), f"{come}; {short}; so many are not busier than {_BUSIEST:.0%}"
    enough = next(count for count in range(fewest, _MOST + 1) if load.batch_ms(count) <= goal_ms)
    then = f"{load.busy(enough):.0%} busy, a batch takes about {load.batch_ms(enough):.0f} ms of {goal_ms:.0f} ms"
    most = job.spec.executors.maximum
    above = f"; spec.executors.max is {most}" if most is not None and enough > most else ""
    return enough, f"{come}: with {enough} x {load.slots} slots they are {then} ({field}){above}"


def _goal(slo: streamjob.Slo, load: _Load) -> tuple[float, str]:
    """The shorter of the two: what may wait, at this rate, comes in within a time (Little)."""
    found = []
    if slo.batch_latency_s is not None:
        found.append((slo.batch_latency_s * 1000, "spec.slo.batchLatency"))
    if slo.lag is not None:
        found.append((slo.lag / load.rows_per_s * 1000, "spec.slo.lag"))
    return min(found)


def _cores(count: int) -> str:
    return "1 core" if count == 1 else f"{count} cores"
