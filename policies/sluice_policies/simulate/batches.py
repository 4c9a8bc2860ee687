"""Lever's experiments (sections 5.2 and 5.8): batches over executors of unequal speed, cut by one rule or another.

Called by the bench and its tests. In go executors and a workload, out come the times of every batch.
A batch lasts until its last executor is done with the stage that reads the input, plus a part that no cut changes.

Assumed, for the paper does not publish it: how many machines are of which kind (Figures 13 to 15 name executors 1 to
16 and call 13 to 16 slow), and that speed goes with clock (2.6 and 1.2 GHz). Each executor's speed varies by `jitter`
from batch to batch, the input by `swing`; both uniform.
"""

import dataclasses
from typing import NamedTuple

from sluice_policies import lever, shares
from sluice_policies.lever_types import Batch, Measured, Share, State
from sluice_policies.simulate import draws


class Executor(NamedTuple):
    """An executor and how many rows it does per second."""

    name: str
    rows_per_s: float


@dataclasses.dataclass(frozen=True)
class Workload:
    """What comes, and what a cut cannot change."""

    rows: int = 100_000
    swing: float = 0.1
    """The input of a batch is rows x (1 +- swing)."""
    jitter: float = 0.1
    """The speed of an executor in a batch is its own x (1 +- jitter)."""
    fixed_s: float = 0.0
    """Later stages, scheduling: added to every batch."""


def paper_cluster(fast: int = 12, slow: int = 4) -> tuple[Executor, ...]:
    """Sixteen executors, four of them at 1.2 of 2.6 GHz."""
    speeds = [2.6] * fast + [1.2] * slow
    return tuple(Executor(f"e{i + 1:02}", 1000 * speed) for i, speed in enumerate(speeds))


def run(
    executors: tuple[Executor, ...], load: Workload, args: lever.Args | None, batches: int, seed: int
) -> list[float]:
    """The seconds each batch took; `args` None cuts every batch into equal parts, as Spark does."""
    dice = draws.uniforms(seed)
    names = tuple(one.name for one in executors)
    state, measured, times = State(()), tuple[Measured, ...](), []
    for _ in range(batches):
        rows = int(load.rows * (1 + load.swing * (2 * next(dice) - 1)))
        speed = {one.name: one.rows_per_s * (1 + load.jitter * (2 * next(dice) - 1)) for one in executors}
        if args is None:
            cut = tuple(map(Share, names, shares.cut(rows, [1.0] * len(names))))
        else:
            cut, state = lever.step(state, Batch(measured, names, rows), args)
        measured = tuple(Measured(name, part, max(part / speed[name], 1e-6)) for name, part in cut)
        times.append(max(one.finish_s for one in measured) + load.fixed_s)
    return times


def bound_s(executors: tuple[Executor, ...], load: Workload) -> float:
    """What a batch lasts when all finish together and nothing varies."""
    return load.rows / sum(one.rows_per_s for one in executors) + load.fixed_s
