"""A node slows down four times while a job runs on it: who sees it, when, and what its batches take from then on.

Each contender has a job of its own, warm, on three executors with the same CPU; then one node gets a quarter. All of
the batches from that moment on count, the one in flight too. Sluice is looked at with each batch around that moment,
so what is said of when it saw is at most a batch too late.

Spark's ExecutorRollPlugin is Spark's alone: it sends an executor away and lets Kubernetes choose where the next one
goes, so it plays against plain Spark, where no plugin of ours places, measures or drains. Its OUTLIER is more than two
standard deviations above the mean, which none of fewer than six can be: with three it sends away, each time, the one
whose tasks took longest in all, as its documentation says it does then. It is played with two intervals, the better
one counts.
"""

import contextlib
import dataclasses
import functools
import math
import statistics
import time
from collections.abc import Mapping, Sequence
from typing import Any

from bench import ledger, outcome, rebalance_seen, rebalance_stage, rebalance_tasks
from bench.rebalance_seen import Batch, Look
from bench.rebalance_stage import Way
from demo import streamjobs

_TURNS = 2
_USUAL, _NODE, _SLOWED = 45, 2, 11  # percent of a core, of each; the node that gets less
# Batches: until it may come, until it comes at any rate, and that count. For the first 200 a JVM still compiles, and
# with a ninth of a core that holds a batch up for half a second: chance, and no contender's.
_BEFORE, _PATIENT, _AFTER = 200, 260, 250
_CLOSELY = 6, 40  # batches before and after that Sluice is looked at with each
_PERIOD_S, _LONG_S = 15.0, 1800.0  # the operator's, and that nothing may swing for
_STEPS = rebalance_stage.STEPS // 2  # with half of it, chance alone is more than what any two contenders differ by
_NOTHING = "nothing"
_ROLL = {
    "spark.plugins": "org.apache.spark.scheduler.cluster.k8s.ExecutorRollPlugin",
    "spark.kubernetes.executor.rollPolicy": "OUTLIER",
    "spark.kubernetes.executor.minTasksPerExecutorBeforeRolling": "10",
}


@dataclasses.dataclass(frozen=True)
class Contender:
    """One way, as itself or beside plain Spark."""

    way: Way
    conf: Mapping[str, str] = dataclasses.field(default_factory=lambda: rebalance_stage.COPIES)
    plain: bool = False


def _rolling(interval: str) -> Contender:
    conf = {**rebalance_stage.COPIES, **_ROLL, "spark.kubernetes.executor.rollInterval": interval}
    return Contender(Way(f"ExecutorRollPlugin, every {interval}", 3), conf, plain=True)


def _ours(name: str, lever: bool, latency: bool) -> Contender:
    """With the timeout as it comes: no limit of the user's own."""
    rebalance = {"mode": "Act", "lever": {"enabled": lever}, "latency": {"enabled": latency}}
    return Contender(Way(name, 3, rebalance=rebalance), {})


_CONTROLS = (
    Contender(Way(_NOTHING, 3)),
    Contender(Way("speculation", 3, ("1.5", "0.5"))),  # the best of those tried on the prototype
    _rolling("60s"),
    _rolling("300s"),
)
BOTH = _ours("ours: Lever and latency", True, True)
_ALL = (*_CONTROLS, _ours("ours: Lever", True, False), _ours("ours: latency", False, True), BOTH)


@dataclasses.dataclass(frozen=True)
class Turn:
    """What came of one contender, once."""

    took_s: list[float]  # of the batches from the slowing on
    agent: float  # the batch that was cut anew; infinite: none was
    operator_s: float

    @property
    def p99_s(self) -> float:
        """Of all those batches."""
        return rebalance_seen.p99(self.took_s)


def run(book: ledger.Ledger) -> outcome.Outcome:
    """Each turn of each contender is remembered."""
    found: dict[str, list[Turn]] = {one.way.name: [] for one in _ALL}
    for number in range(_TURNS):
        for one in _ALL:
            kept = book.once(f"runtime {one.way.name} {number}", functools.partial(measure, one, _AFTER))
            found[one.way.name].append(turn(kept))
    return _of_turns(found)


def turn(kept: dict[str, Any]) -> Turn:
    """From what was seen of it."""
    batches = [Batch(**one) for one in kept["batches"]]
    looks, at_s = [rebalance_seen.kept_look(one) for one in kept["looks"]], kept["at_s"]
    hit = rebalance_seen.hit(batches, at_s)[:_AFTER]
    agent = rebalance_seen.agent_saw(looks, batches, kept["executor"], at_s) if looks else None
    operator_s = rebalance_seen.operator_saw_s(looks, at_s) if looks else None
    return Turn([one.took_s for one in hit], _or_never(agent), _or_never(operator_s))


def _or_never(value: float | None) -> float:
    return math.inf if value is None else value


