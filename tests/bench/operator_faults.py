"""An operator among misfortunes, for real: the process, the API server, and a proxy between them that does harm.

A whole life (made, changed, suspended, deleted) ends as an undisturbed one does, whether the operator is killed before
and after each of its writes, or whichever call is refused, lost, hung, late or cut. `tests/faults` plays every point
and every call by itself, on the fake API server.
"""

import asyncio
import contextlib
import functools
import random
import time
from collections.abc import AsyncIterator, Callable

from bench import ledger, operator_api, operator_jobs, operator_killer, operator_process, operator_stage, outcome
from bench.operator_api import Body
from bench.operator_stage import NAMESPACE
from faults import proxy

_SHARE, _SHARE_OF_READS = 0.2, 0.8  # of the calls it can befall; drawn, for every n-th may be the same one of each look
_SEED = 5
_READS = {proxy.Stale: "^GET (?!.*watch=)", proxy.CutWatch: "watch=", proxy.ForgetWatch: "watch="}
_CONFLICTS = "^(POST|PUT|PATCH|DELETE) "  # nobody is told of a conflict who only reads
_MOST_CALLS = 2_000
_MORE = 10  # calls at most, on average, for each that was harmed: most of a look is made again
_LIFE_S, _GONE_S, _LOOK_S, _CALM_S = 900.0, 120.0, 0.5, 12.0
_NODES = 2
_JOB = "life"
_KINDS = {
    f"/api/v1/namespaces/{NAMESPACE}": ("pods", "configmaps", "services", "serviceaccounts"),
    f"/apis/rbac.authorization.k8s.io/v1/namespaces/{NAMESPACE}": ("rolebindings",),
    f"/apis/policy/v1/namespaces/{NAMESPACE}": ("poddisruptionbudgets",),
    f"/apis/coordination.k8s.io/v1/namespaces/{NAMESPACE}": ("leases",),
}
_NOT_OURS = ("configmaps kube-root-ca.crt", "serviceaccounts default", f"leases {operator_killer.LEAD}")


def run(book: ledger.Ledger) -> outcome.Outcome:
    """A calm life, one among kills, one for each fault."""
    calm = book.once("life calm", lambda: operator_stage.play(_NODES, functools.partial(_lived, fault=None)))
    killed = book.once("life killed", lambda: operator_stage.play(_NODES, _killed))
    harmed = {}
    for name, fault in proxy.FAULTS.items():
        part = functools.partial(_lived, fault=fault)
        harmed[name] = book.once(f"life {name}", functools.partial(operator_stage.play, _NODES, part))
    return _of_kills(calm, killed) + _of_faults(calm, harmed)


async def _lived(stage: operator_stage.Stage, fault: proxy.Fault | None) -> Body:
    """A life among calls of which some are harmed."""
    rules = _rules(fault) if fault else ()
    hangs_s = fault.for_s if isinstance(fault, proxy.Hang) else 0.0
    async with proxy.Proxy(operator_killer.behind(stage.kubeconfig), rules) as between:
        async with operator_process.running(operator_killer.start(stage, between)):
            found = await _live(stage, calm_s=hangs_s + _CALM_S)
        harmed = sum(entry.fault is not None for entry in between.log)
        return {**found, "calls": len(between.log), "harmed": harmed}


def _rules(fault: proxy.Fault) -> list[proxy.Rule]:
    dice, share = random.Random(_SEED), _SHARE_OF_READS if type(fault) in _READS else _SHARE
    conflicts = fault == proxy.CONFLICT
    all_but_the_lead = f"^(?!.*/leases/{operator_killer.LEAD})"
    found_by = _READS.get(type(fault), _CONFLICTS if conflicts else all_but_the_lead)
    return [proxy.Rule(found_by, fault, kth=number) for number in range(1, _MOST_CALLS) if dice.random() < share]


async def _killed(stage: operator_stage.Stage) -> Body:
    """A life in which it is killed before and after each write."""
    async with operator_killer.Killer(operator_killer.behind(stage.kubeconfig)) as between, _kept(stage, between):
        return {**await _live(stage, between.begin_scene), "points": between.points}


@contextlib.asynccontextmanager
async def _kept(stage: operator_stage.Stage, between: operator_killer.Killer) -> AsyncIterator[None]:
    async with asyncio.TaskGroup() as tasks:
        keeping = tasks.create_task(between.keep_running(operator_killer.start(stage, between)))
        yield
        keeping.cancel()


