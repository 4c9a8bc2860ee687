"""What is read off Lever's eight workloads, beside the paper's figures (sections 5.2, 5.3, 5.4 and 5.6). Pure."""

import statistics
from collections.abc import Mapping
from typing import Any

from bench import outcome, rebalance_tasks
from bench.rebalance_lever_ways import BOTH, CAPACITY, COPIES, COUNT, FEWER, KINDS, OURS, SHARES, STOCK, WINDOW, less

Found = Mapping[str, Any]
_PAPERS = {  # Figure 12: below Spark without speculation, alone and beside a background job
    "identity": ("a little", "a little"), "sample": ("a little", "a little"), "projection": ("32.3 %", "32.2 %"),
    "grep": ("30.7 %", "36.4 %"), COUNT: ("37.5 %", "46.9 %"), "topk": ("42.2 %", "55.2 %"),
    WINDOW: ("48.2 %", "53.4 %"), "yahoo": ("44.6 %", "57.3 %"),
}  # fmt: skip
_LIGHT = "a batch is mostly Spark's own work, in driver and tasks, which no cut divides"
_TWO_STAGES = "counts and their state are dealt out by hash, to slow and fast alike: the first stage alone is cut"
_WHY = {
    "identity": _LIGHT, "sample": _LIGHT, "projection": _LIGHT, "grep": _LIGHT, COUNT: _TWO_STAGES,
    "topk": f"{_TWO_STAGES}; the most frequent are found in the driver",
    WINDOW: f"each word counts in five windows, so the first stage weighs more; {_TWO_STAGES}",
    "yahoo": f"reading JSON is work of the first stage; {_TWO_STAGES}; campaigns are read anew in each batch",
}  # fmt: skip
_INTERVAL_S = 2.0


def tables(rows: int, alone: Found, beside: Found) -> tuple[outcome.Table, ...]:
    """All of them."""
    both = {"alone": alone, "beside": beside}
    return (_workloads(rows, alone, beside), _speculation(both), _idle(both), _locality(both))


def _workloads(rows: int, alone: Found, beside: Found) -> outcome.Table:
    header = (
        "workload", "s alone, stock", "Lever", "below stock, paper", "ours", "work / capacity is below by",
        "s beside a job, stock", "Lever", "below stock, paper", "ours", "why",
    )  # fmt: skip
    shown = tuple(
        (
            kind, *_pair(alone, kind, _PAPERS[kind][0]), _percent(_possible(alone, kind)),
            *_pair(beside, kind, _PAPERS[kind][1]), _WHY[kind],
        )
        for kind in KINDS
    )  # fmt: skip
    title = (
        f"Lever Fig. 12: {rows} lines a batch ({rows // FEWER} for windows), medians. Three executors on nodes with"
        f" {', '.join(map(str, SHARES))} % of a core, as the paper's clocks (its machines differ in memory, too); a"
        " batch begins when the last one is done. Beside: on each node a program counts words for 0.3 s of CPU in 2 s;"
        " the paper's is Spark Streaming on YARN. Work / capacity: CPU time of stock's tasks over all there is"
    )
    return outcome.Table(title, header, shown)


def _pair(found: Found, kind: str, paper: str) -> tuple[str, str, str, str]:
    stock_s, ours_s = (median_s(found, f"{kind} {how}") for how in (STOCK, OURS))
    return f"{stock_s:.2f}", f"{ours_s:.2f}", paper, _percent(less(ours_s, stock_s))


def _possible(found: Found, kind: str) -> float:
    return 1 - rebalance_tasks.busy_cores(found["sums"][f"{kind} {STOCK}"]) / CAPACITY


def _speculation(both: Mapping[str, Found]) -> outcome.Table:
    papers = {
        ("alone", COPIES): "1.89 s", ("alone", OURS): "1.26 s, 33.3 % below speculation",
        ("beside", OURS): "25.4 % below speculation",
    }  # fmt: skip
    whys = {
        STOCK: "nobody helps the slow one",
        COPIES: "a copy begins from the first row, once half of the tasks are done, and never on the same host",
        OURS: "parts are as large as each can carry, before the batch begins",
        BOTH: "all end at about the same time, so that most copies begin too late to win: they cost, and help little",
    }
    shown = []
    for where, found in both.items():
        for how in (STOCK, COPIES, OURS, BOTH):
            took_s, base_s, copied_s = (median_s(found, f"{COUNT} {one}") for one in (how, STOCK, COPIES))
            ran, base = (rebalance_tasks.ran_s(found["sums"][f"{COUNT} {one}"]) for one in (how, STOCK))
            shown.append((
                where, how, papers.get((where, how), "-"), f"{took_s:.2f} s", _percent(less(took_s, base_s)),
                _percent(less(took_s, copied_s)), f"{ran / base - 1:+.0%}", whys[how],
            ))  # fmt: skip
    header = ("", "words counted by", "paper", "ours", "below stock", "below speculation", "tasks' time", "why")
    title = (
        "Lever 5.2, with and without speculation, set as the paper's was best: every 100 ms, quantile 0.5, multiplier 1"
    )
    return outcome.Table(title, header, tuple(shown))