def _of_turns(found: Mapping[str, Sequence[Turn]]) -> outcome.Outcome:
    p99_s = {name: statistics.median(one.p99_s for one in turns) for name, turns in found.items()}
    rows = tuple(_row(name, turns, p99_s[name] / p99_s[_NOTHING]) for name, turns in found.items())
    header = (
        "who sees to it", "s a batch, median", "p99", "p99 of nothing's", "the first five, by turn",
        "seen by the agent, batch", "by the operator, s",
    )  # fmt: skip
    title = (
        f"One of three nodes with {_USUAL} % of a core each gets {_SLOWED} %: the first {_AFTER} batches from then on."
        " Seen by the agent: which of the batches begun after it was the first that was cut anew"
    )
    ours = found[BOTH.way.name]
    both_s, best_s = p99_s[BOTH.way.name], min(p99_s[one.way.name] for one in _CONTROLS)
    bars = (
        outcome.Bar("runtime-seen-by-agent-batches", max(one.agent for one in ours), 2),
        outcome.Bar("runtime-seen-by-operator-s", max(one.operator_s for one in ours), 30),
        outcome.Bar("runtime-p99-below-nothing", 1 - both_s / p99_s[_NOTHING], 0.35, at_least=True),
        outcome.Bar("runtime-p99-below-the-best-control", 1 - both_s / best_s, 0.35, at_least=True),
    )
    return outcome.Outcome((outcome.Table(title, header, rows),), bars)


def _row(name: str, turns: Sequence[Turn], of_nothing: float) -> tuple[str, ...]:
    took_s = [one for turn_ in turns for one in turn_.took_s]
    p99 = " / ".join(f"{one.p99_s:.2f}" for one in turns)
    first = "; ".join(", ".join(f"{one:.1f}" for one in turn_.took_s[:5]) for turn_ in turns)
    agent = " / ".join(_shown(one.agent) for one in turns)
    operator = " / ".join(_shown(one.operator_s) for one in turns)
    return name, f"{statistics.median(took_s):.2f}", p99, f"{of_nothing:.2f}", first, agent, operator


def _shown(value: float) -> str:
    return "no" if math.isinf(value) else f"{value:.0f}"


def measure(one: Contender, batches: int | None) -> dict[str, Any]:
    """Until so many batches ended after the slowing; None: for half an hour. JSON can hold it."""
    phase = one.way.phase(_PATIENT + (batches or 100_000) + 10)
    stage = rebalance_stage.running(rebalance_stage.ROWS, _STEPS, (phase,), one.conf, one.plain)
    with stage as job, rebalance_stage.slowed([_USUAL] * 3):
        watched = _Watched(job, one)
        with contextlib.closing(rebalance_stage.listen(job, (one.way,))) as told:
            for said in told:
                if "batch" in said and watched.take(rebalance_seen.batch(said), batches):
                    return watched.kept()
    return watched.kept()


class _Watched:
    """A job with its batches, before and after its node is slowed."""

    def __init__(self, job: streamjobs.Job, of: Contender) -> None:
        self._job, self._of = job, of
        self._batches: list[Batch] = []
        self._looks: list[Look] = []
        self._at_s = math.inf
        self._executor = ""

    def kept(self) -> dict[str, Any]:
        """As JSON can hold it."""
        batches, looks = ([dataclasses.asdict(one) for one in found] for found in (self._batches, self._looks))
        return {"batches": batches, "looks": looks, "at_s": self._at_s, "executor": self._executor}

    def take(self, batch: Batch, most: int | None) -> bool:
        """One more has ended; whether that is enough."""
        self._batches.append(batch)
        hit = len(rebalance_seen.hit(self._batches, self._at_s))
        if not self._of.plain and self._is_due(hit):
            self._looks.append(_look(self._job, self._of.way.name))
        if math.isinf(self._at_s) and self._is_ready():
            self._executor = _executor_on(self._job, rebalance_stage.node(_NODE))
            self._at_s = rebalance_stage.slow(_NODE, _SLOWED)
            print(f"{self._of.way.name}: slowed after batch {batch.number}", flush=True)
        if hit and hit % 50 == 0:
            print(f"{self._of.way.name}: {hit} batches since, the last one took {batch.took_s:.2f} s", flush=True)
        return hit >= most if most else time.time() > self._at_s + _LONG_S

    def _is_ready(self) -> bool:
        """Warm, and nothing shifts: what shifts already cannot be seen to begin."""
        rests = not self._looks or not rebalance_seen.shifts(self._looks[-1])
        return len(self._batches) >= (_BEFORE if rests else _PATIENT)

    def _is_due(self, hit: int) -> bool:
        before, after = _CLOSELY
        if len(self._batches) <= _BEFORE - before:
            return False
        return hit <= after or time.time() > self._looks[-1].at_s + _PERIOD_S


def _look(job: streamjobs.Job, query: str) -> Look:
    status, told = job.status(), rebalance_tasks.sums(job, query)
    balanced = next(one for one in status["conditions"] if one["type"] == "Balanced")
    moved = (one for one in status.get("decisions", ()) if one["kind"] in rebalance_seen.MOVES)
    return Look(
        time.time(),
        int(told["batch"]),
        {executor: part["rows"] for executor, part in told["executors"].items()},
        (balanced["reason"], balanced["message"]),
        rebalance_tasks.weights(status),
        tuple((one["at"], one["what"]) for one in moved),
    )


def _executor_on(job: streamjobs.Job, node: str) -> str:
    """Spark's number of the executor there; nothing where there is none."""
    return next((number for number, name in rebalance_tasks.nodes(job).items() if name == node), "")
