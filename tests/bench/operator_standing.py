"""Standing load (R4): a thousand jobs that run, with ten executors each, of which one in a hundred is lost each minute.

Beside it the Leases of 200 jobs are renewed as their agents would, each time with another batch. What does the operator
need to stand there, and how late is what its status says?
"""

import asyncio
import datetime
import functools
import itertools
import time

import orjson

from bench import (
    ledger,
    operator_api,
    operator_jobs,
    operator_lag,
    operator_process,
    operator_seen,
    operator_spark,
    operator_stage,
    outcome,
)
from bench.operator_api import Body
from sluice.values import names
from testbed import images

JOBS, EXECUTORS = 1_000, 10
MINUTES = 30
_NODES = 110  # of 110 pods each
_CHURNED_JOBS = 100  # each loses an executor a minute: 1 % of all, and soon more decisions than a status keeps
_LEASED_JOBS, _RENEW_S = 200, 10.0
_AT_ONCE = 25  # jobs that come up side by side, so that getting there is no burst
_READY_S = 900.0
_SETTLE_S = 30.0


def run(book: ledger.Ledger) -> outcome.Outcome:
    """One run, about three quarters of an hour."""
    found = book.once("standing", functools.partial(operator_stage.play, _NODES, _stand))
    return _outcome(found)


async def _stand(stage: operator_stage.Stage) -> Body:
    start = stage.start(SLUICE_AGENT_IMAGE=images.AGENT.ref(), SLUICE_PLUGIN_IMAGE=images.PLUGIN.ref())
    async with operator_process.running(start) as operator:
        spark = stage.spark()
        began_s = time.monotonic()
        await _come_up(stage)
        up_s = time.monotonic() - began_s
        await asyncio.sleep(_SETTLE_S)
        highest = operator.highest_rss_mib()
        meter = operator_process.Meter(operator)
        lag = operator_lag.Lag(stage.seen)
        minutes = await _churn(stage, spark, operator)
        used = meter.cores()
        late_s, never = lag.read()
    return {
        "up_s": up_s,
        "rss_coming_up_mib": highest,
        "cores": used,
        "minutes": minutes,
        "lags_s": late_s,
        "never": never,
        "pods": sum(pod.gone_s is None for pod in stage.seen.pods.values()),
    }


async def _come_up(stage: operator_stage.Stage) -> None:
    for first in range(0, JOBS, _AT_ONCE):
        some = [_name(number) for number in range(first, min(JOBS, first + _AT_ONCE))]
        await stage.create(operator_jobs.streamjob(name, EXECUTORS) for name in some)
        what = f"jobs {some[0]} to {some[-1]} run with {EXECUTORS} executors each"
        await operator_api.until(what, functools.partial(_all_full, stage.seen, some), _READY_S)
        print(f"standing: {first + len(some)} of {JOBS} jobs run", flush=True)


def _all_full(seen: operator_seen.Seen, jobs: list[str]) -> bool:
    return all(seen.status(job).get("executors", {}).get("running") == EXECUTORS for job in jobs)


def _name(number: int) -> str:
    return f"standing-{number:04d}"


async def _churn(
    stage: operator_stage.Stage, spark: operator_spark.Spark, operator: operator_process.Operator
) -> list[Body]:
    """What stands at each full minute while executors come and go."""
    minutes = [_minute(stage, operator)]
    async with asyncio.TaskGroup() as tasks:
        leases = tasks.create_task(_renew(stage))
        losses = tasks.create_task(_lose(stage, spark))
        for number in range(1, MINUTES + 1):
            await asyncio.sleep(60.0)
            minutes.append(_minute(stage, operator))
            print(f"standing: minute {number} of {MINUTES}, RSS {minutes[-1]['rss_mib']:.0f} MiB", flush=True)
        leases.cancel()
        losses.cancel()
    return minutes


def _minute(stage: operator_stage.Stage, operator: operator_process.Operator) -> Body:
    churned = [len(orjson.dumps(stage.seen.status(_name(number)))) for number in range(min(JOBS, _CHURNED_JOBS))]
    return {
        "rss_mib": operator.rss_mib(),
        "cpu_s": operator.cpu_s(),
        "status_bytes": sum(churned) / len(churned),
        "largest_status": max(churned),
    }


