"""``make bench NAME=placement``: the placer against proven optima, best known cuts, partitioners and the papers.

Cuts are compared on the same problems in the same run; every problem is in the tables, also those we lose. Times of
ours are seconds of CPU of the search on arrays: it is one thread, and so a busy machine does not blur them. Reading a
problem into arrays is told beside. Those of the others are by the clock, mt-KaHyPar's with two threads.
"""

import functools
import json
import math
import pathlib
import statistics
import time
from collections.abc import Callable, Iterable, Mapping, Sequence

from bench import contenders, instances, ledger, outcome, placement_growth, placement_replan, placement_start
from sluice_policies import consolidate

_DATA = pathlib.Path(__file__).with_name("data")
_LEVELS = ("fast", "best")
_SEEDS = (1, 2, 3)
_OURS = ("consolidate fast", "consolidate best")
Row = dict[str, tuple[int | None, float]]  # a contender's cut and seconds


def run(book: ledger.Ledger) -> outcome.Outcome:
    """All of it; each problem is remembered once it is measured."""
    _ours(instances.small()[0], "fast"), _ours(instances.small()[0], "best")  # the kernels are warm
    return outcome.total(
        [
            small(book),
            *(against(book, tasks, nodes) for tasks, nodes in ((100, 10), (1_000, 100), (10_000, 1_000))),
            fresh(book),
            placement_replan.run(book),
            placement_growth.run(book),
            placement_start.run(book),
        ]
    )


def _ours(problem: instances.Instance, level: str, seed: int = 1) -> tuple[int | None, float, float]:
    """Cut, seconds of CPU for the search, and for reading the problem into arrays."""
    began = time.process_time()
    base = problem.arrays()
    read_s = time.process_time() - began
    args = consolidate.Args(level="fast" if level == "fast" else "best")
    began = time.process_time()
    part = consolidate.place(base, args, seed)
    took_s = time.process_time() - began
    fits = part is not None and problem.fits(part)
    return (problem.cut(part) if part is not None and fits else None), took_s, read_s


def small(book: ledger.Ledger) -> outcome.Outcome:
    """Against the proven optimum; where that is 0 the cut must be 0, the ratio is over the rest."""
    optimum = json.loads((_DATA / "small_opt.json").read_text())
    rows: list[tuple[str, ...]] = []
    bars: list[outcome.Bar] = []
    limits = {"fast": (1.015, 3.0), "best": (1.001, 10.0)}
    problems = instances.small()
    for level in _LEVELS:
        measure = functools.partial(_every, problems, [functools.partial(_ours, level=level, seed=s) for s in _SEEDS])
        answers = book.once(f"small {level}", measure)
        ratios = [cut / optimum[name]["opt"] for name, cut, *_ in answers if cut is not None and optimum[name]["opt"]]
        missed = sum(cut is None or (cut > 0 and not optimum[name]["opt"]) for name, cut, *_ in answers)
        median_ms = 1000 * statistics.median(took_s for _, _, took_s, *_ in answers)
        rows.append(_small_row(f"consolidate {level}", ratios, missed, median_ms))
        most, most_ms = limits[level]
        bars += [
            outcome.Bar(f"placement-small-{level}-cut-by-optimum", statistics.mean(ratios), most),
            outcome.Bar(f"placement-small-{level}-not-0-where-0-is-possible", missed, 0),
            outcome.Bar(f"placement-small-{level}-median-ms", median_ms, most_ms),
        ]
    for name in contenders.ALL:
        answers = book.once(f"small {name}", functools.partial(_every, problems, [_answering(name)]))
        answers = [row for row in answers if row[1] is not None]
        ratios = [cut / optimum[problem]["opt"] for problem, cut, *_ in answers if optimum[problem]["opt"]]
        missed = sum(cut > 0 and not optimum[problem]["opt"] for problem, cut, *_ in answers)
        rows.append(_small_row(name, ratios, missed, 1000 * statistics.median(row[2] for row in answers)))
    title = f"{len(problems)} problems of up to 24 tasks on 4 nodes: cut by proven optimum (ours with 3 seeds each)"
    header = ("", "answers", "mean", "worst", "optimal", "optimum 0 missed", "median ms")
    return outcome.Outcome((outcome.Table(title, header, tuple(rows)),), tuple(bars))


def _answering(name: str) -> Callable[[instances.Instance], tuple[int | None, float]]:
    return functools.partial(contenders.answer, name)


def _every(
    problems: Iterable[instances.Instance], ways: Sequence[Callable[[instances.Instance], tuple[object, ...]]]
) -> list[list[object]]:
    return [[problem.name, *way(problem)] for problem in problems for way in ways]


def _small_row(name: str, ratios: Sequence[float], missed: int, median_ms: float) -> tuple[str, ...]:
    optimal = sum(ratio <= 1 for ratio in ratios) / len(ratios)
    return (
        name, str(len(ratios)), f"{statistics.mean(ratios):.4f}", f"{max(ratios):.2f}", f"{optimal:.0%}", str(missed),
        f"{median_ms:.2f}",
    )  # fmt: skip


def against(book: ledger.Ledger, tasks: int, nodes: int) -> outcome.Outcome:
    """All contenders on the recorded problems of one size."""
    known = json.loads((_DATA / "bestknown.json").read_text())
    rows = {p.name: _row(book, p) for p in instances.large(tasks, nodes)}
    best = {name: min([known.get(name, math.inf), *_cuts(row)]) for name, row in rows.items()}
    tables = _tables(f"{tasks:,} tasks on {nodes:,} nodes, by the best known cut", rows, best)
    return outcome.Outcome(tables, _bars(tasks, rows, best))


