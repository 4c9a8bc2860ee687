"""Lever as printed: quartile groups, Table 1, Eq. 1-2, and Eq. 9 from stragglers to r helpers.

Called by :mod:`sluice_policies.lever` for `variant="published"`, and by nobody else: it is the control that the default
is measured against. Paper: Jin et al., TPDS 2019, sections 3.2-3.4 and Algorithm 1. Cost: O(n log n + n r).
It never touches the median group, and never takes rows from a helper.

What the paper leaves open, and what is done here:
- A quarter of n executors is ceil(n / 4): with the floor, three executors would have no straggler at all.
- Input that did not change changes no group. Table 1 read to the letter demotes every helper where FTM is 1, that is
  where the faster nodes are as fast as the median ones.
- Eq. 9 may be negative (a helper that already has more than its part): then nothing flows.
- A group without a member (two executors have no median) takes the median over all; a group time of 0 a ratio of 1.
- inputRatio compares with the rows really carried last time: the receiver's own rate would forget that a straggler's
  finish time came from a load already cut, and call it cured.
- New executors start at their throughput as Alg. 1 line 18 says; one never measured is in no group.

Two readings. `letter` is what is printed. `meant` mends two things without which the paper's figures cannot have come:
- Line 30 sums the helpers' rows once, line 34 changes them: to the letter only the first of equal stragglers is
  relieved. Meant: the sum is taken anew for each straggler.
- Eq. 1-2 multiply C by ideal / finish time each batch, whatever rows made that time: a node whose rows were not cut by
  its C is blamed, or praised, for the plan, and the group oscillates. Meant: C_i is what the node carried in batch i,
  so that C_{i+1} is its measured rate times the ideal time.
"""

import enum
import statistics
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from sluice_policies import shares
from sluice_policies.lever_types import Batch, Measured, Share, State


class Group(enum.IntEnum):
    """Where an executor stands; a larger one is slower."""

    FASTER = 0
    MEDIAN = 1
    STRAGGLER = 2


class Ratios(NamedTuple):
    """The degradation ratios of section 3.2, both at least 1 for groups cut from one sorted list."""

    ftm: float
    mts: float


READINGS = ("letter", "meant")


def step(state: State, batch: Batch, helpers: int, reading: str) -> tuple[tuple[Share, ...], State]:
    """The rows per executor and the capacities for the next step."""
    names = sorted(batch.live)
    live = frozenset(names)
    measured = sorted(one for one in batch.measured if one.name in live and one.rows > 0 and one.finish_s > 0)
    arrived = _arrived(names, batch)
    capacities = learn(state if reading == "letter" else State(()), measured)
    groups = predict(measured, arrived)
    rows = reassign(arrived, capacities, groups, helpers, reading)
    return tuple(Share(name, rows[name]) for name in names), State(tuple(sorted(capacities.items())))


def _arrived(names: Sequence[str], batch: Batch) -> dict[str, int]:
    if not batch.arrived:
        return dict(zip(names, shares.cut(batch.rows, [1.0] * len(names)), strict=True))
    took = dict(batch.arrived)
    rows = {name: took.get(name, 0) for name in names}
    # What a receiver took that is dead by now is spread evenly: rows are never lost.
    lost = shares.cut(batch.rows - sum(rows.values()), [1.0] * len(names))
    return {name: rows[name] + more for name, more in zip(names, lost, strict=True)}


def classify(measured: Sequence[Measured]) -> dict[str, Group]:
    """Section 3.2: descending by finish time; the first quarter are stragglers, the last quarter are faster."""
    slowest_first = sorted(measured, key=lambda one: (-one.finish_s, one.name))
    quarter = -(-len(slowest_first) // 4)
    groups = {one.name: Group.MEDIAN for one in slowest_first}
    groups |= {one.name: Group.FASTER for one in slowest_first[-quarter:]}
    return groups | {one.name: Group.STRAGGLER for one in slowest_first[:quarter]}


def degradation(measured: Sequence[Measured], groups: Mapping[str, Group]) -> Ratios:
    """FTM and MTS: by how much finish time must grow to fall from one group into the next."""
    overall = statistics.median(one.finish_s for one in measured)

    def median_of(group: Group) -> float:
        return statistics.median([one.finish_s for one in measured if groups[one.name] is group] or [overall])

    straggler, median, faster = map(median_of, (Group.STRAGGLER, Group.MEDIAN, Group.FASTER))
    return Ratios(median / faster, straggler / median)


def transit(initial: Group, input_ratio: float, ratios: Ratios) -> Group:
    """Table 1: the group in the next batch, when a node's input changes by `input_ratio`."""
    ftm, mts = ratios
    # The ratio at which a node of this group would finish like a median one of the last batch.
    to_median, to_straggler = {
        Group.STRAGGLER: (1 / (ftm * mts), 1 / mts),
        Group.MEDIAN: (1 / ftm, mts),
        Group.FASTER: (ftm, ftm * mts),
    }[initial]
    if input_ratio > to_straggler:
        return Group.STRAGGLER
    return Group.MEDIAN if input_ratio >= to_median else Group.FASTER


def predict(measured: Sequence[Measured], arrived: Mapping[str, int]) -> dict[str, Group]:
    """The groups of the next batch; whoever was not measured is in none."""
    if not measured:
        return {}
    groups = classify(measured)
    ratios = degradation(measured, groups)
    return {one.name: _next_group(one, arrived[one.name], groups[one.name], ratios) for one in measured}


def _next_group(one: Measured, arrived: int, initial: Group, ratios: Ratios) -> Group:
    unchanged = abs(arrived - one.rows) <= 1  # rows are whole: one more or less is rounding
    return initial if unchanged else transit(initial, arrived / one.rows, ratios)


def learn(state: State, measured: Sequence[Measured]) -> dict[str, float]:
    """Eq. 1-2 with K = C/t and the median node's finish time as the ideal; a new one starts at its throughput."""
    if not measured:
        return dict(state.capacities)
    ideal_s = statistics.median(one.finish_s for one in measured)
    known = dict(state.capacities)
    return {one.name: _next(known.get(one.name), one, ideal_s) for one in measured}


def _next(capacity: float | None, one: Measured, ideal_s: float) -> float:
    if capacity is None:
        return one.rows / one.finish_s * ideal_s  # throughput, in rows per ideal batch
    return capacity + capacity / one.finish_s * (ideal_s - one.finish_s)


def reassign(
    arrived: Mapping[str, int],
    capacities: Mapping[str, float],
    groups: Mapping[str, Group],
    helpers: int,
    reading: str = "letter",
) -> dict[str, int]:
    """Section 3.4, Alg. 1 lines 27-38: each straggler in turn gives each helper its part by Eq. 9."""
    rows = dict(arrived)
    able = sorted((-capacities[name], name) for name, group in groups.items() if group is Group.FASTER)
    chosen = [name for _, name in able[:helpers]]
    helper_capacity = sum(capacities[name] for name in chosen)
    helper_rows = sum(rows[name] for name in chosen)  # line 30: summed once, though line 34 changes the rows
    for straggler in sorted(name for name, group in groups.items() if group is Group.STRAGGLER):
        helper_rows = sum(rows[name] for name in chosen) if reading == "meant" else helper_rows
        total_capacity = capacities[straggler] + helper_capacity
        fill = (rows[straggler] + helper_rows) / total_capacity if total_capacity > 0 else 0.0
        for helper in chosen:
            flow = min(max(int(fill * capacities[helper] - rows[helper]), 0), rows[straggler])
            rows[straggler] -= flow
            rows[helper] += flow
    return rows