async def _lose(stage: operator_stage.Stage, spark: operator_spark.Spark) -> None:
    """One executor after another is lost, and Spark makes another."""
    each_s = 60.0 / (JOBS * EXECUTORS / 100)
    next_s = time.monotonic()
    for number in itertools.cycle(range(min(JOBS, _CHURNED_JOBS))):
        driver = stage.seen.of(_name(number), "driver")[-1]
        alive = [pod for pod in stage.seen.of(_name(number), "executor") if pod.running and not pod.deleting]
        if alive:
            await spark.remove(alive[0])
            await spark.add(driver)
        next_s += each_s
        await asyncio.sleep(max(0.0, next_s - time.monotonic()))


async def _renew(stage: operator_stage.Stage) -> None:
    """What the agents of 200 jobs do."""
    each_s = _RENEW_S / _LEASED_JOBS
    next_s = time.monotonic()
    for beat in itertools.count():
        round_number, number = divmod(beat, min(JOBS, _LEASED_JOBS))
        now = datetime.datetime.now(datetime.UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")
        spec = {"holderIdentity": _name(number), "leaseDurationSeconds": 30, "renewTime": now}
        driver = stage.seen.of(_name(number), names.DRIVER)[-1].name
        said = {f"agent.sluice.dev/{driver}": _report(now, 1000 + round_number)}
        path = f"{operator_jobs.leases(operator_stage.NAMESPACE)}/{_name(number)}"
        await stage.api.must("PATCH", path, {"metadata": {"annotations": said}, "spec": spec}, operator_api.MERGE)
        next_s += each_s
        await asyncio.sleep(max(0.0, next_s - time.monotonic()))


def _report(now: str, batch: int) -> str:
    """As the agent of a driver with one query writes it."""
    query = {"id": "q-1", "name": "clicks", "engine": "MicroBatch", "phase": "running", "epoch": 1, "problem": ""}
    measured = {"committed": batch, "inFlight": -1, "batch": batch, "batchMs": 230, "lag": 12.0}
    rates = {"inputRowsPerSecond": 1000.0, "processedRowsPerSecond": 4321.5}
    found = {"version": 1, "at": now, "phase": "Running", "order": 1, "queries": [{**query, **measured, **rates}]}
    return orjson.dumps(found).decode()


_SHOWN = (0, 10, 15, 20, 25, 30)


def _outcome(found: Body) -> outcome.Outcome:
    minutes: list[Body] = found["minutes"]
    rows = tuple(
        (
            str(n),
            f"{minutes[n]['rss_mib']:.0f}",
            f"{100 * (minutes[n]['cpu_s'] - minutes[0]['cpu_s']) / (60 * n):.1f}" if n else "",
            f"{minutes[n]['status_bytes']:.0f}",
            f"{minutes[n]['largest_status']:.0f}",
        )
        for n in _SHOWN
        if n < len(minutes)
    )
    others = ", ".join(f"{name} {cores:.2f}" for name, cores in sorted(found["cores"].items()) if name != "operator")
    title = (
        f"Standing: {JOBS} jobs, {found['pods']} pods, {JOBS * EXECUTORS // 100} executors lost a minute (always"
        f" of the same {_CHURNED_JOBS} jobs), Leases of {_LEASED_JOBS} jobs renewed every {_RENEW_S:.0f} s. Up after"
        f" {found['up_s']:.0f} s, RSS until then at most {found['rss_coming_up_mib']:.0f} MiB. Cores beside: {others}"
    )
    header = ("minute", "RSS MiB", "% of a core so far", "status bytes, mean of the jobs that lose", "largest")
    half, last = minutes[len(minutes) // 2], minutes[-1]
    most_mib = max(found["rss_coming_up_mib"], *(m["rss_mib"] for m in minutes))
    growth_pct = 100 * (last["status_bytes"] / half["status_bytes"] - 1)
    late_s = operator_seen.percentile(found["lags_s"], 0.99)
    tables = (outcome.Table(title, header, rows), _lags(found))
    bars = (
        outcome.Bar("operator-standing-cpu-pct-of-a-core", 100 * found["cores"]["operator"], 10),
        outcome.Bar("operator-standing-rss-mib", most_mib, 400),
        outcome.Bar("operator-standing-status-lag-p99-s", late_s if not found["never"] else float("inf"), 2),
        outcome.Bar("operator-standing-status-growth-pct", growth_pct, 1),
    )
    return outcome.Outcome(tables, bars)


def _lags(found: Body) -> outcome.Table:
    lags = found["lags_s"]
    late_ms = (f"{1e3 * operator_seen.percentile(lags, q):.0f}" for q in (0.5, 0.99, 1))
    row = (str(len(lags)), *late_ms, str(found["never"]))
    title = "From a pod that runs, or runs no more, to a status that says so"
    return outcome.Table(title, ("changes", "median ms", "p99 ms", "longest ms", "not told at the end"), (row,))
