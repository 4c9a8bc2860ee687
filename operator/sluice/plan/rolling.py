"""Executors come, go and are replaced while their driver runs: what its agent is told next. For plan.life; pure.

One is replaced after another, and its replacement comes first: Spark is to have one more (`total`), and once that one
works an old one is sent away (`decommission`). What a driver was told before and the pods there are say how far it is,
so an operator that takes over goes on where the last one was. A new revision begins once its ConfigMap is there, which
is made after the API server has taken its template: no executor is given up for one that cannot be.
"""

import dataclasses
import json
from collections.abc import Iterator

from sluice import build
from sluice.build import config, executors, samples
from sluice.plan import changes, crew, inside, orders, verdicts
from sluice.values import driver_state, records, steps, views
from sluice.values.fields import Asks
from sluice.values.streamjob import Body

ROOM_S = 120.0  # so long a replacement may take before its predecessor goes without one
DEADLINE_S = 300.0  # of each step
_MOST = 1000  # executors, as the CRD and the agents have it
_OBEYING = ("Running", "DrainTimedOut")  # what a driver says that carries orders out
_ROLLING, _SCALING = "Rolling", "Scaling"
_NOTHING: Body = {"total": 0, "decommission": []}


@dataclasses.dataclass(frozen=True)
class _Look:
    """At a driver and its executors."""

    view: views.JobView
    driver: records.Pod
    told: Body  # before
    begins: bool  # what is wanted now was not acted on yet
    crew: crew.Crew

    @property
    def given(self) -> Body:
        """What it was told of its executors."""
        found: Body = self.told.get("executors", _NOTHING)
        return found

    @property
    def before(self) -> str:
        """What went on at the last look, if anything did."""
        found = [c["reason"] for c in self.view.job.status.get("conditions", ()) if c["type"] == "Progressing"]
        return found[0] if found and found[0] in (_ROLLING, _SCALING) else ""

    @property
    def ordered_s(self) -> float:
        """When it was told something new."""
        ordered_s = driver_state.read(self.view.job.status).ordered_s
        return self.view.now_s if self.begins or ordered_s is None else ordered_s


@dataclasses.dataclass(frozen=True)
class _Move:
    """What comes next."""

    total: int  # so many Spark is to have
    story: str = ""  # what is awaited; empty: nothing
    goes: tuple[records.Pod, ...] = ()
    without: str = ""  # why no replacement comes before them


def carries(view: views.JobView, driver: records.Pod) -> bool:
    """Whether a driver that runs can be brought to what is wanted now."""
    if view.former is None or not obeys(view, driver):
        return False
    as_before = dataclasses.replace(view.job, spec=view.former)
    if changes.revision(as_before) != view.job.status.get("revision"):
        return False  # a restart was asked for, too
    return changes.rolls(changes.classify(view.former, view.job.spec), view.job.spec)


def obeys(view: views.JobView, driver: records.Pod) -> bool:
    """Whether a driver makes and sends away executors as it is told."""
    said = inside.heard(view, driver)
    runs = driver.phase == "Running" and not driver.deleting and driver.node not in view.lost_nodes
    return runs and bool(_told(view, driver)) and said is not None and said.phase in _OBEYING


def judge(
    view: views.JobView, around: build.Surroundings, driver: records.Pod, verdict: verdicts.Verdict
) -> verdicts.Verdict:
    """The verdict on a driver that is as wanted or carries what is, with what is done about its executors."""
    if view.job.spec.real_time or not obeys(view, driver):
        return verdict
    begins = verdict.driver.revision != changes.revision(view.job)
    if begins and not view.prepared:
        return _prepare(view, around, driver, verdict)
    told = _told(view, driver)
    now = _begun(view, around, told) if begins else told
    look = _Look(view, driver, told, begins, crew.of(view, driver, now))
    if "executors" not in now and not look.crew.stale:
        return verdict
    move = _next(look)
    return _written(look, verdict, move, {**now, "executors": _orders(look, move)})


def _told(view: views.JobView, driver: records.Pod) -> Body:
    return orders.told(view).get(driver.name) or {}


