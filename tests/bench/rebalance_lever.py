"""Lever's experiments (sections 5.2 to 5.8) on the cluster, with its eight workloads; part of `rebalance`.

Here the workloads run, alone and beside others; what is read off that stands in :mod:`bench.rebalance_lever_tables`.
Bursts, intervals and the parts of Lever one by one have modules of their own.
"""

import contextlib
import dataclasses
import functools
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
from bench.rebalance_lever_ways import (
    BOTH,
    CONF,
    COPIES,
    COUNT,
    FEWER,
    OURS,
    PARTITIONS,
    SHARES,
    STOCK,
    WARM_UP,
    WINDOW,
)
from bench.rebalance_stage import WARM, Way
from demo import streamjobs

_ROUNDS, _BATCHES = 2, 12
_PROBE_ROWS, _LEAST_ROWS, _MOST_ROWS = 60_000, 30_000, 1_500_000
_WORDCOUNT_CPU_S = 0.7  # of a batch: at even parts the slow node then takes nearly as long as in the paper, 1.9 s


def run(book: ledger.Ledger) -> outcome.Outcome:
    """All of it; each measurement is remembered."""
    rows = book.once("lever rows", _probe)
    alone = book.once("lever alone", functools.partial(_measure, rows, rebalance_beside.nobody))
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
    ways = [WARM_UP, Way("probe", PARTITIONS, kind=COUNT)]
    phases = [way.phase(WARM + _BATCHES) for way in ways]
    with rebalance_stage.running(_PROBE_ROWS, rebalance_stage.STEPS, phases, CONF) as job:
        sums = {name: rebalance_tasks.sums(job, name) for name, _ in rebalance_stage.follow(job, ways, len(phases))}
    wanted = round(_PROBE_ROWS * _WORDCOUNT_CPU_S / rebalance_tasks.cpu_s(sums["probe"]))
    step = 100 * PARTITIONS  # bursts begin at whole rows of each partition
    return min(max(wanted, _LEAST_ROWS), _MOST_ROWS) // step * step


def _fewer(way: Way, rows: int) -> Way:
    """Each word counts in five windows."""
    return dataclasses.replace(way, rows=rows // FEWER)


def _everywhere(job: streamjobs.Job) -> contextlib.AbstractContextManager[None]:
    return rebalance_beside.neighbours(job, rebalance_lever_ways.nodes(), rebalance_beside.COUNTS)


def _measure(rows: int, beside: rebalance_beside.Beside) -> dict[str, Any]:
    """Every workload in turns: times of batches, what executors did, and of counting words each task."""
    hows = {
        kind: (STOCK, OURS, COPIES, BOTH) if kind == COUNT else (STOCK, OURS) for kind in rebalance_lever_ways.KINDS
    }
    ways = [way for kind in hows for way in rebalance_lever_ways.ways_of(kind, *hows[kind])]
    ways = [_fewer(way, rows) if way.kind == WINDOW else way for way in ways]
    phases = [WARM_UP.phase(WARM), *(way.phase(WARM + _BATCHES) for _ in range(_ROUNDS) for way in ways)]
    found: dict[str, Any] = {"sums": {}, "scans": {}, "took_s": {way.name: [] for way in (WARM_UP, *ways)}}
    stage = rebalance_stage.running(rows, rebalance_stage.STEPS, phases, CONF)
    with stage as job, beside(job), rebalance_stage.slowed(SHARES):
        for name, took_s in rebalance_stage.follow(job, [WARM_UP, *ways], len(phases)):
            found["took_s"][name] += took_s[WARM:]
            found["sums"][name] = rebalance_tasks.sums(job, name)
            if name.startswith(COUNT):
                found["scans"].setdefault(name, []).extend(rebalance_tasks.scans(job, name))
        found["nodes"] = rebalance_tasks.nodes(job)
    return {**found, "order": rebalance_lever_ways.nodes()}
