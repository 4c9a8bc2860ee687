"""Du & Gupta's Table 3 (section 5.1.3): the latency loop against even parts, in their three settings; of `rebalance`.

Lever is off: weights alone are the shares. A phase before the measured one lets them settle; even parts are measured
before it and after. What a row waits for is its batch, so a batch's time is its latency.
"""

import contextlib
import dataclasses
import functools
import math
from collections.abc import Mapping, Sequence
from typing import Any

from bench import ledger, outcome, rebalance_beside, rebalance_stage, rebalance_tasks
from bench.rebalance_stage import WARM, Way
from demo import plain_spark, streamjobs
from sluice.values import names

_STEPS = rebalance_stage.STEPS // 5  # many short batches: 0.3 s of CPU time each
_WARM_UP, _EVEN, _SETTLING, _BALANCED = "warm-up", "even", "settling", "balanced"
_OURS = {"mode": "Act", "latency": {"enabled": True}, "lever": {"enabled": False}}
_TO_WARM = 150  # batches, while the last executor comes
_BATCHES, _TO_SETTLE = 150, 250  # of even parts twice, of balanced ones twice as many; minutes of steps of 15 s
_DEADLINE_S = 240
_PERCENTILES = (50.0, 90.0, 99.0, 99.9)


def _packer(job: streamjobs.Job) -> contextlib.AbstractContextManager[None]:
    return rebalance_beside.neighbours(job, [rebalance_stage.node(0)], rebalance_beside.PACKS)


@dataclasses.dataclass(frozen=True)
class Setting:
    """What makes executors unlike."""

    letter: str
    about: str
    shares: tuple[int, ...]  # percent of a core, by node
    executors: int
    beside: rebalance_beside.Beside
    paper: Mapping[float, tuple[float, float]]  # D and L, in ms
    why: str


SETTINGS = (
    Setting(
        "a", "four executors on three nodes, so that two share one; theirs: 3 or 2 tasks a worker", (34, 34, 34), 4,
        rebalance_beside.nobody, {90.0: (11.15, 10.9), 99.0: (29.9, 23.5), 99.9: (104.5, 57.1)},
        "two of four have half of the others' CPU, as against two thirds in the paper: there is more to gain",
    ),
    Setting(
        "b", "a compression on one node of three; theirs: on two of five", (34, 34, 34), 3,
        _packer, {90.0: (21.05, 9.16), 99.0: (92.9, 36.4), 99.9: (204.3, 153.1)},
        "one of three has half; a packer takes what an executor leaves, so what is left is not all the same each batch",
    ),
    Setting(
        "c", "one node of three with half of the others' CPU; theirs: one of five", (40, 40, 20), 3,
        rebalance_beside.nobody, {90.0: (9.3, 7.67), 99.0: (127.8, 62.4), 99.9: (598.6, 162.0)},
        "a batch waits for its slowest part, but for no queue; in the paper tuples queue at the slow worker",
    ),
)  # fmt: skip


def run(book: ledger.Ledger) -> outcome.Outcome:
    """Each setting, remembered."""
    found = {one.letter: book.once(f"table 3 {one.letter}", functools.partial(_measure, one)) for one in SETTINGS}
    shown = [row for one in SETTINGS for row in _rows(one, found[one.letter])]
    header = ("setting", "ms", "paper D", "paper L", "paper", "ours, even", "balanced", "ours", "why")
    title = (
        "Du & Gupta Table 3: D even parts, L balanced by latency; ours are batches of 0.3 s of CPU time, even parts"
        f" before and after balanced ones, {2 * _BATCHES} of each: their 99.9th percentile is the slowest one. Lever is"
        " off. The paper's best is -72.9 %, the 99.9th of c; it publishes no rates, nor how busy its workers are"
    )
    return outcome.Outcome((outcome.Table(title, header, tuple(shown)),), ())


def at(values: Sequence[float], percent: float) -> float:
    """The percentile: the least value that so many percent do not exceed."""
    return sorted(values)[max(0, math.ceil(percent * len(values) / 100 - 1e-9) - 1)]


def _rows(setting: Setting, found: Mapping[str, Any]) -> list[tuple[str, ...]]:
    shown: list[tuple[str, ...]] = []
    for percent in _PERCENTILES:
        even_ms, ours_ms = (1000 * at(found[name], percent) for name in (_EVEN, _BALANCED))
        before, after = setting.paper.get(percent, (math.nan, math.nan))
        first = percent == _PERCENTILES[0]
        shown.append((
            f"{setting.letter}: {setting.about}; shares at the end: {found['shares']}" if first else setting.letter,
            f"p{percent:g}", _ms(before), _ms(after), _change(after, before),
            _ms(even_ms), _ms(ours_ms), _change(ours_ms, even_ms),
            setting.why if first else "",
        ))  # fmt: skip
    return shown


def _ms(value: float) -> str:
    return "-" if math.isnan(value) else f"{value:.4g}"


def _change(now: float, before: float) -> str:
    return "-" if math.isnan(now) else f"{100 * (now / before - 1):+.1f} %"


def _measure(setting: Setting) -> dict[str, Any]:
    """Even, settling, balanced, even."""
    even = Way(_EVEN, setting.executors)
    settling, balanced = (Way(name, setting.executors, rebalance=_OURS) for name in (_SETTLING, _BALANCED))
    warm_up = Way(_WARM_UP, setting.executors)
    phases = [
        warm_up.phase(_TO_WARM), even.phase(WARM + _BATCHES),
        settling.phase(WARM + _TO_SETTLE), balanced.phase(WARM + 2 * _BATCHES), even.phase(WARM + _BATCHES),
    ]  # fmt: skip
    found: dict[str, Any] = {_EVEN: [], _BALANCED: []}
    stage = rebalance_stage.running(rebalance_stage.ROWS, _STEPS, phases, rebalance_stage.COPIES)
    with stage as job:
        _man(job, setting)
        with setting.beside(job), rebalance_stage.slowed(setting.shares):
            for name, took_s in rebalance_stage.follow(job, (warm_up, even, settling, balanced), len(phases)):
                if name in found:
                    found[name] += took_s[WARM:]
                if name == _BALANCED:
                    found["shares"] = _in_force(job)
    return found


def _man(job: streamjobs.Job, setting: Setting) -> None:
    """One more than there are nodes comes once a node may have two, and nobody moves to even that out."""
    if setting.executors > len(setting.shares):
        job.change(executors={"count": setting.executors, "maxPerNode": 2}, placement={"policy": "stay"})
    all_there = lambda: len(job.running(names.EXECUTOR)) == setting.executors  # noqa: E731
    plain_spark.until(f"{setting.executors} executors", all_there, _DEADLINE_S)


def _in_force(job: streamjobs.Job) -> str:
    """The weights in the orders, by node."""
    nodes, weights = rebalance_tasks.nodes(job), rebalance_tasks.weights(job.status())
    by_node = sorted((nodes[number], weight) for number, weight in weights.items())
    return ", ".join(f"{node} {100 * weight:.0f} %" for node, weight in by_node) or "none were shifted"