def _begun(view: views.JobView, around: build.Surroundings, told: Body) -> Body:
    """A driver that once got a template, or whose executors are to be of another one, gets the present one."""
    found = changes.classify(view.former, view.job.spec) if view.former else ()
    anew = "executorTemplate" in told or changes.most(found) == Asks.ROLL
    text = {"executorTemplate": json.dumps(executors.template(view.job, around), sort_keys=True)} if anew else {}
    return {"executors": _NOTHING, **told, **text}


def _prepare(
    view: views.JobView, around: build.Surroundings, driver: records.Pod, verdict: verdicts.Verdict
) -> verdicts.Verdict:
    """Makes the ConfigMap of the revision, if the API server would take its executors."""
    revision = changes.revision(view.job)
    runs_on = f"{driver.name} runs on as revision {verdict.driver.revision}"
    try:
        sample = samples.pods(view.job, revision, around)[1]
        made = config.config_map(view.job, revision, around)
    except ValueError as wrong:
        return dataclasses.replace(verdict, reason="InvalidSpec", message=f"{wrong}: {runs_on}", stuck=True)
    refused = f"revision {revision} cannot be made: {view.refused}: {runs_on}"
    return dataclasses.replace(
        verdict,
        reason="Refused" if view.refused else "Preparing",
        message=refused if view.refused else f"{runs_on} until revision {revision} is prepared",
        moves=True,
        stuck=bool(view.refused),
        stages=((steps.Try(sample),) if view.job.spec.executors.template else (), (steps.Create(made),)),
        look_again_s=0.0,
    )


def _next(look: _Look) -> _Move:
    found = look.crew
    goes = () if found.stale and found.leaving else tuple(found.surplus())
    if goes:
        return _Move(found.wanted, f"{crew.numbers(goes)} to go: {_why(found, goes[0])}", goes)
    if found.leaving:
        who, why = crew.numbers(found.leaving), _why(found, found.leaving[0])
        return _Move(found.wanted, f"{who} to go once the tasks there are done: {why}")
    return _replace(look) if found.stale else _Move(found.wanted, _awaited(look))


def _replace(look: _Look) -> _Move:
    """One more comes, once all others work; where no room is found for it, one of the old goes before."""
    found = look.crew
    more = min(found.wanted + 1, _MOST)
    surged, full = look.given["total"] >= more, len(found.fit) >= found.wanted
    why = f"{crew.numbers(found.stale)} to be replaced: {_why(found, found.stale[0])}"
    if not surged and not full:
        return _Move(found.wanted, f"{why}: {_awaited(look)}")
    overdue = look.view.now_s - look.ordered_s >= ROOM_S
    shut_out = crew.shut_out(look.view, found, overdue=overdue) if surged and full else ""
    if shut_out and (able := found.expendable()):
        return _Move(found.wanted, f"{why}: one goes before its replacement comes: {shut_out}", (able[0],), shut_out)
    return _Move(more, f"{why}: {_awaited(look) or 'one more comes first'}")


def _awaited(look: _Look) -> str:
    """Who has to work before anything else; empty: all do."""
    found = look.crew
    if unfit := found.unfit():
        return crew.state(look.view, unfit[0])
    missing = found.wanted - len(found.present)
    return f"Spark has to ask for {missing} more" if missing > 0 else ""


def _why(found: crew.Crew, pod: records.Pod) -> str:
    return found.old.get(pod.uid) or f"{found.wanted} executors are wanted"


def _orders(look: _Look, move: _Move) -> Body:
    """Who is gone is named no longer; who does not work yet never is, for Spark may not know it."""
    found = look.crew
    named = set(look.given["decommission"]) & {crew.number(pod) for pod in found.leaving}
    goes = {crew.number(pod) for pod in move.goes if found.is_fit(pod)}
    return {"total": move.total, "decommission": sorted(named | goes, key=int)}


