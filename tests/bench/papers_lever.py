"""Lever's experiments (sections 5.2, 5.8): part of the bench `papers`.

The paper's baseline is Spark without speculation: every batch in equal parts.
"""

import functools
import statistics

from bench import draw, ledger, outcome
from sluice_policies import lever
from sluice_policies.simulate import batches
from sluice_policies.simulate.batches import Executor, Workload

_BATCHES, _SKIPPED, _SEEDS = 80, 20, 5
_HELPERS = (0, 1, 2, 3, 4, 6, 8, 10, 12)
_SHARES = (1.0, 0.9, 0.8, 0.7, 0.6, 0.5)
_PUBLISHED = {"Projection": 32.31, "Grep": 30.72, "WordCount": 37.54, "Topk": 42.19, "Window": 48.17, "YSB": 44.64}
_THREE = (Executor("a", 50.0), Executor("b", 50.0), Executor("c", 12.0))
_TWO_STRAGGLERS = tuple(Executor(f"e{i}", 2.0 if i in (2, 3) else 10.0) for i in range(8))
_STILL = Workload(rows=112_000, swing=0.0, jitter=0.0)
_CUTS = {
    "equal": None,
    "published": lever.Args(variant="published"),
    "published, as meant": lever.Args(variant="published", reading="meant"),
    "ours": lever.Args(),
}
_LEVERS = tuple(_CUTS)[1:]


def run(book: ledger.Ledger) -> outcome.Outcome:
    """Both variants on small clusters, Figure 12 and Figure 20a."""
    small = {
        name: book.once(f"lever {name}", functools.partial(_over_bound, executors))
        for name, executors in (("three executors", _THREE), ("two stragglers of eight", _TWO_STRAGGLERS))
    }
    stage = {cut: book.once(f"lever fig 12 {cut}", functools.partial(_seconds, _CUTS[cut])) for cut in _CUTS}
    helpers = [
        book.once(
            f"lever fig 20a {n}",
            functools.partial(_seconds, lever.Args("published", helpers=n, reading="meant") if n else None),
        )
        for n in _HELPERS
    ]
    _draw(stage, helpers)
    bars = tuple(
        outcome.Bar(f"lever-{name.replace(' ', '-')}-over-bound", at["ours"][0], 1.02) for name, at in small.items()
    )
    return outcome.Outcome((_small(small), _fig12(stage), _fig20a(helpers, stage)), bars)


def _over_bound(executors: tuple[Executor, ...]) -> dict[str, tuple[float, float]]:
    """Batch time over its bound: in the second batch, and in the mean of the last ones of a long run."""
    bound_s = batches.bound_s(executors, _STILL)
    times = {cut: batches.run(executors, _STILL, args, _BATCHES, seed=1) for cut, args in _CUTS.items()}
    return {cut: (t[1] / bound_s, statistics.mean(t[_SKIPPED:]) / bound_s) for cut, t in times.items()}


def _seconds(args: lever.Args | None) -> float:
    """Mean batch time of the stage that reads the input, on the paper's cluster, once things have settled."""
    runs = [batches.run(batches.paper_cluster(), Workload(), args, _BATCHES, seed)[_SKIPPED:] for seed in range(_SEEDS)]
    return statistics.mean(time for run in runs for time in run)


def _small(small: dict[str, dict[str, tuple[float, float]]]) -> outcome.Table:
    rows = tuple(
        (f"{name}, {when}", *(f"{at[cut][i]:.3f}" for cut in _CUTS))
        for name, at in small.items()
        for i, when in enumerate(("after one batch", f"mean of batches {_SKIPPED} to {_BATCHES}"))
    )
    title = (
        "Lever: batch time over its bound, nothing varies. The published cut leaves the median group alone; to the "
        "letter it relieves only the first of equal stragglers. `As meant` is said in lever_published"
    )
    return outcome.Table(title, ("case", *_CUTS), rows)


def _less(seconds: float, base: float, share: float) -> float:
    """By how many percent a job gets shorter when only `share` of it is the stage that reads the input."""
    return 100 * share * (1 - seconds / base)


def _fig12(stage: dict[str, float]) -> outcome.Table:
    rows = [
        (f"{share:.0%}", *(f"{_less(stage[cut], stage['equal'], share):.1f} %" for cut in _LEVERS)) for share in _SHARES
    ]
    paper = ", ".join(f"{name} {less} %" for name, less in _PUBLISHED.items())
    title = (
        f"Lever Fig. 12, standalone, job time below Spark without speculation. Paper: {paper}. Its machines (12 "
        "fast, 4 slow, 2.6 and 1.2 GHz) are read off Figures 13-15. Which part of a job is its first stage is not "
        "published, so it is swept. Algorithm 1 to the letter cannot have given the paper's figures: of four equal "
        "stragglers it relieves one. Clock speeds alone allow at most 46.7 %, so the paper's 48.17 % has another "
        "source (4 against 16 GB of memory). YARN's contention is not simulated. Input +-10 %, speeds +-10 % from "
        "batch to batch"
    )
    return outcome.Table(title, ("first stage's part of the job", *_LEVERS), tuple(rows))


def _fig20a(helpers: list[float], stage: dict[str, float]) -> outcome.Table:
    rows = [
        (str(n), f"{seconds:.2f} s", f"{_less(seconds, helpers[0], 1.0):.1f} %")
        for n, seconds in zip(_HELPERS, helpers, strict=True)
    ]
    rows.append(("ours, all executors", f"{stage['ours']:.2f} s", f"{_less(stage['ours'], helpers[0], 1.0):.1f} %"))
    title = (
        "Lever Fig. 20a, first stage by number of helpers (as meant), below zero helpers. Paper: near-ideal from 4 on, "
        "best at 6, 4 to 12 alike; no numbers printed. The shape comes out; its level is the first stage's alone"
    )
    return outcome.Table(title, ("helpers", "batch", "below none"), tuple(rows))


def _draw(stage: dict[str, float], helpers: list[float]) -> None:
    xs = [100 * share for share in _SHARES]
    series = {cut: [_less(stage[cut], stage["equal"], share) for share in _SHARES] for cut in _LEVERS}
    series |= {f"paper: {name}": [less] * len(xs) for name, less in _PUBLISHED.items()}
    about = draw.Figure("lever-12", "Lever Fig. 12, standalone", "first stage's part of the job, %", "shorter by, %")
    draw.lines(about, xs, series)
    about = draw.Figure("lever-20a", "Lever Fig. 20a", "helpers", "first stage of a batch, s")
    draw.lines(about, _HELPERS, {"published": helpers, "ours (no helpers)": [stage["ours"]] * len(helpers)})
