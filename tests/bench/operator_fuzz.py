"""Two thousand specs that nobody thought of, on the real API server: refused with a sentence, or named.

No pod of them runs: each asks for a node that there is none of, so the best that a good one comes to is
`Unschedulable`. What counts is that each has a condition with a reason, and that the operator's loop never stops.
"""

import asyncio
import functools
import time
import urllib.error
import urllib.request
from typing import Any

from bench import ledger, operator_api, operator_jobs, operator_process, outcome
from bench.operator_api import Body
from faults import specs
from house import paths
from testbed import cluster

NAMESPACE = "faults"
MANY, SEED = 2000, 2
_NUMBER = 9  # of the operator among those of other parts
_WAYS = 8
_NAMED_S = 600.0
_LOOK_S = 2.0
_NOWHERE = {"sluice.dev/nowhere": "true"}
_WORDS = 4  # fewer are no sentence
_FAILED = ("in vain", "begins anew", "cannot read")
_UNNAMED = ("", "DriverStarting")  # still under way


def run(book: ledger.Ledger) -> outcome.Outcome:
    """All of them, among as many as the API server takes."""
    found = book.once("fuzz", lambda: asyncio.run(_played(MANY)))
    header = ("specs", "refused", "taken", "reasons", "looks at /healthz", "seconds")
    reasons = ", ".join(f"{reason} {many}" for reason, many in sorted(found["reasons"].items()))
    row = (f"{found['specs']}", f"{found['refused']}", f"{found['taken']}", reasons, f"{found['looks']}")
    title = "Specs that nobody thought of: refused with a sentence, or in a named state"
    bars = ("misjudged", "unnamed", "unhealthy", "exceptions")
    return outcome.Outcome(
        (outcome.Table(title, header, ((*row, f"{found['seconds']:.0f}"),)),),
        tuple(outcome.Bar(f"operator-fuzz-{name}", len(found[name]), 0) for name in bars),
    )


async def _played(many: int) -> dict[str, Any]:
    testbed = cluster.Cluster()
    testbed.kubectl("apply", "--server-side", "--force-conflicts", "-f", str(operator_jobs.CRD))
    start = operator_process.Start(testbed.kubeconfig, NAMESPACE, _NUMBER, {})
    async with operator_api.connect(testbed.kubeconfig) as api, operator_jobs.namespace(api, NAMESPACE):
        async with operator_process.running(start) as operator:
            unhealthy: list[str] = []
            watching = asyncio.create_task(_look_after(operator, unhealthy))
            began_s = time.monotonic()
            found = await _thrown(api, many)
            looks = await _end(watching)
        return {
            **found,
            "looks": looks,
            "unhealthy": unhealthy,
            "exceptions": _exceptions(),
            "seconds": time.monotonic() - began_s,
        }


async def _thrown(api: operator_api.Api, many: int) -> dict[str, Any]:
    """Posts them all and waits until each that was taken says where it stands."""
    answers: dict[str, tuple[int, Body]] = {}
    post = functools.partial(_post, api, answers)
    fuzzes = list(specs.fuzzed(SEED, many))
    await operator_api.side_by_side(post, fuzzes, _WAYS)
    misjudged = [
        f"{fuzz.name} {fuzz.done}: {answers[fuzz.name][1].get('message', '')[:300]}"
        for fuzz in fuzzes
        if _is_misjudged(fuzz, *answers[fuzz.name])
    ]
    taken = sum(status < 300 for status, _ in answers.values())
    reasons = await _named(api)
    unnamed = [name for name, reason in reasons.items() if reason in _UNNAMED]
    counted = {reason: list(reasons.values()).count(reason) for reason in set(reasons.values())}
    return {
        "specs": many,
        "taken": taken,
        "refused": many - taken,
        "misjudged": misjudged,
        "unnamed": unnamed,
        "reasons": counted,
    }


async def _post(api: operator_api.Api, answers: dict[str, tuple[int, Body]], fuzz: specs.Fuzzed) -> None:
    manifest = _alone(_to_nowhere(fuzz.manifest)) if fuzz.verdict == "good" else _to_nowhere(fuzz.manifest)
    strictly = f"{operator_jobs.streamjobs(NAMESPACE)}?fieldValidation=Strict"  # as kubectl asks
    answers[fuzz.name] = await api.call("POST", strictly, manifest)


def _alone(manifest: Body) -> Body:
    """The same, on a checkpoint that no other of them has."""
    spec, name = manifest["spec"], manifest["metadata"]["name"]
    location = f"{spec['checkpoint']['location'][:200]}/{name}"
    return {**manifest, "spec": {**spec, "checkpoint": {**spec["checkpoint"], "location": location}}}


def _to_nowhere(manifest: Body) -> Body:
    """The same, its pods without a node to run on, as far as it has pods at all."""
    spec = manifest.get("spec")
    if not isinstance(spec, dict):
        return manifest
    moved = {role: _template(spec.get(role, {})) for role in ("driver", "executors")}
    return {**manifest, "spec": {**spec, **moved}}


def _template(pod: Any) -> Any:
    template = pod.get("template", {}) if isinstance(pod, dict) else None
    if not isinstance(template, dict) or not isinstance(template.get("spec", {}), dict):
        return pod
    return {**pod, "template": {**template, "spec": {**template.get("spec", {}), "nodeSelector": _NOWHERE}}}


def _is_misjudged(fuzz: specs.Fuzzed, status: int, said: Body) -> bool:
    if status < 300:
        return fuzz.verdict == "spoilt"
    return status not in (400, 422) or fuzz.verdict == "good" or len(str(said.get("message", "")).split()) < _WORDS


async def _named(api: operator_api.Api) -> dict[str, str]:
    """Reason by job, once each has one or the time is over."""
    end_s = time.monotonic() + _NAMED_S
    while True:
        listed = await api.must("GET", operator_jobs.streamjobs(NAMESPACE))
        reasons = {body["metadata"]["name"]: _reason(body) for body in listed["items"] or ()}
        if time.monotonic() > end_s or not set(reasons.values()) & set(_UNNAMED):
            return reasons
        await asyncio.sleep(_LOOK_S)


def _reason(job: Body) -> str:
    conditions = (job.get("status") or {}).get("conditions") or ()
    return next((str(found["reason"]) for found in conditions if found["type"] == "Ready"), "")


async def _look_after(operator: operator_process.Operator, unhealthy: list[str]) -> int:
    """Looks at /healthz and /metrics until it is cancelled; how often."""
    looks = 0
    try:
        while True:
            for page in ("healthz", "metrics"):
                unhealthy += await asyncio.to_thread(_wrong, f"http://127.0.0.1:{operator.port}/{page}")
            looks += 1
            await asyncio.sleep(_LOOK_S)
    except asyncio.CancelledError:
        return looks


async def _end(watching: "asyncio.Task[int]") -> int:
    watching.cancel()
    return await watching


def _wrong(url: str) -> list[str]:
    try:
        with urllib.request.urlopen(url, timeout=10) as answer:
            return [] if answer.status == 200 and answer.read() else [f"{url}: {answer.status}"]
    except (urllib.error.URLError, TimeoutError, ConnectionError) as why:
        return [f"{url}: {why!r}"]


def _exceptions() -> list[str]:
    """What the operator's log tells of looks in vain, of what it could not read, of kopf's end."""
    lines = (paths.LOGS / f"bench-operator-{_NUMBER}.log").read_text().splitlines()
    return [line[:300] for line in lines if any(words in line for words in _FAILED)]