def _written(look: _Look, verdict: verdicts.Verdict, move: _Move, now: Body) -> verdicts.Verdict:
    """The verdict with the move in it; at rest as it was."""
    found, view, changed = look.crew, look.view, now != look.told
    goes_on = changed or found.stale or now["executors"]["decommission"] or look.before
    verdict = dataclasses.replace(
        verdict,
        driver=_state(look, verdict, changed=changed),
        told={look.driver.name: now} if changed else {},
        stages=(*verdict.stages, _deletes(look, move)),
        decisions=_decisions(look, move),
    )
    if not (move.story and goes_on):
        return verdict
    left_s = (view.now_s if changed else look.ordered_s) + DEADLINE_S - view.now_s
    late = f"; for more than {DEADLINE_S / 60:.0f} minutes" if left_s <= 0 else ""
    rolls = bool(found.old) or (look.before == _ROLLING and not look.begins)
    running = sum(pod.phase == "Running" and not pod.deleting for pod in (*found.present, *found.leaving))
    runs = f"{look.driver.name} runs with {running} of {found.wanted} executors{inside.words(view, look.driver)}"
    return dataclasses.replace(
        verdict,
        reason=_ROLLING if rolls else _SCALING,
        message=f"{runs}: {move.story}{late}",
        moves=True,
        stuck=bool(late),
        look_again_s=min(_moments_s(look, verdict, left_s), default=None),
    )


def _state(look: _Look, verdict: verdicts.Verdict, *, changed: bool) -> driver_state.DriverState:
    state = verdict.driver
    if look.begins:
        revision = changes.revision(look.view.job)
        state = dataclasses.replace(state, revision=revision, rolled_to=revision)
    return dataclasses.replace(state, ordered_s=look.view.now_s) if changed else state


def _idle(look: _Look, move: _Move) -> list[records.Pod]:
    """Who goes and does not run: there is nothing to wait for, and Spark would be in no hurry."""
    found = [pod for pod in move.goes if pod.phase != "Running"]
    return [*found, *(pod for pod in look.crew.idle() if pod not in found)]


def _deletes(look: _Look, move: _Move) -> tuple[steps.Step, ...]:
    return tuple(steps.Delete("Pod", pod.namespace, pod.name, pod.uid) for pod in _idle(look, move))


def _decisions(look: _Look, move: _Move) -> tuple[verdicts.Decision, ...]:
    found, now_s = look.crew, look.view.now_s
    sent = [pod for pod in move.goes if found.is_fit(pod)]
    what = "sent away before its replacement comes" if move.without else "sent away"
    told = [(pod, what) for pod in sent] + [(pod, "deleted, it did not run yet") for pod in _idle(look, move)]
    rolled = [
        verdicts.Decision(now_s, "Roll", pod.name, done, _because(found, pod, move))
        for pod, done in told
        if pod.uid in found.old
    ]
    gone = [pod for pod, _ in told if pod.uid not in found.old]
    return (*rolled, *_scaled(look, gone))


def _because(found: crew.Crew, pod: records.Pod, move: _Move) -> str:
    return f"{_why(found, pod)}: {move.without}" if move.without else _why(found, pod)


def _scaled(look: _Look, gone: list[records.Pod]) -> Iterator[verdicts.Decision]:
    former, wanted, now_s = look.view.former, look.crew.wanted, look.view.now_s
    if look.begins and former and former.executors.count != wanted:
        what = f"executors: {wanted} instead of {former.executors.count}"
        yield verdicts.Decision(now_s, "Scale", look.driver.name, what, "spec.executors.count has changed")
    if gone:
        yield verdicts.Decision(
            now_s, "Scale", look.driver.name, f"{crew.numbers(gone)} sent away", f"{wanted} are wanted"
        )


def _moments_s(look: _Look, verdict: verdicts.Verdict, left_s: float) -> Iterator[float]:
    """When something may be due that no news tells of."""
    now_s = look.view.now_s
    warm = [pod.ready_s + crew.WARM_S - now_s for pod in look.crew.unfit() if pod.ready]
    room_s = left_s - DEADLINE_S + ROOM_S
    yield from (moment_s for moment_s in (*warm, room_s, left_s, verdict.look_again_s) if moment_s and moment_s > 0)