def fresh(book: ledger.Ledger) -> outcome.Outcome:
    """Problems nobody tuned anything on; the best of all contenders is what is known."""
    problems = instances.large(10_000, 1_000, seed=7, kinds=("affine",))
    rows = {p.name: _row(book, p) for p in problems}
    best = {name: min(_cuts(row)) for name, row in rows.items()}
    tables = _tables("10,000 tasks on 1,000 nodes, fresh seed, by the best of all here", rows, best)
    return outcome.Outcome(tables, _bars(10_000, rows, best, "-fresh"))


def _row(book: ledger.Ledger, problem: instances.Instance) -> Row:
    """Everyone's answer to one problem; each is remembered, so that a better placer is not slow to measure."""
    row: Row = {
        name: book.once(f"{problem.name} {name}", functools.partial(contenders.answer, name, problem))
        for name in contenders.ALL
    }
    for level, name in zip(_LEVELS, _OURS, strict=True):
        cut, took_s, read_s = book.once(f"{problem.name} {name}", functools.partial(_median, problem, level))
        row |= {name: (cut, took_s), "read": (None, read_s)}
    return row


def _median(problem: instances.Instance, level: str) -> tuple[int | None, float, float]:
    """One answer (it is always the same), and the median time of three runs, or of one that takes seconds."""
    runs = [_ours(problem, level) for _ in range(3 if level == "fast" else 1)]
    return runs[0][0], statistics.median(run[1] for run in runs), statistics.median(run[2] for run in runs)


def _cuts(row: Row) -> list[int]:
    return [cut for cut, _ in row.values() if cut is not None]


def _tables(title: str, rows: dict[str, Row], best: Mapping[str, float]) -> tuple[outcome.Table, ...]:
    names = [name for name in next(iter(rows.values())) if name != "read"]
    read_ms = 1000 * statistics.median(row["read"][1] for row in rows.values())
    summary = [_summary(name, rows, best) for name in [*_OURS, *(n for n in names if n not in _OURS)]]
    each = [(problem, *(_by(row[name][0], best[problem]) for name in names)) for problem, row in rows.items()]
    header = ("", "answers", "mean cut by best", "worst", "median s", "longest s")
    return (
        outcome.Table(f"{title} (reading it: {read_ms:.0f} ms)", header, tuple(summary)),
        outcome.Table(f"{title}: each problem", ("", *names), tuple(each)),
    )


def _summary(name: str, rows: dict[str, Row], best: Mapping[str, float]) -> tuple[str, ...]:
    answers = [(row[name][0], row[name][1], best[problem]) for problem, row in rows.items()]
    given = [(cut / known, took_s) for cut, took_s, known in answers if cut is not None and known]
    if not given:
        return (name, "0", "-", "-", "-", "-")
    ratios, seconds = zip(*given, strict=True)
    return (
        name, str(len(given)), f"{statistics.mean(ratios):.4f}", f"{max(ratios):.3f}",
        f"{statistics.median(seconds):.3f}", f"{max(seconds):.3f}",
    )  # fmt: skip


def _by(cut: int | None, known: float) -> str:
    if cut is None:
        return "-"
    return f"{cut / known:.3f}" if known else ("0" if cut == 0 else f"{cut} for 0")


def _bars(tasks: int, rows: dict[str, Row], best: Mapping[str, float], mark: str = "") -> tuple[outcome.Bar, ...]:
    """Quality and time at 10,000; everywhere at least as good as each contender on the problems it answers."""
    bars = []
    label = f"placement-{tasks}{mark}"
    for name, most, most_s in zip(_OURS, (1.023, 1.006), (0.25, 2.0), strict=True):
        short = name.split()[1]
        bars.append(outcome.Bar(f"{label}-{short}-infeasible", sum(row[name][0] is None for row in rows.values()), 0))
        if tasks == 10_000:
            seconds = statistics.median(row[name][1] for row in rows.values())
            ratio = statistics.mean((row[name][0] or math.inf) / best[problem] for problem, row in rows.items())
            bars += [
                outcome.Bar(f"{label}-{short}-cut-by-best", ratio, most),
                outcome.Bar(f"{label}-{short}-median-s", seconds, most_s),
            ]
    for other in (name for name in next(iter(rows.values())) if name not in (*_OURS, "read")):
        bars += _duel(label, other, [row for row in rows.values() if row[other][0] is not None], tasks)
    return tuple(bars)


def _duel(label: str, other: str, rows: Sequence[Row], tasks: int) -> list[outcome.Bar]:
    """Our mean cut by theirs (below 1), and from 1,000 tasks up our time by a partitioner's."""
    name = other.lower().replace(" ", "-").replace(",", "").replace(".", "")
    if not rows:
        return []
    bars = []
    for ours in _OURS:
        ratio = sum(row[ours][0] or math.inf for row in rows) / sum(row[other][0] or 0 for row in rows)
        bars.append(outcome.Bar(f"{label}-{ours.split()[1]}-cut-by-{name}", ratio, 1.0))
    if other in contenders.PARTITIONERS and tasks >= 1_000:
        times = statistics.median(row["consolidate fast"][1] / row[other][1] for row in rows)
        bars.append(outcome.Bar(f"{label}-fast-time-by-{name}", times, 1.0))
    return bars
