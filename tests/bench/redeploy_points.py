"""A handover is hit at each of its steps, under load: whether one driver writes in the end, and each record came once.

Hit are the new driver (killed; stopped or cut off for longer than it has for its first commit), the operator, and the
old driver while it drains. The sink is files on S3, so nothing may be lost and nothing repeated in any case. Into Kafka
what a killed driver had begun would come again: Spark's sink for it gives no more than at least once.
One job goes through all of it, as long as it comes to rest after each blow.
"""

import contextlib
import dataclasses
import functools
import itertools
import time
from collections.abc import Iterator
from typing import Any

from bench import ledger, outcome, redeploy_blows, redeploy_kinds, redeploy_seen, redeploy_stage, redeploy_tally
from demo import flow, plain_spark, streamjobs
from house import trouble
from sluice.values import handoff

STARTS, WAITS, DRAINS, TAKES, PROVES = (
    "the new one starts", "it waits at its gate", "the old one drains", "the gate is open", "the new one has committed",
)  # fmt: skip
STEPS = (STARTS, WAITS, DRAINS, TAKES, PROVES)
_OF_PHASES = {handoff.DRAINING: DRAINS, handoff.TAKING: TAKES, handoff.PROVING: PROVES}
_QUICK: dict[str, Any] = {"update": {"drainTimeout": "30s", "rollback": {"batches": 5}}}
_BEGIN_S, _STEP_S, _ARRIVAL_S = 60.0, 120.0, 80.0
_ALL_S = 600.0  # of one point, at most: what is left of it is for coming to rest
_EPOCHS = "_sluice/epochs"


@dataclasses.dataclass(frozen=True)
class Point:
    """Who is hit, how, and when."""

    who: str
    way: str
    step: str

    @property
    def name(self) -> str:
        """In the ledger."""
        return f"point {self.who} {self.way}: {self.step}"


_WAYS = (redeploy_blows.KILLED, redeploy_blows.STOPPED, redeploy_blows.CUT)
POINTS = (
    *(Point(redeploy_blows.NEW, way, step) for step in STEPS for way in _WAYS),
    *(Point(redeploy_blows.OPERATOR, redeploy_blows.KILLED, step) for step in STEPS),
    Point(redeploy_blows.OLD, redeploy_blows.KILLED, DRAINS),
)


def run(book: ledger.Ledger) -> outcome.Outcome:
    """All points, each remembered; one that was over before the blow fell is tried once more."""
    with contextlib.closing(_Scenes()) as scenes:
        found = {point: tuple(_tries(book, scenes, point)) for point in POINTS}
    every = [one for tries in found.values() for one in tries]
    rows = tuple(_row(point, one) for point, tries in found.items() for one in tries)
    bars = (
        outcome.Bar(
            "handover-points-hit", sum(tries[-1]["hit"] for tries in found.values()), len(POINTS), at_least=True
        ),
        outcome.Bar("handover-points-without-one-writer", sum(bool(one["restless"]) for one in every), 0),
        outcome.Bar("handover-points-records-lost", sum(one["lost"] for one in every), 0),
        outcome.Bar("handover-points-records-repeated", sum(one["repeated"] for one in every), 0),
    )
    header = (
        "who", "is", "when", "hit", "the handover", "who writes in the end", "records", "lost", "repeated",
        "s the longest without a file", "s until all was at rest",
    )  # fmt: skip
    title = "A handover under load, hit at each of its steps; files on S3, 200 records a second"
    return outcome.Outcome((outcome.Table(title, header, rows),), bars)


def _tries(book: ledger.Ledger, scenes: "_Scenes", point: Point) -> Iterator[dict[str, Any]]:
    first = book.once(point.name, functools.partial(scenes.play, point))
    yield first
    if not first["hit"]:
        yield book.once(f"{point.name}, again", functools.partial(scenes.play, point))


def _row(point: Point, one: dict[str, Any]) -> tuple[str, ...]:
    hit = "yes" if one["hit"] else f"missed: {one['missed']}"
    writes = f"nobody alone: {one['restless']}" if one["restless"] else one["writes"]
    figures = (str(one[word]) for word in ("records", "lost", "repeated"))
    times = (f"{one['gap_s']:.0f}", f"{one['took_s']:.0f}")
    return (point.who, point.way, point.step, hit, one["ended"], writes, *figures, *times)


def step_of(now: handoff.Handoff) -> str:
    """Where a handover is: one of the steps, or its phase if it is none of them; nothing before it begins."""
    if now.phase == handoff.PREPARING:
        return WAITS if now.waiting else STARTS
    return _OF_PHASES.get(now.phase, now.phase)


def is_reached(step: str, now: handoff.Handoff) -> bool:
    """Whether a handover has come to a step, or past it."""
    at = step_of(now)
    return bool(at) and (at not in STEPS or STEPS.index(at) >= STEPS.index(step))


