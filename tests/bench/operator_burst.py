"""The burst (R1 of the published benchmarks): a thousand StreamJobs at once, and all of them deleted at once.

Drivers only: they go to fake nodes and run at once, so what is measured is the operator and the API server under it.
"""

import asyncio
import functools
import math
import time
from collections.abc import Awaitable, Callable

from bench import ledger, operator_api, operator_jobs, operator_process, operator_seen, operator_stage, outcome
from bench.operator_api import Body

JOBS = 1_000
_NODES = 20
_DEADLINE_S = 300.0
_LATE_S = 5.0  # what the operator does after the last driver runs counts as well
_LEFT = ("services", "configmaps", "serviceaccounts")
_QUIET = 2  # objects that every namespace has of these kinds: kube-root-ca.crt and the account `default`
Create = Callable[[operator_stage.Stage, list[Body]], Awaitable[None]]


def run(book: ledger.Ledger) -> outcome.Outcome:
    """By a creator with sixteen connections, and by one kubectl apply."""
    fast = book.once("burst", functools.partial(_measure, operator_stage.Stage.create))
    plain = book.once("burst kubectl", functools.partial(_measure, operator_stage.Stage.kubectl_apply))
    return _outcome(fast, plain)


def _measure(create: Create) -> Body:
    return operator_stage.play(_NODES, functools.partial(_burst, create=create))


async def _burst(stage: operator_stage.Stage, create: Create) -> Body:
    jobs = [operator_jobs.streamjob(f"burst-{number:04d}") for number in range(JOBS)]
    async with operator_process.running(stage.start()) as operator:
        meter = operator_process.Meter(operator)
        began_s = time.monotonic()
        await create(stage, jobs)
        created_s = time.monotonic() - began_s
        await operator_api.within(lambda: stage.seen.phases()["Running"] == JOBS, _DEADLINE_S)
        told_s = time.monotonic() - began_s if stage.seen.phases()["Running"] == JOBS else math.inf
        await asyncio.sleep(_LATE_S)
        made = {**_made(stage.seen, began_s), **_per_job(meter), "rss_mib": operator.highest_rss_mib()}
        gone = await _delete(stage, meter, [job["metadata"]["name"] for job in jobs])
    return {**made, **gone, "created_s": created_s, "told_s": told_s}


def _made(seen: operator_seen.Seen, began_s: float) -> Body:
    drivers = seen.drivers()
    waits_s = [pod.added_s - seen.since_s[pod.job] for pod in drivers]
    running_s = [pod.running_s - began_s for pod in drivers if pod.running_s is not None]
    return {
        "drivers": len(drivers),
        "made_s": max(pod.added_s for pod in drivers) - began_s if len(drivers) == JOBS else math.inf,
        "running_s": max(running_s) if len(running_s) == JOBS else math.inf,
        "wait_p50_s": operator_seen.percentile(waits_s, 0.5),
        "wait_p99_s": operator_seen.percentile(waits_s, 0.99),
    }


async def _delete(stage: operator_stage.Stage, meter: operator_process.Meter, jobs: list[str]) -> Body:
    meter.reset()
    began_s = time.monotonic()
    await stage.delete(jobs)
    called_s = time.monotonic() - began_s
    gone = await operator_api.within(lambda: all(pod.gone_s for pod in stage.seen.drivers()), _DEADLINE_S)
    pods_s = time.monotonic() - began_s if gone else math.inf
    return {"delete_calls_s": called_s, "gone_s": pods_s, **_per_job(meter, "delete_"), **await _left(stage, began_s)}


async def _left(stage: operator_stage.Stage, began_s: float) -> Body:
    """When all other objects of the jobs are gone, too: the garbage collector's work, told without a bar."""
    left = 1
    while left and time.monotonic() - began_s < _DEADLINE_S:
        left = -_QUIET
        for plural in _LEFT:
            listed = await stage.api.must("GET", f"/api/v1/namespaces/{operator_stage.NAMESPACE}/{plural}")
            left += len(listed["items"] or ())
        if left:
            await asyncio.sleep(2.0)
    return {"all_gone_s": time.monotonic() - began_s if not left else math.inf}


def _per_job(meter: operator_process.Meter, prefix: str = "") -> Body:
    """CPU milliseconds of each process, by jobs."""
    return {f"{prefix}{name}_ms": used_s / JOBS * 1e3 for name, used_s in meter.seconds().items()}


_ROWS = {
    "created_s": "created",
    "made_s": "driver pods made",
    "running_s": "driver pods running",
    "told_s": "status says so",
    "gone_s": "pods gone after delete",
    "operator_ms": "operator ms/job",
    "kube-apiserver_ms": "API server ms/job",
}


def _outcome(fast: Body, plain: Body) -> outcome.Outcome:
    title = (
        f"Burst: {JOBS} StreamJobs, operator on one CPU, API server and all else on the machine's cores; scheduler and"
        " controllers at 500 calls/s. Seconds since the first was asked for (kubectl's own time included)"
    )
    runs = {"16 creators": fast, "kubectl apply": plain}
    rows = tuple((name, *(f"{found[key]:.1f}" for key in _ROWS)) for name, found in runs.items())
    more = {
        "driver made after its StreamJob, p50 s": "wait_p50_s",
        "p99 s": "wait_p99_s",
        "operator ms/delete": "delete_operator_ms",
        "API server ms/delete": "delete_kube-apiserver_ms",
        "etcd ms/job": "etcd_ms",
        "controllers ms/job": "kube-controller-manager_ms",
        "all objects gone, s": "all_gone_s",
        "operator RSS, MiB": "rss_mib",
    }
    others = tuple((name, *(f"{found[key]:.1f}" for key in more.values())) for name, found in runs.items())
    tables = (
        outcome.Table(title, ("", *_ROWS.values()), rows),
        outcome.Table("The same runs, what has no bar", ("", *more), others),
    )
    return outcome.Outcome(tables, _bars(fast))


def _bars(found: Body) -> tuple[outcome.Bar, ...]:
    return (
        outcome.Bar("operator-burst-drivers-made-s", found["made_s"], 60),
        outcome.Bar("operator-burst-drivers-running-s", found["running_s"], 75),
        outcome.Bar("operator-burst-pods-gone-s", found["gone_s"], 60),
        outcome.Bar("operator-cpu-ms-per-submission", found["operator_ms"], 12),
        outcome.Bar("operator-apiserver-cpu-ms-per-submission", found["kube-apiserver_ms"], 80),
    )
