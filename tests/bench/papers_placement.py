"""StroMAX's and TurboStream's placement figures: part of the bench `papers`.

Times are :mod:`sluice_policies.simulate.whatif`'s, with the hop times TurboStream measured; StroMAX publishes none.
They know no queues and no full links, so a paper that measured those shows more than we do. The cut says how much is
placement's: with all-to-all streams it is bounded by how many tasks a node holds, whoever places them.
"""

import dataclasses
import functools
from collections.abc import Mapping
from typing import TypedDict

from bench import draw, ledger, outcome
from sluice_policies import measures, model, stromax, turbostream
from sluice_policies.simulate import topologies, whatif
from sluice_policies.simulate.topologies import Topology

_NODES, _SLOTS = 40, 10
_USUAL = {"spout": 5, "bolt": 20}
_FIG_5 = {
    "LP": (topologies.LOGS, {"spout": 10, "bolt": 30, "LP.rules": 50}, "-37 %"),
    "TSSA": (topologies.SENTIMENT, {"spout": 8, "bolt": 20}, "-39 %"),
}
_TOGETHER = (topologies.WORD_COUNT, topologies.THROUGHPUT, topologies.TRENDING)
_ALONE = (*_TOGETHER, topologies.LOGS, topologies.SENTIMENT)
_GROWTH = (5, 10, 20, 40)
_OFFLINE = turbostream.Args(mode="offline")


class Pair(TypedDict):
    """A placement beside its baseline: time per tuple, bytes between nodes as a part of 1."""

    base_ms: float
    ours_ms: float
    base_far: float
    ours_far: float


def run(book: ledger.Ledger) -> outcome.Outcome:
    """StroMAX Fig. 5, 6, 8a, 8b; TurboStream Table II, Fig. 9d and 9e."""
    fig5 = {name: book.once(f"stromax 5 {name}", functools.partial(_fig5, *case[:2])) for name, case in _FIG_5.items()}
    fig6 = book.once("stromax 6", _fig6)
    fig8a = {one.name: book.once(f"stromax 8a {one.name}", functools.partial(_fig8a, one)) for one in _ALONE}
    fig8b = {nodes: book.once(f"stromax 8b {nodes}", functools.partial(_fig8b, nodes)) for nodes in _GROWTH}
    turbo = {
        f"{what}{nodes}N{nodes}W": book.once(f"turbostream {what}{nodes}", functools.partial(_turbo, nodes, what))
        for nodes in (2, 4)
        for what in ("", "on-line ")
    }
    _draw(fig8a, fig8b)
    return outcome.Outcome((_stromax(fig5, fig6, fig8a), _scaling(fig8b), _turbostream(turbo)), ())


def _pair(found: model.Snapshot, base: Mapping[str, str], ours: Mapping[str, str]) -> Pair:
    before, after = (whatif.estimate(found, where, whatif.Args()) for where in (base, ours))
    return {
        "base_ms": before.tuple_ms, "ours_ms": after.tuple_ms,
        "base_far": before.far_share, "ours_far": after.far_share,
    }  # fmt: skip


def _fig5(topology: Topology, tasks: Mapping[str, int]) -> Pair:
    found = topologies.snapshot([topology], tasks, _NODES, _SLOTS)
    return _pair(found, topologies.even(found), stromax.bootstrap(found))


def _fig6() -> dict[str, Pair]:
    """Bootstrap's own placement, job by job, against all jobs anew with measured bytes; each topology by itself."""
    found = topologies.snapshot(_TOGETHER, _USUAL, _NODES, _SLOTS)
    first = stromax.bootstrap(found)
    sits = found.placed(first)
    again = {
        "computation": stromax.repartition(sits, stromax.Args(neighbour_weight="computation")),
        "bytes_per_s": stromax.repartition(sits, stromax.Args(neighbour_weight="bytes_per_s")),
    }
    return {
        f"{one.name}, Eq. 10 by {weight}": _pair(_only(found, one.name), first, where)
        for weight, where in again.items()
        for one in _TOGETHER
    }


def _only(found: model.Snapshot, job: str) -> model.Snapshot:
    tasks = tuple(task for task in found.tasks if task.job == job)
    names = {task.name for task in tasks}
    return dataclasses.replace(found, tasks=tasks, edges=tuple(edge for edge in found.edges if edge.source in names))


def _fig8a(topology: Topology) -> Pair:
    found = topologies.snapshot([topology], _USUAL, _NODES, _SLOTS)
    placed = found.placed(stromax.bootstrap(found))
    ours = stromax.plan(placed, stromax.Args(scope="all")).placement(placed)
    return _pair(found, topologies.even(found), ours)


