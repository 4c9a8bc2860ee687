"""Du & Gupta's experiments (section 5.1): tuples through a line of operators, with each of their techniques.

Called by the bench and its tests. In go a scenario, a technique and a seed, out come tuple latencies and the extra
load. Every task is a server with a queue; a tuple's instance visits one task per operator, and the fastest instance
counts.

Assumed, for the paper does not publish it: Poisson input, exponential service, and where tails come from: each worker
pauses now and then (collection, a neighbour on the host), and what it has not begun waits that long. The rate and
the pauses are parameters of the scenario and printed beside every figure. What is in service is not interrupted.
"""

import bisect
import dataclasses
import heapq
from collections.abc import Sequence
from itertools import accumulate
from typing import NamedTuple

from sluice_policies import bounds, latency, timeout
from sluice_policies.latency_types import Observed, State
from sluice_policies.simulate import draws

TECHNIQUES = ("default", "timeout", "replicate", "shared", "two-choices", "balance")
_MOST_REPLAYS = 3


class Server(NamedTuple):
    """A task: the worker it runs in, and how long a tuple takes it on average."""

    worker: int
    mean_ms: float


@dataclasses.dataclass(frozen=True)
class Scenario:
    """A topology under load."""

    operators: tuple[tuple[Server, ...], ...]
    tuples_per_s: float
    seconds: float = 120.0
    warm_up_s: float = 20.0
    """Tuples emitted before this are not counted."""
    pause_gap_ms: float = 5000.0
    """Mean time between two pauses of a worker; 0: none."""
    pause_ms: float = 30.0
    """Mean length of a pause."""


@dataclasses.dataclass(frozen=True)
class Technique:
    """What is done about the tail."""

    name: str = "default"
    share: float = 0.0
    """`replicate`: the part of tuples emitted twice, 0 to 1."""
    balance: latency.Args = dataclasses.field(default_factory=latency.Args)
    """`balance`: how."""
    stale_ms: float = 1000.0
    """`two-choices`: how old the known backlogs may be, 0 (always true) to 60,000."""

    def __post_init__(self) -> None:
        bounds.one_of("name", self.name, TECHNIQUES)
        bounds.within("share", self.share, 0, 1)
        bounds.within("stale_ms", self.stale_ms, 0, 60_000)


class Result(NamedTuple):
    """Latencies of the counted tuples, sorted; `extra` instances per tuple beside the first."""

    latencies_ms: tuple[float, ...]
    extra: float
    unfinished: int

    def at(self, p: float) -> float:
        """A percentile."""
        return timeout.percentile(self.latencies_ms, p)


def run(scenario: Scenario, technique: Technique, seed: int) -> Result:
    """Plays the scenario to its end."""
    return _Play(scenario, technique, seed).to_the_end()


