"""The latency loop: every 15 s, for each job that has something to balance, task times → weights. Beside the cycle.

A third kind of look: observe (:mod:`sluice.observe.latencies`) → plan (:mod:`sluice.plan.balancing`). It writes
nothing: what it found is in the view of the job's next look, which it wakes when that is something new. Each job waits
for its own source alone.
"""

import collections
import logging
import time
from collections.abc import Callable, Mapping

from sluice import metrics, wakes
from sluice.observe import latencies, mirror
from sluice.plan import balancing
from sluice.transport import failures
from sluice.values import balances, driver_state, views

Key = tuple[str, str]  # namespace and name of a StreamJob
WORKERS = 16
_LOG = logging.getLogger(__name__)


class Balancer:
    """What it remembers is a comfort: another operator goes on from the weights in the orders."""

    def __init__(
        self,
        seen: mirror.Mirror,
        source: latencies.Latencies,
        wake: Callable[[Key], None],
        now_s: Callable[[], float] = time.time,
    ) -> None:
        self._seen, self._source, self._wake, self._now_s = seen, source, wake, now_s
        self._queue: wakes.Wakes[Key] = wakes.Wakes()
        self._memories: dict[Key, balancing.Memory | None] = {}  # of whom it follows

    async def work(self) -> None:
        """One worker, until it is cancelled."""
        await self._queue.work(self._look, ends=failures.LostLeadership)

    def follow(self, view: views.JobView) -> balances.Balance | None:
        """Looks at a job from now on, if there is something to balance; what it last found."""
        key = view.job.key
        if key not in self._memories and balancing.driver(view):
            self._memories[key] = None
            self._queue.wake(key)
        found = self._memories.get(key)
        return found.shown if found and found.shown.driver == driver_state.read(view.job.status).pod else None

    def standing(self) -> Mapping[str, int]:
        """How many jobs are how."""
        return collections.Counter(one.shown.reason for one in self._memories.values() if one)

    async def _look(self, key: Key, waited_s: float) -> float | None:
        began_s = time.monotonic()
        again_s = await self._look_at(key)
        metrics.cycle_ended("balance", time.monotonic() - began_s, waited_s)
        return again_s

    async def _look_at(self, key: Key) -> float | None:
        view = self._seen.job_view(key, self._now_s())
        pod = balancing.driver(view) if view else None
        if view is None or pod is None:
            self._memories.pop(key, None)
            return None
        memory = balancing.remembered(view, pod, self._memories[key])
        why = balancing.waits(view, pod)
        if not why:
            reading = await self._source.read(balancing.asked(view, pod, memory))
            metrics.latencies_read(self._now_s() - view.now_s)
            view = self._seen.job_view(key, self._now_s())
            still = balancing.driver(view) if view else None
            if view is None or still is None or still.uid != pod.uid:
                return 0.0  # it is another job by now
            why = balancing.waits(view, pod)
        self._keep(key, balancing.wait(view, memory, why) if why else balancing.judge(view, pod, memory, reading))
        return balancing.PERIOD_S

    def _keep(self, key: Key, now: balancing.Memory) -> None:
        before = self._memories[key]
        self._memories[key] = now
        if before is not None and before.shown == now.shown:
            return
        if now.shown.what:
            metrics.decided(balancing.KIND)
        if now.shown.cause:
            metrics.refused(now.shown.cause)
            _LOG.info("%s/%s: %s", *key, now.shown.message)
        self._wake(key)
