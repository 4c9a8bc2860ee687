"""What the placer is measured against: METIS, KaHIP, mt-KaHyPar, the papers' own algorithms.

Partitioners balance rather than keep a capacity, so some of their answers overfill nodes: all such answers go through
one repair, which moves what loses least traffic per load to a node with room; its time is not counted. METIS and
mt-KaHyPar are also asked to use only the roomiest nodes where the cluster is slack, which they would not do by
themselves: that is to their advantage.
"""

import functools
import time
import typing
from collections.abc import Callable, Iterator

import numba
import numpy as np

from bench import instances
from sluice_policies import arrays, rooms, stromax, turbostream
from sluice_policies.kernels import table
from sluice_policies.kernels.graph import Graph, Ints, Small

Answer = tuple[Small | None, float]  # None: it cannot take such a problem; the seconds it took
_FILLS = (0.97, 0.93, 0.88, 0.8)  # how full the nodes are that are used, beside using all


def answer(name: str, problem: instances.Instance) -> tuple[int | None, float]:
    """The cut of a feasible placement, and the seconds it took; None: not for this problem."""
    base = problem.arrays()
    part, took_s = ALL[name](problem, base)
    return (None if part is None else problem.cut(feasible(problem, base, part))), took_s


def feasible(problem: instances.Instance, base: arrays.Arrays, part: Small) -> Small:
    """The placement, repaired if it overfills."""
    full: Small = np.concatenate([part[: len(base.tasks)].astype(np.int32), base.part[len(base.tasks) :]])
    if not problem.fits(full):
        _repair(base.graph, full, base.capacity)
    if not problem.fits(full):  # uneven loads: only a search finds how they fit at all
        where, refused = rooms.settle(problem.snapshot(), base.where(full))
        full = base.part if refused else base.at(where)
    return full


@numba.njit  # type: ignore[untyped-decorator]  # not kept: its source is no part of what tells kept kernels apart
def _repair(graph: Graph, part: Small, capacity: Ints) -> None:
    seats = table.lay(graph, part, capacity)
    for node in range(len(capacity)):
        while seats.room[node] < 0:
            best, at, least = -1, -1, np.inf
            v = seats.hand[node]
            for _ in range(len(graph.load)):
                for e in range(graph.offset[v], graph.offset[v + 1] + 1):
                    there = int(part[graph.target[e]] if e < graph.offset[v + 1] else np.argmax(seats.room))
                    if there != node and there < len(capacity) and seats.room[there] >= graph.load[v]:
                        loss = table.loss(graph, part, v, node, there) / graph.load[v]
                        if loss < least:
                            best, at, least = v, there, loss
                v = seats.after[v]
                if v == seats.hand[node]:
                    break
            if best < 0:
                return
            table.shift(graph, seats, best, at)


