"""Placement problems to measure on: the topologies of the papers, Spark's all-to-all, mixes of both in any size.

The names and the draws are those the recorded optima and best-known cuts in `data/` were found for; another order of
draws would be another problem under the same name. Every task of an operator talks to every task of the next.
"""

import dataclasses
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from sluice_policies import arrays, model

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Dice = np.random.Generator

#: StroMAX Fig. 4, and SOL of TurboStream §VI: the operators, the first a spout; streams between them and their volume.
TOPOLOGIES: dict[str, tuple[int, list[tuple[int, int, float]]]] = {
    "WC": (3, [(0, 1, 1.0), (1, 2, 1.5)]),
    "TT": (3, [(0, 1, 1.0), (1, 2, 1.0)]),
    "TWTT": (4, [(0, 1, 1.0), (1, 2, 0.5), (2, 3, 0.2)]),
    "LP": (4, [(0, 1, 1.0), (1, 2, 1.0), (1, 3, 1.0)]),
    "TSSA": (7, [(0, 1, 1.0), (1, 2, 0.9), (2, 3, 0.8), (2, 4, 0.8), (3, 5, 0.1), (4, 5, 0.1), (5, 6, 0.2)]),
    "SC": (5, [(0, 1, 1.0), (1, 2, 2.0), (2, 3, 4.0), (3, 4, 8.0)]),
    "SOL": (6, [(i, i + 1, 1.0) for i in range(5)]),
}
Job = tuple[str, list[int]]  # a topology, or SPARK, and how many tasks each operator has


@dataclasses.dataclass(frozen=True)
class Shape:
    """What kind of problem."""

    nodes: int
    use: float = 0.9  # load as a share of all capacity
    uneven: bool = False  # nodes of 1, 2 and 4 parts
    traffic: str = "uniform"  # uniform, zipf (some keys are hot), affine (each task has its favourites)
    loads: str = "unit"  # or hd: 1, 2 or 4 for all tasks of a job
    seed: int = 0


@dataclasses.dataclass(frozen=True)
class Instance:
    """One problem: tasks 0..n-1, directed streams, nodes."""

    name: str
    ends: Ints  # a row for each stream: from, to
    rate: Ints
    load: Ints
    capacity: Ints
    job: Ints

    def arrays(self) -> arrays.Arrays:
        """As a search takes it; no task has a node."""
        count, nodes = len(self.load), len(self.capacity)
        part = np.concatenate([np.full(count, -1, np.int32), np.arange(nodes + 1, dtype=np.int32)])
        graph = arrays.rows(self.ends, self.rate, self.load)
        return arrays.Arrays(graph, part, self.capacity, self.task_names(), self.node_names())

    def snapshot(self) -> model.Snapshot:
        """As a policy takes it."""
        tasks = self.task_names()
        totals: dict[tuple[int, int], int] = {}
        for (a, b), rate in zip(self.ends.tolist(), self.rate.tolist(), strict=True):
            totals[a, b] = totals.get((a, b), 0) + rate
        return model.Snapshot(
            tuple(model.Node(name, int(c)) for name, c in zip(self.node_names(), self.capacity, strict=True)),
            tuple(model.Task(t, int(d), f"j{j:06}") for t, d, j in zip(tasks, self.load, self.job, strict=True)),
            tuple(model.Edge(tasks[a], tasks[b], rate) for (a, b), rate in totals.items()),
        )

    def task_names(self) -> tuple[str, ...]:
        """In the order of the numbers."""
        return tuple(f"t{i:06}" for i in range(len(self.load)))

    def node_names(self) -> tuple[str, ...]:
        """In the order of the numbers."""
        return tuple(f"n{i:06}" for i in range(len(self.capacity)))

    def cut(self, part: npt.NDArray[np.int32]) -> int:
        """Traffic between nodes."""
        return int(self.rate[part[self.ends[:, 0]] != part[self.ends[:, 1]]].sum())

    def fits(self, part: npt.NDArray[np.int32]) -> bool:
        """Whether every task has a node and none is overfull."""
        seats = part[: len(self.load)]
        loads = np.bincount(seats[seats >= 0], weights=self.load[seats >= 0], minlength=len(self.capacity))
        return bool((seats >= 0).all() and (loads <= self.capacity).all())