async def _live(
    stage: operator_stage.Stage, begin_scene: Callable[[], object] = lambda: None, calm_s: float = _CALM_S
) -> Body:
    """Made, changed, suspended, deleted: what there was when it was suspended, and what is left of it."""
    began_s = time.monotonic()
    stage.spark()
    await stage.create([operator_jobs.streamjob(_JOB)])
    await operator_api.until("it is Ready", lambda: _is_ready(stage, 1), _LIFE_S)
    begin_scene()
    await stage.patch(_JOB, {"spec": {"image": "registry.example/clicks:1.5"}})
    await operator_api.until("it is changed", lambda: _is_ready(stage, 2), _LIFE_S)
    begin_scene()
    await stage.patch(_JOB, {"spec": {"suspend": True}})
    await operator_api.until("it is suspended", lambda: _is_suspended(stage), _LIFE_S)
    status = await _settled(stage, calm_s)
    conditions = sorted(f"{c['type']} {c['status']} {c['reason']}" for c in status["conditions"])
    end = {"phase": status["phase"], "conditions": conditions, "objects": await _standing(stage)}
    begin_scene()
    await stage.delete([_JOB])
    return {
        "end": end,
        "left": await _left(stage),
        "two_drivers": int(stage.seen.had_two_drivers(_JOB)),
        "drivers": len(stage.seen.of(_JOB, "driver")),
        "seconds": time.monotonic() - began_s,
    }


def _is_ready(stage: operator_stage.Stage, attempt: int) -> bool:
    job, status = stage.seen.jobs.get(_JOB, {}), stage.seen.status(_JOB)
    current = bool(job) and status.get("observedGeneration") == job["metadata"]["generation"]
    return stage.seen.is_ready(_JOB) and current and status["driver"]["attempt"] >= attempt


def _is_suspended(stage: operator_stage.Stage) -> bool:
    pods = [*stage.seen.of(_JOB, "driver"), *stage.seen.of(_JOB, "executor")]
    return stage.seen.status(_JOB).get("phase") == "Suspended" and all(pod.gone_s for pod in pods)


async def _settled(stage: operator_stage.Stage, calm_s: float) -> Body:
    """The status once it stays as it is: who was killed just now, or hangs, has not said its last word."""
    while True:
        status = stage.seen.status(_JOB)
        if not await operator_api.within(functools.partial(_says_more, stage, status), calm_s):
            return status


def _says_more(stage: operator_stage.Stage, than: Body) -> bool:
    return stage.seen.status(_JOB) != than


async def _standing(stage: operator_stage.Stage) -> list[str]:
    """All objects of the namespace that somebody made for the job."""
    found = []
    for at, plurals in _KINDS.items():
        for plural in plurals:
            listed = await stage.api.must("GET", f"{at}/{plural}")
            found += [f"{plural} {item['metadata']['name']}" for item in listed["items"] or ()]
    return sorted(set(found) - set(_NOT_OURS))


async def _left(stage: operator_stage.Stage) -> list[str]:
    """What is still there of a deleted job when everybody had the time to tidy up."""
    for _ in range(round(_GONE_S / _LOOK_S)):
        if not await _standing(stage):
            break
        await asyncio.sleep(_LOOK_S)
    return await _standing(stage)


def _of_kills(calm: Body, killed: Body) -> outcome.Outcome:
    points = killed["points"]
    kinds = sorted(set(points))
    rows = tuple((kind, str(points.count(kind))) for kind in kinds)
    title = (
        f"One life of a job on the real API server; the operator's process is killed at {len(points)} writes, and each"
        f" time another takes over ({killed['seconds']:.0f} s; {calm['seconds']:.0f} s undisturbed)"
    )
    bars = (
        outcome.Bar("operator-killed-two-drivers", killed["two_drivers"], 0),
        outcome.Bar("operator-killed-left-behind", len(killed["left"]), 0),
        outcome.Bar("operator-killed-ends-elsewhere", int(killed["end"] != calm["end"]), 0),
    )
    return outcome.Outcome((outcome.Table(title, ("killed", "times"), rows),), bars)


def _of_faults(calm: Body, harmed: dict[str, Body]) -> outcome.Outcome:
    header = ("fault", "calls", "harmed", "drivers", "seconds", "ends as undisturbed")
    rows = [("none", str(calm["calls"]), "0", str(calm["drivers"]), f"{calm['seconds']:.0f}", "")]
    for name, found in harmed.items():
        same = "yes" if found["end"] == calm["end"] else "no"
        numbers = (str(found["calls"]), str(found["harmed"]), str(found["drivers"]), f"{found['seconds']:.0f}")
        rows.append((name, *numbers, same))
    lives = harmed.values()
    more = max((found["calls"] - calm["calls"]) / max(1, found["harmed"]) for found in lives)
    bars = (
        outcome.Bar("operator-faults-unharmed", sum(found["harmed"] == 0 for found in lives), 0),
        outcome.Bar("operator-faults-two-drivers", sum(found["two_drivers"] for found in lives), 0),
        outcome.Bar("operator-faults-left-behind", sum(len(found["left"]) for found in lives), 0),
        outcome.Bar("operator-faults-ends-elsewhere", sum(found["end"] != calm["end"] for found in lives), 0),
        outcome.Bar("operator-faults-more-calls-each", more, _MORE),
    )
    title = "The same life, harmed between operator and API server"
    return outcome.Outcome((outcome.Table(title, header, tuple(rows)),), bars)
