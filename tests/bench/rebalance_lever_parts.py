"""Lever's parts one by one (section 5.7): its policy over batches that stock has really done. Part of `rebalance`.

The agent has Lever as a whole, and nothing to switch its parts off by. So what each brings is replayed: every batch has
the speeds that its executors had, and only the cut differs. Pure.
"""

import collections
import functools
import statistics
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from bench import outcome
from sluice_policies import lever, lever_published, shares
from sluice_policies.lever_published import Group
from sluice_policies.lever_types import Batch, Measured, Share, State

Speeds = Mapping[str, float]  # rows a second in one batch, by executor
Cut = tuple[tuple[Share, ...], State]
Step = Callable[[State, Batch], Cut]
_HELPERS = 4  # section 5.8
_SKIPPED = 5  # batches, in which each way learns


def speeds(scans: Iterable[Mapping[str, Any]]) -> list[Speeds]:
    """Of each batch in which every executor did something."""
    rows: dict[int, dict[str, float]] = collections.defaultdict(lambda: collections.defaultdict(float))
    run_s: dict[int, dict[str, float]] = collections.defaultdict(lambda: collections.defaultdict(float))
    for task in scans:
        rows[task["batch"]][task["executor"]] += task["rows"]
        run_s[task["batch"]][task["executor"]] += max(task["run_s"], 1e-3)
    everyone = {name for done in rows.values() for name in done}
    whole = [number for number in sorted(rows) if rows[number].keys() == everyone]
    return [{name: rows[number][name] / run_s[number][name] for name in sorted(everyone)} for number in whole]


def replay(batches: Sequence[Speeds], step: Step, rows: int = 100_000) -> list[float]:
    """How long each batch's longest part takes, when one after another they are cut so."""
    state, measured, took_s = State(()), tuple[Measured, ...](), []
    for speed in batches:
        cut, state = step(state, Batch(measured, tuple(speed), rows))
        measured = tuple(Measured(name, part, max(part / speed[name], 1e-6)) for name, part in cut)
        took_s.append(max(one.finish_s for one in measured))
    return took_s


def even(state: State, batch: Batch) -> Cut:
    """As Spark does."""
    return tuple(map(Share._make, _even(batch).items())), state


def predicted(state: State, batch: Batch, given: float) -> Cut:
    """Who straggles is known, but not how fast anybody is: some of its part goes to the faster ones, in equal parts."""
    parts = _even(batch)
    groups = lever_published.predict(_worked(batch), parts)
    return _handed(parts, groups, {name: int(given * parts[name]) for name in groups}), state


def learned(state: State, batch: Batch) -> Cut:
    """A straggler keeps what it can carry in the median's time; the rest goes to the faster ones, in equal parts."""
    parts = _even(batch)
    groups = lever_published.predict(_worked(batch), parts)
    carried = lever_published.learn(State(()), _worked(batch))
    return _handed(parts, groups, {name: max(0, parts[name] - int(carried[name])) for name in groups}), state


def reassigned(state: State, batch: Batch) -> Cut:
    """All three, as its figures must have run: in proportion to what helpers can carry."""
    return lever_published.step(state, batch, _HELPERS, "meant")


def ours(state: State, batch: Batch) -> Cut:
    """Everybody takes part."""
    decided = lever.step(state, batch, lever.Args())
    return decided.shares, decided.state


_STEPS: Mapping[str, tuple[Step, float, float, str, str]] = {  # with the paper's band of percents and what it says
    "prediction": (
        functools.partial(predicted, given=0.25), 10, 25, "over 62 % of batches by 10 to 25 %, 98 % by less than 35 %",
        "who is slow is known, not how slow: a quarter of its part is a guess, and too little",
    ),
    "prediction, a larger guess": (
        functools.partial(predicted, given=0.5), 10, 25, "-",
        "half is about what a node of less than half the speed should give: luck, which other speeds would not have",
    ),
    "with learning": (
        learned, 15, 35, "over 69 % by 15 to 35 %, 98 % by less than 45 %",
        "the straggler has the right part; helpers take what it gives, whatever they can carry",
    ),
    "with reassignment": (
        reassigned, 20, 45, "over 73 % by 20 to 45 %, 98 % by less than 60 %",
        "straggler and helpers end together; who is in the median group, as may be one of our three, is left alone",
    ),
    "Sluice's": (ours, 20, 45, "-", "the median one takes part, too, and each new speed counts for 60 %"),
}  # fmt: skip


def table(scans: Sequence[Mapping[str, Any]]) -> outcome.Table:
    """By how much batches get shorter."""
    batches = speeds(scans)
    base_s = replay(batches, even)[_SKIPPED:]
    shown = []
    for name, (step, least, most, paper, why) in _STEPS.items():
        gains = sorted(
            100 * (1 - took / base) for took, base in zip(replay(batches, step)[_SKIPPED:], base_s, strict=True)
        )
        within = sum(least <= gain <= most for gain in gains) / len(gains)
        ours_says = (
            f"{within:.0%} by {least:g} to {most:g} %, median {statistics.median(gains):.1f} %, most {gains[-1]:.1f} %"
        )
        shown.append((name, paper, ours_says, why))
    title = (
        f"Lever 5.7, Fig. 19: the policy replayed over {len(base_s)} batches of words counted by stock, as recorded; a"
        " batch's executors are as fast as they were, only the cut differs. Sluice's agent has no switch for parts of"
        " Lever. The paper does not say how much goes where stragglers alone are known, so two guesses stand there"
    )
    return outcome.Table(title, ("Lever's", "paper", "first stage shorter, ours", "why"), tuple(shown))


def _even(batch: Batch) -> dict[str, int]:
    names = sorted(batch.live)
    return dict(zip(names, shares.cut(batch.rows, [1.0] * len(names)), strict=True))


def _worked(batch: Batch) -> list[Measured]:
    """Who had nothing to do has no speed."""
    return [one for one in batch.measured if one.rows]


def _handed(parts: dict[str, int], groups: Mapping[str, Group], given: Mapping[str, int]) -> tuple[Share, ...]:
    """From stragglers to the faster ones, in equal parts; nothing where nobody is faster."""
    takers = sorted(name for name, group in groups.items() if group is Group.FASTER)
    givers = [name for name, group in groups.items() if group is Group.STRAGGLER] if takers else []
    rows = dict(parts)
    for giver in givers:
        rows[giver] -= given[giver]
        for taker, more in zip(takers, shares.cut(given[giver], [1.0] * len(takers)), strict=True):
            rows[taker] += more
    return tuple(map(Share._make, rows.items()))