def _idle(both: Mapping[str, Found]) -> outcome.Table:
    papers = {
        ("alone", STOCK): "CPU 17.5 %; the slow ones up to 69.5 %, the fast up to 14.6 %",
        ("alone", COPIES): "executor 1, fast: idle 76 %",
        ("alone", OURS): "executor 1, fast: idle 47 %; CPU 52.3 %; slow up to 27.4 %, fast up to 52.1 %",
        ("beside", OURS): "drawn, not printed",
    }
    whys = {
        STOCK: "the fast ones wait for the slow one",
        COPIES: "they wait until a copy begins; what was beaten counts as time in tasks, too",
        OURS: "all have something to do until the end; what is left is Spark's own time, and the second stage",
    }
    shown = tuple(
        (
            where, how, papers.get((where, how), "-"),
            " / ".join(_percent(rebalance_tasks.idle(found["sums"][f"{COUNT} {how}"], one)) for one in _order(found)),
            _percent(rebalance_tasks.used(found["sums"][f"{COUNT} {how}"])),
            _percent(rebalance_tasks.busy_cores(found["sums"][f"{COUNT} {how}"]) / CAPACITY), whys[how],
        )
        for where, found in both.items() for how in (STOCK, COPIES, OURS)
    )  # fmt: skip
    header = (
        "", "words counted by", "paper", "idle, by executor, the slow one last", "time in tasks (Eq. 10)",
        "CPU time of what nodes have", "why",
    )  # fmt: skip
    title = (
        "Lever 5.3 and 5.4, Fig. 13 to 16: which part of its batches each executor has no task, and what of the CPU is"
        " used. The paper's CPU use by executor is the load of whole machines, its mean Eq. 10 as ours. Beside others"
        " the nodes' CPU is the neighbours', too"
    )
    return outcome.Table(title, header, shown)


def _order(found: Found) -> list[str]:
    """Executors by their nodes: the slow one last, as in `SHARES`."""
    return sorted(found["nodes"], key=lambda number: found["order"].index(found["nodes"][number]))


def _locality(both: Mapping[str, Found]) -> outcome.Table:
    papers = {STOCK: "most local; 39.7 % wait", OURS: "96 % local; 8.7 % wait"}
    whys = {
        STOCK: "its parts prefer nobody, so that any place counts as local, or as none",
        COPIES: "a copy goes to whoever is free",
        OURS: "each part prefers its executor, and there is one for each slot",
        BOTH: "only copies go elsewhere",
    }
    shown = tuple(
        (where, how, papers.get(how, "-"), _percent(local), _percent(late), whys[how])
        for where, found in both.items()
        for how in (STOCK, COPIES, OURS, BOTH)
        for local, late in [placed(found["scans"][f"{COUNT} {how}"])]
    )
    header = (
        "",
        "words counted by",
        "paper",
        "on the executor it prefers",
        f"wait for over {0.75 * _INTERVAL_S} s",
        "why",
    )
    title = (
        "Lever 5.6, Fig. 18: tasks that read the input, of the last batches. Ours are counted from the stage's begin;"
        " the paper's wait for the batches before theirs, too, which overrun the interval at the baseline"
    )
    return outcome.Table(title, header, shown)


def placed(scans: list[dict[str, Any]]) -> tuple[float, float]:
    """Which part of tasks is where it was to be, and which waits for longer than three quarters of an interval."""
    local = sum(task["locality"] == "PROCESS_LOCAL" for task in scans)
    late = sum(task["waited_s"] > 0.75 * _INTERVAL_S for task in scans)
    return local / len(scans), late / len(scans)


def median_s(found: Found, way: str) -> float:
    """Of its batches."""
    took_s: list[float] = found["took_s"][way]
    return statistics.median(took_s)


def _percent(part: float) -> str:
    return f"{100 * part:.1f} %"