def build(name: str, jobs: Sequence[Job], shape: Shape) -> Instance:
    """The problem of some jobs on some nodes."""
    dice = np.random.default_rng(shape.seed)
    ends, rates, loads, numbers = [], [], [], []
    first = 0
    for number, (kind, tasks) in enumerate(jobs):
        volume = 1.0 if len(jobs) == 1 else float(np.exp(dice.normal(0, 0.5))) * sum(tasks) / 30
        streams = _clique if kind == "SPARK" else _topology
        of_job, rate = streams(kind, tasks, shape.traffic, dice)
        ends.append(of_job + first)
        rates.append(rate * volume)
        loads.append(np.full(sum(tasks), 1 if shape.loads == "unit" else int(dice.choice([1, 2, 4]))))
        numbers.append(np.full(sum(tasks), number))
        first += sum(tasks)
    rate = np.concatenate(rates)
    load = np.concatenate(loads).astype(np.int64)
    whole = np.maximum(1, np.round(rate / rate.mean() * 1000)).astype(np.int64)
    capacity = _capacities(shape, load, dice)
    return Instance(name, np.concatenate(ends), whole, load, capacity, np.concatenate(numbers).astype(np.int64))


def _zipf(count: int, slope: float, dice: Dice) -> Floats:
    share: Floats = 1.0 / np.arange(1, count + 1, dtype=np.float64) ** slope
    share = share / float(share.sum())
    return share[dice.permutation(count)]


def _topology(kind: str, tasks: list[int], traffic: str, dice: Dice) -> tuple[Ints, Floats]:
    """Streams of one topology: the output of a task in the proportion of its input."""
    _, streams = TOPOLOGIES[kind]
    first = np.concatenate([[0], np.cumsum(tasks)])
    share: dict[int, Floats] = {
        0: _zipf(tasks[0], 0.5, dice) if traffic != "uniform" else np.full(tasks[0], 1 / tasks[0])
    }
    arrived: dict[int, Floats] = {}
    ends, rates = [], []
    for a, b, volume in streams:
        if a not in share:
            share[a] = arrived[a] / float(arrived[a].sum())
        table = _exchange(share[a], tasks[b], traffic, dice) * volume
        arrived[b] = arrived.get(b, np.zeros(tasks[b])) + table.sum(0)
        i, j = np.meshgrid(np.arange(tasks[a]), np.arange(tasks[b]), indexing="ij")
        ends.append(np.column_stack([first[a] + i.ravel(), first[b] + j.ravel()]))
        rates.append(table.ravel())
    return np.concatenate(ends), np.concatenate(rates)


def _exchange(share: Floats, count: int, traffic: str, dice: Dice) -> Floats:
    if traffic == "uniform":
        return np.outer(share, np.full(count, 1 / count))
    if traffic == "zipf":
        return np.outer(share, _zipf(count, 1.0, dice))
    return np.array([s * _zipf(count, 1.2, dice) for s in share])


def _clique(kind: str, tasks: list[int], traffic: str, dice: Dice) -> tuple[Ints, Floats]:
    """A Spark job: every executor shuffles with every other."""
    del kind
    i, j = np.triu_indices(tasks[0], 1)
    if traffic == "uniform":
        rate = np.full(len(i), 1.0)
    elif traffic == "zipf":
        hot = _zipf(tasks[0], 1.0, dice) * tasks[0]
        rate = hot[i] * hot[j]
    else:
        table = np.array([_zipf(tasks[0], 1.2, dice) for _ in range(tasks[0])])
        rate = (table + table.T)[i, j]
    return np.column_stack([i, j]), rate / rate.sum() if len(rate) else rate


def _capacities(shape: Shape, load: Ints, dice: Dice) -> Ints:
    largest, needed = int(load.max()), load.sum() / shape.use
    if not shape.uneven:
        return np.full(shape.nodes, max(int(np.ceil(needed / shape.nodes)), largest), np.int64)
    parts = np.array([1, 2, 4])[np.arange(shape.nodes) % 3].astype(float)
    dice.shuffle(parts)
    capacity: Ints = np.maximum(np.round(parts / parts.sum() * load.sum() / shape.use), largest).astype(np.int64)
    while capacity.sum() < needed:
        capacity[dice.integers(shape.nodes)] += 1
    return capacity