class _Play:
    """One run: the queues, who is on the way, and a heap of what happens next."""

    def __init__(self, scenario: Scenario, technique: Technique, seed: int) -> None:
        self.scenario, self.technique = scenario, technique
        self.arriving, self.serving, self.routing, self.pausing = (draws.uniforms(seed * 8 + i) for i in range(4))
        self.free_ms = [[0.0] * len(operator) for operator in scenario.operators]
        self.emitted_ms: list[float] = []
        self.done_ms: list[float | None] = []
        self.instances = 0
        self.timeout_ms: float | None = None
        self.recent_ms: list[float] = []
        self.seen = [[(0.0, 0)] * len(operator) for operator in scenario.operators]
        self.states = [State() for _ in scenario.operators]
        self.cumulative = [list(accumulate([1 / len(op)] * len(op))) for op in scenario.operators]
        self.known_ms = [list(free) for free in self.free_ms]
        self.events: list[tuple[float, int, str, int, int]] = []
        self.count = 0

    def to_the_end(self) -> Result:
        """Every event in the order of time, until the scenario's."""
        self._at(0.0, "emit", 0, 0)
        for period_ms, what in ((1000.0, "second"), (self.technique.balance.period_s * 1000, "period")):
            self._at(period_ms, what, 0, 0)
        if self.technique.name == "two-choices" and self.technique.stale_ms > 0:
            self._at(self.technique.stale_ms, "look", 0, 0)
        workers = sorted({server.worker for operator in self.scenario.operators for server in operator})
        for worker in workers if self.scenario.pause_gap_ms > 0 else ():
            self._at(draws.exponential(next(self.pausing), self.scenario.pause_gap_ms), "pause", worker, 0)
        end_ms = self.scenario.seconds * 1000
        happen = {
            "emit": self._emit, "hop": self._hop, "check": self._check, "second": self._second,
            "period": self._period, "look": self._look, "pause": self._pause,
        }  # fmt: skip
        while self.events and self.events[0][0] < end_ms:
            now_ms, _, what, a, b = heapq.heappop(self.events)
            happen[what](now_ms, a, b)
        return self._result()

    def _at(self, when_ms: float, what: str, a: int, b: int) -> None:
        self.count += 1  # breaks ties in the order of causes
        heapq.heappush(self.events, (when_ms, self.count, what, a, b))

    def _emit(self, now_ms: float, _a: int, _b: int) -> None:
        tuple_id = len(self.emitted_ms)
        self.emitted_ms.append(now_ms)
        self.done_ms.append(None)
        twice = self.technique.name == "replicate" and next(self.routing) < self.technique.share
        for _ in range(2 if twice else 1):
            self._send(now_ms, tuple_id)
        if self.timeout_ms is not None and self.technique.name == "timeout":
            self._at(now_ms + self.timeout_ms, "check", tuple_id, 1)
        self._at(now_ms + draws.exponential(next(self.arriving), 1000 / self.scenario.tuples_per_s), "emit", 0, 0)

    def _send(self, now_ms: float, tuple_id: int) -> None:
        self.instances += 1
        self._hop(now_ms, tuple_id, 0)

    def _hop(self, now_ms: float, tuple_id: int, stage: int) -> None:
        if stage == len(self.scenario.operators):
            self._finish(now_ms, tuple_id)
            return
        task = self._route(stage, now_ms)
        server, free = self.scenario.operators[stage][task], self.free_ms[stage]
        done_ms = max(now_ms, free[task]) + draws.exponential(next(self.serving), server.mean_ms)
        free[task] = done_ms
        total_ms, number = self.seen[stage][task]
        self.seen[stage][task] = (total_ms + done_ms - now_ms, number + 1)
        self._at(done_ms, "hop", tuple_id, stage + 1)

    def _route(self, stage: int, now_ms: float) -> int:
        operator, free = self.scenario.operators[stage], self.free_ms[stage]
        if self.technique.name == "two-choices":
            known = free if self.technique.stale_ms == 0 else self.known_ms[stage]
            one, other = (int(next(self.routing) * len(operator)) for _ in range(2))
            return min((max(known[one] - now_ms, 0.0), one), (max(known[other] - now_ms, 0.0), other))[1]
        cumulative = self.cumulative[stage]
        task = min(bisect.bisect(cumulative, next(self.routing) * cumulative[-1]), len(operator) - 1)
        if self.technique.name != "shared":
            return task
        # One queue for the tasks of the worker the tuple came to: whoever is free first takes it.
        return min((free[i], i) for i, server in enumerate(operator) if server.worker == operator[task].worker)[1]

    def _finish(self, now_ms: float, tuple_id: int) -> None:
        if self.done_ms[tuple_id] is None:
            self.done_ms[tuple_id] = now_ms
            self.recent_ms.append(now_ms - self.emitted_ms[tuple_id])

    def _check(self, now_ms: float, tuple_id: int, nth: int) -> None:
        if self.done_ms[tuple_id] is None and nth <= _MOST_REPLAYS and self.timeout_ms is not None:
            self._send(now_ms, tuple_id)
            self._at(now_ms + self.timeout_ms, "check", tuple_id, nth + 1)

    def _second(self, now_ms: float, _a: int, _b: int) -> None:
        found = timeout.step(self.recent_ms, timeout.Args())
        self.timeout_ms = found.timeout_ms if found else self.timeout_ms
        self.recent_ms = []
        self._at(now_ms + 1000, "second", 0, 0)

    def _period(self, now_ms: float, _a: int, _b: int) -> None:
        if self.technique.name == "balance":
            for stage, seen in enumerate(self.seen):
                observed = [
                    Observed(f"{task:04}", total_ms / number if number else None)
                    for task, (total_ms, number) in enumerate(seen)
                ]
                decision = latency.step(self.states[stage], observed, self.technique.balance)
                self.states[stage] = decision.state
                self.cumulative[stage] = list(accumulate(weight for _, weight in decision.weights))
        self.seen = [[(0.0, 0)] * len(operator) for operator in self.scenario.operators]
        self._at(now_ms + self.technique.balance.period_s * 1000, "period", 0, 0)

    def _look(self, now_ms: float, _a: int, _b: int) -> None:
        self.known_ms = [list(free) for free in self.free_ms]
        self._at(now_ms + self.technique.stale_ms, "look", 0, 0)

    def _pause(self, now_ms: float, worker: int, _b: int) -> None:
        length_ms = draws.exponential(next(self.pausing), self.scenario.pause_ms)
        for stage, operator in enumerate(self.scenario.operators):
            for task, server in enumerate(operator):
                if server.worker == worker:
                    self.free_ms[stage][task] = max(self.free_ms[stage][task], now_ms) + length_ms
        self._at(now_ms + draws.exponential(next(self.pausing), self.scenario.pause_gap_ms), "pause", worker, 0)

    def _result(self) -> Result:
        counted = [
            (done_ms, emitted_ms)
            for emitted_ms, done_ms in zip(self.emitted_ms, self.done_ms, strict=True)
            if emitted_ms >= self.scenario.warm_up_s * 1000
        ]
        latencies = sorted(done_ms - emitted_ms for done_ms, emitted_ms in counted if done_ms is not None)
        unfinished = sum(done_ms is None for done_ms, _ in counted)
        return Result(tuple(latencies), self.instances / max(len(self.emitted_ms), 1) - 1, unfinished)


def line(operators: int, tasks: int, mean_ms: float, speeds: Sequence[float]) -> tuple[tuple[Server, ...], ...]:
    """A linear topology with one task of each operator per worker, workers of these speeds in turn."""
    return tuple(
        tuple(Server(task % len(speeds), mean_ms / speeds[task % len(speeds)]) for task in range(tasks))
        for _ in range(operators)
    )
