"""Three jobs beside a Kafka broker that they want to be near: StroMAX's Fig. 6 and 7 on the cluster.

They come at 0, 30 and 60 s and are placed by StroMAX one by one, before anything is measured, on nodes with too little
room for each to stay together. Its repartition has ten minutes to come, for so long a job rests after its start (the
paper waits 300 s); when its move is judged, the policy becomes consolidate. The operator's ϑ is 12 % and no setting:
what another would move is asked as a user may, of the command line's planner, about the graph that was measured.
"""

import statistics
import time
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from bench import ledger, outcome, rebalance_cuts, rebalance_links, rebalance_place
from bench.rebalance_links import Sender
from demo import streamjobs

_TRIGGER = "3 seconds"  # eight executors and three drivers leave two cores some rest
_SENDERS = (Sender("at-0", 2, _TRIGGER), Sender("at-30", 4, _TRIGGER), Sender("at-60", 2, _TRIGGER))
_SLOTS = (2, 3, 4)  # Kafka's node first
_APART_S = 30.0
_BATCHES = 60
_REST_S = 600.0  # of a job after its start; then a round a minute
_ROUNDS_S = 180.0
_THETAS = (0.05, 0.10, 0.12, 0.15, 0.20, 0.25)
_CPU_M = 2000  # of a node
_NEAR = {"matchLabels": {"app": "kafka"}}
_FIRST, _STROMAX, _CONSOLIDATE = "as they came", "StroMAX's repartition", "consolidate after that"
_WHEN = (_FIRST, _STROMAX, _CONSOLIDATE)


def run(book: ledger.Ledger) -> outcome.Outcome:
    """One run, remembered."""
    found = book.once("three", _measure)
    change = [_median_s(found[_CONSOLIDATE][name]) / _median_s(one) for name, one in found[_FIRST].items()]
    first, last = (_crossed_a_batch(found[when].values()) for when in (_FIRST, _CONSOLIDATE))
    bars = (
        outcome.Bar("three-best-below-its-first-placement", 1 - min(change), 0.109, at_least=True),
        outcome.Bar("three-worst-by-its-first-placement", max(change), 1.1),
        outcome.Bar("three-cross-bytes-by-the-first-placement", last / first if first else 1.0, 0.8),
    )
    return outcome.Outcome((_of_jobs(found), _of_thetas(found)), bars)


def _of_jobs(found: Mapping[str, Any]) -> outcome.Table:
    rows = tuple(
        (
            name, when, str(found["moves"][when]), rebalance_cuts.spread(seen["homes"]),
            f"{_crossed_a_batch([seen]) / 1e6:.1f}", f"{_median_s(seen):.2f}",
            f"{_median_s(seen) / _median_s(found[_FIRST][name]) - 1:+.1%}",
        )
        for name in found[_FIRST]
        for when in _WHEN
        for seen in [found[when][name]]
    )  # fmt: skip
    title = f"Three jobs, links of {rebalance_links.RATE}. StroMAX's repartition in the paper: -10.9 to -26.5 %"
    header = (
        "job", "executors are where", "moves of all jobs", "executors by node", "MB between nodes a batch",
        "s a batch, median", "against how they came",
    )  # fmt: skip
    return outcome.Table(title, header, rows)


def _of_thetas(found: Mapping[str, Any]) -> outcome.Table:
    """Fig. 7 and what follows it: what Alg. 2 would move of the first placement."""
    graph = rebalance_cuts.graph(found[_FIRST], dict.fromkeys(found["nodes"], _CPU_M), found["nodes"][0])
    plans = {theta: rebalance_cuts.relieved(graph, theta) for theta in _THETAS}
    rows = tuple(
        (
            f"{theta:.0%}", str(len(plan.moves)), f"{plan.before.cut_bytes_per_s / 1e6:.2f}",
            f"{plan.after.cut_bytes_per_s / 1e6:.2f}", f"{plan.before.fullest:.0%}", f"{plan.after.fullest:.0%}",
        )
        for theta, plan in plans.items()
    )  # fmt: skip
    title = "What StroMAX's Alg. 2 would move by ϑ, with room everywhere: the paper finds 10 to 15 % best"
    header = ("ϑ", "moves", "MB/s between nodes, now", "then", "fullest node, now", "then")
    return outcome.Table(title, header, rows)


def _median_s(seen: Mapping[str, Any]) -> float:
    return float(statistics.median(seen["took_s"]))


def _crossed_a_batch(seen: Iterable[Mapping[str, Any]]) -> float:
    return sum((rebalance_cuts.crossing(one["pairs"], one["homes"]) / one["batches"] for one in seen), 0.0)


def _measure() -> dict[str, Any]:
    with rebalance_links.stage(_SLOTS) as (stage, _):
        jobs = []
        for sender in _SENDERS:
            jobs.append(sender.start(stage, policy="stromax", near=_NEAR))
            time.sleep(_APART_S)
        began_s = time.monotonic()
        for job in jobs:
            job.wait("condition=Ready")
        rebalance_links.next_batches(jobs, rebalance_links.WARM)
        first = rebalance_links.measured(jobs, _BATCHES)
        print("three: measured as they came", flush=True)
        left_s = began_s + _REST_S + _ROUNDS_S - time.monotonic()
        by_stromax, stromax = _moved(jobs, left_s)
        for job in jobs:
            job.change(placement={"policy": "consolidate"})
        by_consolidate, consolidate = _moved(jobs, _ROUNDS_S)
    return {
        "nodes": stage.nodes, _FIRST: first, _STROMAX: stromax, _CONSOLIDATE: consolidate,
        "moves": {_FIRST: 0, _STROMAX: by_stromax, _CONSOLIDATE: by_consolidate},
    }  # fmt: skip


def _moved(jobs: Sequence[streamjobs.Job], within_s: float) -> tuple[int, dict[str, dict[str, Any]]]:
    """How many moves were judged since now, where one begins in time; and what is measured then."""
    begun, judged = rebalance_links.begun(jobs), rebalance_links.moved(jobs)
    rebalance_place.seen_within(within_s, lambda: rebalance_links.begun(jobs) > begun)
    found = rebalance_links.moved(jobs) - judged
    print(f"three: {found} moves", flush=True)
    return found, rebalance_links.measured(jobs, _BATCHES)
