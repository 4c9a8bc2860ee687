"""A job with a micro-batch query whose input is cut, its executors, and task times: for the tests of plan.balancing."""

import dataclasses
from collections.abc import Mapping
from typing import Any

from plan import made
from sluice.plan import balancing
from sluice.values import latencies, reports, streamjob, views

Body = Mapping[str, Any]
DRIVER = made.driver(ip="10.0.0.1")
QUERY = reports.Query("q-1", "clicks", "MicroBatch", "running", 1, 41, batch=42, split="", settled=True)
SETTLED = {"type": "Progressing", "status": "False", "reason": "Running", "lastTransitionTime": "2027-01-15T07:50:00Z"}
EQUAL = {"1": 100.0, "2": 100.0, "3": 100.0}
SLOW = {"1": 100.0, "2": 300.0, "3": 100.0}


def executor(number: int = 1, **change: Any) -> Any:
    """One that has worked for a while."""
    return made.executor(number, **({"ready": True, "ready_s": made.NOW_S - 600} | change))


EXECUTORS = tuple(executor(number) for number in (1, 2, 3))


def view(
    *queries: reports.Query,
    pods: tuple[Any, ...] = (DRIVER, *EXECUTORS),
    status: Body | None = None,
    told: Body | None = None,
    said: Body | None = None,
    **job: Any,
) -> views.JobView:
    """What a look sees; `told`: more orders of the driver, `said`: of its report."""
    orders = {"version": 1, "serial": 5, "drivers": {DRIVER.name: {"gate": {"open": True}, **(told or {})}}}
    stands = {**made.begun(), "orders": orders, "conditions": [SETTLED], **(status or {})}
    report = reports.Report(made.NOW_S - 5, "Running", queries=queries or (QUERY,))
    heard = {DRIVER.name: dataclasses.replace(report, **(said or {}))}
    return made.view(made.job(status=stands, **job), *pods, said=heard)


def rebalance(**change: Any) -> streamjob.Rebalance:
    """As by default, but for this."""
    return streamjob.Rebalance(**change)


def memory(seen: views.JobView, age_s: float = 15.0) -> balancing.Memory:
    """As of one period before."""
    return dataclasses.replace(balancing.remembered(seen, DRIVER, None), since_s=made.NOW_S - age_s)


def part(executor: str = "1", took_ms: float | None = 100.0, **change: Any) -> latencies.Part:
    """Twenty tasks, just measured."""
    found = latencies.Part(made.NAMESPACE, "clicks", "clicks", executor, made.NOW_S - 3, 20, took_ms, took_ms, took_ms)
    return dataclasses.replace(found, **change)


def reading(ms: Mapping[str, float], *more: latencies.Part) -> latencies.Reading:
    """Of these executors, and what else there is."""
    return latencies.Reading("Prometheus", (*(part(name, took_ms) for name, took_ms in ms.items()), *more))


def judged(seen: views.JobView, found: latencies.Reading, before: balancing.Memory | None = None) -> balancing.Memory:
    """What comes of it."""
    return balancing.judge(seen, DRIVER, before or memory(seen), found)
