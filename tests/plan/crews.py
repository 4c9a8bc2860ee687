"""A driver that runs, is heard and obeys, with its executors: for the tests of plan.rolling and plan.crew."""

import dataclasses
from collections.abc import Iterable
from typing import Any

from plan import made
from sluice import build
from sluice.build import executors as template
from sluice.plan import changes, life, status, verdicts
from sluice.values import driver_state, names, records, reports, steps, streamjob, views

Spec = dict[str, Any]  # what differs from the smallest one
AROUND = build.Surroundings(agent_image="agent:1", plugin_image="plugin:1")
KEPT = {**made.driver().labels, names.LEAVES_BY: names.HANDOVER, names.EXECUTORS_KEPT: "3"}  # as at rest
DRIVER = made.driver(node="node8", labels=KEPT)
BLUE = {"metadata": {"labels": {"colour": "blue"}}}
TOLERANT = {"spec": {"tolerations": [{"operator": "Exists"}]}}
OPEN: dict[str, Any] = {"gate": {"open": True, "epoch": 7}, **made.BALANCE}
PULL: dict[str, Any] = {"phase": "Pending", "ready": False, "waiting": "ImagePullBackOff", "node": "node3"}
FULL: dict[str, Any] = {"phase": "Pending", "ready": False, "node": "", "unschedulable": "0/3 nodes are available"}
COMING: dict[str, Any] = {"phase": "Pending", "ready": False, "node": ""}


def wanted(count: int = 3, *, blue: bool = False, **more: Any) -> Spec:
    """So many executors, of the plain template or of another."""
    return {"executors": streamjob.Executors(count=count, template=BLUE if blue else {}), **more}


def mark(spec: Spec) -> str:
    """Of its template."""
    return template.mark(made.job(**spec))


def executor(number: int, spec: Spec | None = None, **change: Any) -> records.Pod:
    """One that has worked for a minute, of the template of a spec; the higher its number, the younger."""
    of = {names.TEMPLATE: mark(wanted() if spec is None else spec)}
    pod = made.executor(number, ready=True, ready_s=made.NOW_S - 60)
    return dataclasses.replace(pod, labels={**pod.labels, **of}, **change)


def three(spec: Spec | None = None, **change: Any) -> list[records.Pod]:
    """Of them."""
    return [executor(number, spec, **change) for number in (1, 2, 3)]


def view(
    pods: Iterable[records.Pod],
    orders: Spec = OPEN,
    spec: Spec | None = None,
    former: Spec | None = None,
    since_s: float = 0.0,
    **more: Any,
) -> views.JobView:
    """A driver that is heard; `former`: what it was brought to, if that is not what is wanted."""
    spec = wanted() if spec is None else spec
    brought = changes.revision(made.job(**(former or spec)))
    begun = made.begun(rolledTo=brought, orderedAt=driver_state.timestamp(made.NOW_S - since_s))
    told_before = {"version": 1, "serial": 4, "drivers": {DRIVER.name: orders}}
    seen: dict[str, Any] = {
        "said": {DRIVER.name: reports.Report(at_s=made.NOW_S, phase="Running")},
        "former": made.spec(**former) if former else None,
        "prepared": True,
    }
    job = made.job(status={**begun, "revision": brought, "orders": told_before}, **spec)
    return made.view(job, DRIVER, *pods, **(seen | more))


def with_status(seen: views.JobView, said: dict[str, Any]) -> views.JobView:
    """The same, where the status said something else."""
    return dataclasses.replace(seen, job=dataclasses.replace(seen.job, status=said))


def told(total: int, *leaving: str, **more: Any) -> dict[str, Any]:
    """Orders: so many, and who is to go."""
    return {**OPEN, "executors": {"total": total, "decommission": list(leaving)}, **more}


def judged(seen: views.JobView) -> verdicts.Verdict:
    """As life does."""
    return life.judge(seen, AROUND)


def ordered(seen: views.JobView) -> tuple[int, list[str]]:
    """What its agent reads in the end."""
    found = status.wanted(seen, judged(seen))["orders"]["drivers"][DRIVER.name]
    return found["executors"]["total"], found["executors"]["decommission"]


def deleted(seen: views.JobView) -> list[str]:
    """Numbers of the executors that are not asked first."""
    found = [step for stage in judged(seen).stages for step in stage if isinstance(step, steps.Delete)]
    return [step.name.rpartition("-")[2] for step in found]


NEW, OLD = wanted(3, blue=True), wanted(3)
TEXT: dict[str, Any] = {"executorTemplate": "as told"}
BEGUN = told(3, **TEXT)
MORE = told(4, **TEXT)