def _fig8b(nodes: int) -> float:
    """Throughput in tasks' worth: the node with most tasks is the first to be full, all others wait for it."""
    tasks = 8 + 6 * 20
    found = topologies.snapshot([topologies.SENTIMENT], {"spout": 8, "bolt": 20}, nodes, -(-tasks // nodes) + 1)
    loads = measures.node_loads(found, stromax.bootstrap(found))
    return tasks / max(loads.values())


def _turbo(nodes: int, what: str) -> Pair:
    """The throughput test, eight tasks per operator; on-line starts where off-line ended."""
    tasks = {"spout": 8, "bolt": 8}
    found = topologies.snapshot([topologies.THROUGHPUT], tasks, nodes, 24 // nodes + 1)
    offline = turbostream.plan(found, _OFFLINE).placement(found)
    if not what:
        return _pair(found, topologies.even(found), offline)
    sits = found.placed(offline)
    return _pair(found, offline, turbostream.plan(sits, turbostream.Args(mode="online")).placement(sits))


def _shown(pair: Pair) -> tuple[str, str, str]:
    change = 100 * (pair["ours_ms"] / pair["base_ms"] - 1)
    return (
        f"{pair['base_ms']:.2f} -> {pair['ours_ms']:.2f} ms",
        f"{change:+.1f} %",
        f"{pair['base_far']:.1%} -> {pair['ours_far']:.1%}",
    )


def _stromax(fig5: dict[str, Pair], fig6: dict[str, Pair], fig8a: dict[str, Pair]) -> outcome.Table:
    rows = [(f"Fig. 5, {name}", "even", _FIG_5[name][2], *_shown(pair)) for name, pair in fig5.items()]
    rows += [(f"Fig. 6, {name}", "Bootstrap's own", "-10.9 to -26.5 %", *_shown(pair)) for name, pair in fig6.items()]
    rows += [
        (f"Fig. 8a, {name}", "even", "-87.3 %" if name == "TT" else "no number", *_shown(pair))
        for name, pair in fig8a.items()
    ]
    title = (
        f"StroMAX on {_NODES} nodes of {_SLOTS} slots, time per tuple and bytes between nodes. Not reproduced: every "
        "stream is all to all, so a node of ten slots keeps a tenth to a fifth of the bytes, whoever places. The "
        "paper's gains must hold what no placement estimate has: queues behind full links (TT: 10 kB tuples on 1 "
        "Gb/s), fewer workers with fuller batches. Fig. 6: measured costs change nothing here, for all tasks of an "
        "operator are alike and Bootstrap has packed each job already. Rates, sizes and grouping are not published"
    )
    return outcome.Table(title, ("figure", "baseline", "paper", "ours", "change", "far bytes"), tuple(rows))


def _scaling(fig8b: dict[int, float]) -> outcome.Table:
    first = fig8b[_GROWTH[0]] / _GROWTH[0]
    rows = tuple(
        (str(nodes), f"{value:.1f}", f"{100 * value / (first * nodes):.0f} %") for nodes, value in fig8b.items()
    )
    title = (
        "StroMAX Fig. 8b, throughput of TSSA by nodes, in nodes' worth of work until the fullest node is full. "
        "Paper: close to linear from 5 to 40 (no numbers printed). Slots are tasks per node plus one: with ten "
        "slots on 40 nodes Eq. 5 packs 128 tasks on 13 of them and throughput stops there"
    )
    return outcome.Table(title, ("nodes", "throughput", "of linear"), rows)


def _turbostream(turbo: dict[str, Pair]) -> outcome.Table:
    paper = {"2N2W": "-38.90 %", "4N4W": "-33.85 %", "on-line 2N2W": "-20.89 %", "on-line 4N4W": "-12.91 %"}
    rows = [
        (name, "off-line" if "on-line" in name else "even", paper[name], *_shown(pair)) for name, pair in turbo.items()
    ]
    workers = (("4N8W", 8, 2, "14.29 %"), ("2N8W", 8, 4, "42.86 %"), ("2N4W", 4, 2, "33.33 %"))
    rows += [
        (f"Table II, {name}", "even", said, f"{(per_node - 1) / (all_of_them - 1):.2%}", "-", "-")
        for name, all_of_them, per_node, said in workers
    ]
    title = (
        "TurboStream Fig. 9d and 9e on the throughput test (8 tasks per operator), its scheduler alone. Not "
        "reproduced where streams are all to all: halves of a complete bipartite stream exchange half of it, "
        "however they are cut. Which tasks its spouts feed, and what changed at 600 s on-line, are not published. "
        "Table II is exact: the part of a worker's peers on its node"
    )
    return outcome.Table(title, ("figure", "baseline", "paper", "ours", "change", "far bytes"), tuple(rows))


def _draw(fig8a: dict[str, Pair], fig8b: dict[int, float]) -> None:
    about = draw.Figure("stromax-8a", "StroMAX Fig. 8a", "topology", "time per tuple, ms")
    series = {
        "even": [pair["base_ms"] for pair in fig8a.values()],
        "StroMAX": [pair["ours_ms"] for pair in fig8a.values()],
    }
    draw.bars(about, list(fig8a), series)
    linear = [fig8b[_GROWTH[0]] / _GROWTH[0] * nodes for nodes in _GROWTH]
    about = draw.Figure("stromax-8b", "StroMAX Fig. 8b, TSSA", "nodes", "throughput, nodes' worth")
    draw.lines(about, _GROWTH, {"StroMAX": list(fig8b.values()), "linear": linear})