def _metis(problem: instances.Instance, base: arrays.Arrays) -> Answer:
    """The best of ten: k-way and recursive, over all nodes and over the roomiest ones filled to 97, 93, 88 and 80 %."""
    import pymetis  # noqa: PLC0415  # a contender is imported when it is asked

    graph = base.graph
    scale = max(1, int(graph.weight.sum()) // 2**30)
    began = time.perf_counter()
    found = []
    for nodes in _subsets(problem):
        share = problem.capacity[nodes] / problem.capacity[nodes].sum()
        slack = problem.capacity[nodes].sum() / problem.load.sum()
        for recursive in (False, True):
            options = pymetis.Options(seed=1, ufactor=max(1, int(1000 * (slack - 1))))
            _, part = pymetis.part_graph(
                len(nodes),
                xadj=graph.offset.astype(np.int32),
                adjncy=graph.target,
                eweights=np.maximum(1, graph.weight // scale).astype(np.int32),
                vweights=problem.load.astype(np.int32),
                tpwgts=share.tolist(),
                recursive=recursive,
                options=options,
            )
            found.append(nodes[np.asarray(part)])
    took_s = time.perf_counter() - began
    repaired = (feasible(problem, base, part.astype(np.int32)) for part in found)
    return min(repaired, key=problem.cut), took_s


def _subsets(problem: instances.Instance) -> Iterator[Ints]:
    """All nodes, then the roomiest that suffice when filled to a share; a single one is no partition."""
    yield np.arange(len(problem.capacity))
    order = np.argsort(-problem.capacity, kind="stable")
    room = np.cumsum(problem.capacity[order])
    for fill in _FILLS:
        count = min(int(np.searchsorted(room, problem.load.sum() / fill)) + 1, len(order))
        yield order[: max(2, count)]


def _kahip(problem: instances.Instance, base: arrays.Arrays, mode: int) -> Answer:
    """Only for even nodes: kaffpa takes no weights per block."""
    import kahip  # noqa: PLC0415

    if problem.capacity.min() != problem.capacity.max():
        return None, 0.0
    graph = base.graph
    scale = max(1, int(graph.weight.sum()) // 2**30)
    weight = np.maximum(1, graph.weight // scale)
    words = [problem.load.tolist(), graph.offset.tolist(), weight.tolist(), graph.target.tolist()]
    slack = float(problem.capacity.sum() / problem.load.sum() - 1)
    began = time.perf_counter()
    _, part = kahip.kaffpa(*words, len(problem.capacity), slack, True, 1, mode)
    return np.asarray(part, np.int32), time.perf_counter() - began


@functools.cache
def _mtkahypar() -> typing.Any:
    import mtkahypar  # noqa: PLC0415

    return mtkahypar.initialize(2)


def _mt_kahypar(problem: instances.Instance, base: arrays.Arrays, preset: str) -> Answer:
    import mtkahypar  # noqa: PLC0415

    graph = base.graph
    source = np.repeat(np.arange(len(base.tasks)), np.diff(graph.offset))
    once = source < graph.target
    ends = list(zip(source[once].tolist(), graph.target[once].tolist(), strict=True))
    weight = graph.weight[once].tolist()
    mtkahypar.set_seed(1)
    began = time.perf_counter()
    context = _mtkahypar().context_from_preset(getattr(mtkahypar.PresetType, preset))
    context.logging = False
    context.set_partitioning_parameters(len(problem.capacity), 0.03, mtkahypar.Objective.CUT)
    context.set_individual_target_block_weights(problem.capacity.tolist())
    made = _mtkahypar().create_graph(context, len(base.tasks), len(ends), ends, problem.load.tolist(), weight)
    part = made.partition(context).get_partition()
    return np.asarray(part[: len(base.tasks)], np.int32), time.perf_counter() - began


def _paper(problem: instances.Instance, base: arrays.Arrays, place: Callable[..., dict[str, str]]) -> Answer:
    snapshot = problem.snapshot()
    began = time.perf_counter()
    where = place(snapshot)
    took_s = time.perf_counter() - began
    return _seated(problem, base, where), took_s


def _seated(problem: instances.Instance, base: arrays.Arrays, where: dict[str, str]) -> Small:
    """What found no room in one pass is put where there is most."""
    part = base.at(where)
    room = base.capacity.copy()
    for v in range(len(base.tasks)):
        if part[v] >= 0:
            room[part[v]] -= problem.load[v]
    for v in np.flatnonzero(part < 0).tolist():
        roomiest = int(np.argmax(room))
        part[v] = roomiest
        room[roomiest] -= problem.load[v]
    return part


_TRAFFIC = stromax.Args(neighbour_weight="bytes_per_s")
ALL: dict[str, Callable[[instances.Instance, arrays.Arrays], Answer]] = {
    "StroMAX Eq. 5": functools.partial(_paper, place=stromax.bootstrap),
    "StroMAX Eq. 10": functools.partial(_paper, place=stromax.repartition),
    "StroMAX Eq. 10, bytes/s": functools.partial(_paper, place=lambda s: stromax.repartition(s, _TRAFFIC)),
    "TurboStream": functools.partial(_paper, place=turbostream.assign),
    "METIS best of 10": _metis,
    "KaHIP fast": functools.partial(_kahip, mode=0),
    "KaHIP eco": functools.partial(_kahip, mode=1),
    "KaHIP strong": functools.partial(_kahip, mode=2),
    "mt-KaHyPar default": functools.partial(_mt_kahypar, preset="DEFAULT"),
    "mt-KaHyPar quality": functools.partial(_mt_kahypar, preset="QUALITY"),
}
PAPERS = tuple(name for name in ALL if "Stro" in name or "Turbo" in name)
PARTITIONERS = tuple(name for name in ALL if name not in PAPERS)