class _Scenes:
    """A job, made when it is first needed, and anew when it did not come to rest."""

    def __init__(self) -> None:
        self._stack = contextlib.ExitStack()
        self._scene: _Scene | None = None

    def play(self, point: Point) -> dict[str, Any]:
        if self._scene is None:
            running = redeploy_stage.running(redeploy_kinds.TO_FILES, **_QUICK)
            self._scene = _Scene(*self._stack.enter_context(running))
        found = self._scene.play(point)
        print(f"{point.name}: {found}", flush=True)
        if found["restless"]:
            self.close()
        return found

    def close(self) -> None:
        self._scene = None
        self._stack.close()


class _Scene:
    """One job under load."""

    def __init__(self, job: streamjobs.Job, load: flow.Load) -> None:
        self._job, self._load = job, load
        self._sink = redeploy_tally.Sink(job)
        self._numbers = itertools.count(101)  # Spark's own is 100

    def play(self, point: Point) -> dict[str, Any]:
        """One handover, hit where it is to be, and what became of it."""
        before, began_s = self._job.status(), time.time()
        attempt = redeploy_seen.last_attempt(before)
        with redeploy_seen.Watch(self._job) as watch:
            conf = {"spark.sql.streaming.minBatchesToRetain": str(next(self._numbers))}
            self._job.change(sparkConf=conf)
            new = _begun(watch, attempt)
            at = self._hit(watch, point, before["driver"]["pod"], new)
            left_s = began_s + _ALL_S - _ARRIVAL_S - time.time()
            restless = redeploy_seen.rests_within(self._restless, left_s)
        status, ended_s = self._job.status(), time.time()
        now = redeploy_seen.handoff_after(attempt, status)
        return {
            "hit": at == point.step, "missed": at, "restless": restless,
            "ended": f"{now.phase}: {' '.join(now.message.split())}",
            "writes": _who(status["driver"]["pod"], before["driver"]["pod"], new.pod),
            "took_s": ended_s - began_s, **self._sink.judge(self._load.sent, _ARRIVAL_S),
            "gap_s": self._sink.longest_gap_s(began_s, ended_s),
        }  # fmt: skip

    def _hit(self, watch: redeploy_seen.Watch, point: Point, old: str, new: handoff.Handoff) -> str:
        """Where the handover was when the blow had fallen, or why it did not fall."""
        blow = self._blow(point, old, new.pod)
        with contextlib.ExitStack() as until_struck:
            if point.step == WAITS:  # an operator that saw it there would send it on within milliseconds
                until_struck.enter_context(redeploy_blows.standing_operator(self._job))
                is_there = functools.partial(redeploy_seen.is_at_gate, self._job, new.pod)
                plain_spark.until(f"{new.pod} is at its gate", is_there, _STEP_S)
            elif missed := _missed(watch, point, new):
                return missed
            try:
                blow.strike()
                until_struck.close()
                at = WAITS if point.step == WAITS else _step_now(watch, new)
                redeploy_seen.rests_within(self._restless, blow.lasts_s)
            finally:
                blow.mend()
        return at

    def _blow(self, point: Point, old: str, new: str) -> redeploy_blows.Blow:
        if point.who == redeploy_blows.OPERATOR:
            return redeploy_blows.at_operator(self._job)
        return redeploy_blows.at_driver(self._job, old if point.who == redeploy_blows.OLD else new, point.way)

    def _restless(self) -> str:
        """The epochs are asked last: the one who writes has the highest."""
        if why := redeploy_seen.restless(self._job):
            return why
        (query,) = self._job.status()["queries"]
        folder = f"{redeploy_stage.NAMESPACE}/{self._job.name}/{query['name']}/{_EPOCHS}/"
        found = (key.rsplit("/", 1)[-1] for key in plain_spark.keys(self._job.kube, folder))
        highest = max((int(name) for name in found if name.isdecimal()), default=0)
        return "" if query.get("epoch") == highest else f"its epoch is {query.get('epoch')}, the highest is {highest}"


def _begun(watch: redeploy_seen.Watch, attempt: int) -> handoff.Handoff:
    """The handover, as soon as there is one."""
    seen = watch.until(lambda status: bool(redeploy_seen.handoff_after(attempt, status).phase), _BEGIN_S)
    if seen is None:
        raise trouble.Trouble(f"no handover {_BEGIN_S:.0f} s after the change: {watch.last.get('message', '')}")
    return redeploy_seen.handoff_after(attempt, seen)


def _missed(watch: redeploy_seen.Watch, point: Point, new: handoff.Handoff) -> str:
    """Why a blow cannot fall at its step; nothing when the handover has just come to it."""

    def is_there(status: dict[str, Any]) -> bool:
        return is_reached(point.step, redeploy_seen.handoff_after(new.attempt - 1, status))

    if watch.until(is_there, _STEP_S) is None:
        return f"not there within {_STEP_S:.0f} s"
    at = _step_now(watch, new)
    return "" if at == point.step else f"already {at!r}"


def _step_now(watch: redeploy_seen.Watch, new: handoff.Handoff) -> str:
    return step_of(redeploy_seen.handoff_after(new.attempt - 1, watch.last))


def _who(driver: str, old: str, new: str) -> str:
    named = {old: "the old one, which went on", new: "the new one"}
    return named.get(driver, "one that was started after them")
