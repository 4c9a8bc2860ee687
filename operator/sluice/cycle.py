"""One look at a job, or at all executors that wait: observe → plan → act. The same whatever woke it."""

import collections
import dataclasses
import time
from collections.abc import Callable

from sluice import act, balance, build, metrics, outlook
from sluice.build import config
from sluice.observe import leases, mirror, revisions, streamjobs
from sluice.plan import changes, gone, life, placement, retry_place, rollback, status
from sluice.transport import wire
from sluice.values import outcomes, steps, views

Key = tuple[str, str]  # namespace and name of a StreamJob
_REFUSED_S, _LONGEST_S = 5.0, 60.0
_SOON_S = {"Conflict": 0.5, "Gone": 0.5, "Unavailable": 5.0, "Refused": _REFUSED_S}
Tried = tuple[int, str, int]  # generation, phase and attempt: what was to be done
_FLEET: Key = ("", "")
_LEFTOVERS: Tried = (0, "", 0)  # of a job that is no more


@dataclasses.dataclass(frozen=True)
class Refusal:
    """What the API server would not do for a job, and until when it is not asked for the same again."""

    sentence: str
    tried: Tried
    pause_s: float
    until_s: float


class Cycle:
    """What all looks share. Remembers nothing of a job but what last failed, so as not to ask for it at once again."""

    def __init__(
        self,
        seen: mirror.Mirror,
        line: wire.Wire,
        around: build.Surroundings,
        balancer: balance.Balancer,
        now_s: Callable[[], float] = time.time,
        found: outlook.Outlook | None = None,
    ) -> None:
        self._seen, self._line, self._around, self._balancer, self._now_s = seen, line, around, balancer, now_s
        self._found = found or outlook.Outlook()
        self._refused: dict[Key, Refusal] = {}
        self._in_vain: collections.Counter[Key] = collections.Counter()  # looks in a row

    async def look_at_job(self, key: Key, waited_s: float) -> float | None:
        """Brings one job a step further; seconds until it must be looked at though nothing wakes it."""
        began_s = time.monotonic()
        again_s = await self._look_at_job(key)
        metrics.cycle_ended("job", time.monotonic() - began_s, waited_s)
        return again_s

    async def look_at_fleet(self, _: str, waited_s: float) -> float | None:
        """Sends every executor that waits to its node."""
        began_s = time.monotonic()
        again_s = await self._look_at_fleet()
        metrics.cycle_ended("fleet", time.monotonic() - began_s, waited_s)
        return again_s

    async def _look_at_job(self, key: Key) -> float | None:
        view = self._seen.job_view(key, self._now_s())
        if view is None:
            self._refused.pop(key, None)
            return await self._do(key, _LEFTOVERS, await self._farewell(key))
        view = await self._filled_in(self._found.laid_into(view))
        verdict = life.judge(view, self._around)
        for decision in verdict.decisions:
            metrics.decided(decision.kind)
        said = (*status.record(view, verdict), *status.tell(view, verdict))
        todo = (retry_place.deletes(view), *verdict.stages)
        tried = (view.job.generation, verdict.phase, verdict.driver.attempt)
        left_s = self._left_s(key, tried)
        # The status comes first: what was seen may be gone once something was done about it.
        stages = tuple(stage for stage in (said, *(() if left_s else todo)) if stage)
        return await self._do(key, tried, steps.Steps(stages, left_s or verdict.look_again_s))

    async def _farewell(self, key: Key) -> steps.Steps:
        pods = self._seen.leftovers(key)
        if pods and (body := await streamjobs.read(self._line, key)):
            self._seen.see_streamjob(None, body)  # which wakes it again
            return steps.Steps()
        return gone.plan(pods, None if pods else await leases.read(self._line, key))

    async def _filled_in(self, view: views.JobView) -> views.JobView:
        """The view with what else is known: a refusal, a driver made of another spec, what the latency loop found."""
        refused = self._refused.get(view.job.key)
        revision = view.job.status.get("revision")
        if given_up := rollback.given_up(view.job):
            before = await revisions.read(self._line, view.job, given_up.instead)
            job = rollback.before(view.job, before) if before else view.job
            view = dataclasses.replace(view, job=job, given_up=given_up if before else None)
        if revision and revision != changes.revision(view.job):
            former = await revisions.read(self._line, view.job, revision)
            coming = await revisions.read(self._line, view.job, changes.revision(view.job))
            view = dataclasses.replace(
                view, former=config.recorded(former).spec if former else None, prepared=coming is not None
            )
        sentence = refused.sentence if refused else ""
        balanced = self._balancer.follow(view)
        return dataclasses.replace(view, refused=sentence, placing=self._around.placing, balance=balanced)

    async def _look_at_fleet(self) -> float | None:
        fleet = self._seen.fleet_view(self._now_s())
        done = await act.carry_out(placement.plan(fleet, self._around.gate_timeout_s), self._line)
        self._seen.learn(done)
        return self._soon_s(_FLEET, done)

    async def _do(self, key: Key, tried: Tried, planned: steps.Steps) -> float | None:
        done = await act.carry_out(planned, self._line)
        self._seen.learn(done)
        soon_s = self._soon_s(key, done)
        if soon_s is None:
            if not self._left_s(key, tried):
                self._refused.pop(key, None)
            return planned.look_again_s
        failure = done.failures[0]
        metrics.refused(failure.kind)
        return self._refusal(key, tried, failure.sentence) if failure.kind == "Refused" else soon_s

    def _soon_s(self, key: Key, done: outcomes.Outcome) -> float | None:
        """When to look again after a failure, ever later while it goes on; None after none."""
        if done.ok:
            self._in_vain.pop(key, None)
            return None
        self._in_vain[key] += 1
        first_s = min(_SOON_S[failure.kind] for failure in done.failures)
        return min(_LONGEST_S, first_s * 2.0 ** min(self._in_vain[key] - 1, 10))

    def _left_s(self, key: Key, tried: Tried) -> float:
        """How long what was refused waits for its next try. Much wakes a job, the echo of its own status included."""
        refused = self._refused.get(key)
        return max(0.0, refused.until_s - self._now_s()) if refused and refused.tried == tried else 0.0

    def _refusal(self, key: Key, tried: Tried, sentence: str) -> float:
        """Remembers it, so that the next look says it in the status; the same again is tried ever more slowly."""
        before = self._refused.get(key)
        same = before is not None and before.tried == tried
        pause_s = min(_LONGEST_S, before.pause_s * 2.0) if before and same else _REFUSED_S
        self._refused[key] = Refusal(sentence, tried, pause_s, self._now_s() + pause_s)
        return pause_s if before and before.sentence == sentence else 0.0
