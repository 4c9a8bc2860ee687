"""Lever's experiments (sections 5.2 to 5.8) on the cluster, with its eight workloads; part of `rebalance`.

Here the workloads run, alone and beside others; what is read off that stands in :mod:`bench.rebalance_lever_tables`.
Bursts, intervals and the parts of Lever one by one have modules of their own.
"""

import contextlib
import dataclasses
import functools
from collections.abc import Callable
from typing import Any

from bench import (
    ledger,
    outcome,
    rebalance_beside,
    rebalance_lever_burst,
    rebalance_lever_intervals,
    rebalance_lever_parts,
    rebalance_lever_tables,
    rebalance_lever_ways,
    rebalance_stage,
    rebalance_tasks,
)
from bench.rebalance_lever_ways import BOTH, CONF, COPIES, COUNT, FEWER, OURS, PARTITIONS, STOCK, WARM_UP, WINDOW
from bench.rebalance_stage import WARM, Way
from demo import streamjobs

_ROUNDS, _BATCHES = 2, 12
_PROBE_ROWS, _LEAST_ROWS, _MOST_ROWS = 60_000, 30_000, 1_500_000
_WORDCOUNT_CPU_S = 0.7  # of a batch: at even parts the slow node then takes nearly as long as in the paper, 1.9 s
Beside = Callable[[streamjobs.Job], contextlib.AbstractContextManager[None]]


def run(book: ledger.Ledger) -> outcome.Outcome:
    """All of it; each measurement is remembered."""
    rows = book.once("lever rows", _probe)
    alone = book.once("lever alone", functools.partial(_measure, rows, _nobody))
    beside = book.once("lever beside", functools.partial(_measure, rows, _everywhere))
    tables = rebalance_lever_tables.tables(rows, alone, beside)
    recorded = alone["scans"][f"{COUNT} {STOCK}"]
    return outcome.total([
        outcome.Outcome((*tables, rebalance_lever_parts.table(recorded)), ()),
        rebalance_lever_intervals.run(book, rows),
        rebalance_lever_burst.run(book, rows),
    ])  # fmt: skip


def _probe() -> int:
    """So many rows that counting their words costs as much CPU time as wanted; on nodes with all of theirs."""
    cpu_s: dict[str, float] = {}

    def look(job: streamjobs.Job, way: str) -> None:
        cpu_s[way] = rebalance_stage.cpu_s(job, way)

    ways = [WARM_UP, Way("probe", PARTITIONS, kind=COUNT)]
    phases = [way.phase(WARM + _BATCHES) for way in ways]
    with rebalance_stage.running(_PROBE_ROWS, rebalance_stage.STEPS, phases, CONF) as job:
        rebalance_stage.follow(job, ways, len(phases), look)
    wanted = round(_PROBE_ROWS * _WORDCOUNT_CPU_S / cpu_s["probe"])
    step = 100 * PARTITIONS  # bursts begin at whole rows of each partition
    return min(max(wanted, _LEAST_ROWS), _MOST_ROWS) // step * step


def _fewer(way: Way, rows: int) -> Way:
    """Each word counts in five windows."""
    return dataclasses.replace(way, rows=rows // FEWER)


def _nobody(_: streamjobs.Job) -> contextlib.AbstractContextManager[None]:
    return contextlib.nullcontext()


def _everywhere(job: streamjobs.Job) -> contextlib.AbstractContextManager[None]:
    nodes = list(rebalance_lever_ways.shares_by_node())
    return rebalance_beside.neighbours(job, nodes, rebalance_beside.COUNTS)


def _measure(rows: int, beside: Beside) -> dict[str, Any]:
    """Every workload in turns: times of batches, what executors did, and of counting words each task."""
    hows = {
        kind: (STOCK, OURS, COPIES, BOTH) if kind == COUNT else (STOCK, OURS) for kind in rebalance_lever_ways.KINDS
    }
    ways = [way for kind in hows for way in rebalance_lever_ways.ways_of(kind, *hows[kind])]
    ways = [_fewer(way, rows) if way.kind == WINDOW else way for way in ways]
    phases = [WARM_UP.phase(WARM), *(way.phase(WARM + _BATCHES) for _ in range(_ROUNDS) for way in ways)]
    found: dict[str, Any] = {"sums": {}, "scans": {}}

    def look(job: streamjobs.Job, way: str) -> None:
        found["sums"][way] = rebalance_tasks.sums(job, way)
        if way.startswith(COUNT):
            found["scans"].setdefault(way, []).extend(rebalance_tasks.scans(job, way))

    with rebalance_stage.running(rows, rebalance_stage.STEPS, phases, CONF) as job:
        with beside(job), rebalance_stage.slowed(rebalance_lever_ways.shares_by_node()):
            took_s = rebalance_stage.follow(job, [WARM_UP, *ways], len(phases), look)
        found["nodes"] = rebalance_tasks.nodes(job)
    warm_s = {way.name: rebalance_lever_ways.warm(took_s[way.name]) for way in ways}
    return {**found, "order": list(rebalance_lever_ways.shares_by_node()), "took_s": warm_s}