def mix(count: int, seed: int, spark: bool) -> list[Job]:
    """Jobs of some tasks together: Spark applications of 2 to 100 executors, or Storm topologies."""
    dice = np.random.default_rng(1000 + seed)
    jobs: list[Job] = []
    left = count
    while left > 0:
        job = _spark_job(left, dice) if spark else _storm_job(left, jobs, dice)
        if job is None:  # too few are left for a job: the last one gets them
            kind, tasks = jobs[-1]
            jobs[-1] = (kind, [*tasks[:-1], tasks[-1] + left])
            break
        jobs.append(job)
        left -= sum(job[1])
    return jobs


def _spark_job(left: int, dice: Dice) -> Job:
    count = min(int(np.clip(np.round(np.exp(dice.normal(np.log(14), 0.8))), 2, 100)), left)
    return "SPARK", [count + 1 if left - count == 1 else count]


def _storm_job(left: int, jobs: list[Job], dice: Dice) -> Job | None:
    kinds = ("WC", "TT", "TWTT", "LP", "TSSA", "SC")
    kind = kinds[dice.integers(len(kinds))]
    operators = TOPOLOGIES[kind][0]
    tasks = [int(dice.integers(2, 6)) if i == 0 else int(dice.integers(5, 21)) for i in range(operators)]
    if sum(tasks) <= left:
        return kind, tasks
    if left < operators:
        kind, operators = "TT", 3
    if left < 3 and jobs:
        return None
    tasks = [1] * operators
    for i in range(left - operators):
        tasks[1 + i % (operators - 1)] += 1
    return kind, tasks


def _label(shape: Shape) -> str:
    return f"{shape.traffic}-{'tight' if shape.use > 0.8 else 'slack'}-{'het' if shape.uneven else 'hom'}"


_SMALL: dict[str, list[Job]] = {
    "WC12": [("WC", [2, 5, 5])],
    "LP16": [("LP", [2, 6, 4, 4])],
    "TSSA20": [("TSSA", [2, 3, 3, 3, 3, 3, 3])],
    "SOL24": [("SOL", [4] * 6)],
    "SC22": [("SC", [2, 5, 5, 5, 5])],
    "MIX24": [("WC", [2, 3, 3]), ("TT", [2, 3, 3]), ("TWTT", [1, 3, 2, 2])],
    "SPARK24": [("SPARK", [10]), ("SPARK", [8]), ("SPARK", [6])],
}


def small() -> list[Instance]:
    """Up to 24 tasks on 4 nodes: those whose optimum is proven (`data/small_opt.json`)."""
    found: list[Instance] = []
    for name, jobs in _SMALL.items():
        for traffic in ("uniform", "zipf", "affine"):
            for use in (1.0, 0.6):
                for uneven in (False, True):
                    shape = Shape(4, use, uneven, traffic, seed=len(found))
                    found.append(build(f"{name}-{_label(shape)}", jobs, shape))
    for traffic in ("zipf", "affine"):
        for use in (0.9, 0.6):
            shape = Shape(4, use, True, traffic, "hd", len(found))
            found.append(build(f"MIX24hd-{_label(shape)}", _SMALL["MIX24"], shape))
    return found


def large(tasks: int, nodes: int, seed: int = 0, kinds: Sequence[str] = ("zipf", "affine")) -> list[Instance]:
    """Mixes of jobs, of Storm's and of Spark's kind, tight and slack, on even and uneven nodes."""
    found = []
    for spark in (False, True):
        for traffic in kinds:
            for use in (0.95, 0.6):
                for uneven in (False, True):
                    shape = Shape(nodes, use, uneven, traffic, seed=100 + seed)
                    name = f"{'SPK' if spark else 'MIX'}{tasks}/{nodes}-{_label(shape)}-s{seed}"
                    found.append(build(name, mix(tasks, seed, spark), shape))
    return found
