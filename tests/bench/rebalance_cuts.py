"""What executors exchange, by where they sit: the part that crosses between nodes, and the least possible. Pure.

For the placement parts of `rebalance`. The pairs are the agent's, exact; the optimum is found by trying everything.
"""

import itertools
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from sluice.cli import arguments
from sluice_policies import model, moves

Pair = tuple[str, str, int]  # from, to, bytes
Homes = Mapping[str, str]  # node by executor


def crossing(pairs: Sequence[Pair], homes: Homes) -> int:
    """Bytes between nodes."""
    return sum(count for one, other, count in pairs if homes[one] != homes[other])


def least(pairs: Sequence[Pair], executors: Sequence[str], slots: Mapping[str, int]) -> int:
    """The same where it is least, with no more executors on a node than it has slots."""
    tried = (dict(zip(executors, at, strict=True)) for at in itertools.product(slots, repeat=len(executors)))
    fitting = (homes for homes in tried if not Counter(homes.values()) - Counter(slots))
    return min(crossing(pairs, homes) for homes in fitting)


def spread(homes: Homes) -> str:
    """How many executors on each node, the fullest first."""
    return "/".join(str(count) for _, count in Counter(homes.values()).most_common())


def graph(seen: Mapping[str, Mapping[str, Any]], nodes: Mapping[str, int], pinned_on: str) -> model.Snapshot:
    """Several jobs as a policy sees them by their load: what each was seen to do, and nodes with their millicores."""
    tasks, edges = [], []
    for job, one in seen.items():
        for number, node in one["homes"].items():
            load = one["busy_m"].get(number, 0)
            tasks.append(model.Task(f"{job}-{number}", load, job, node, pinned=node == pinned_on))
        for source, to, count in one["pairs"]:
            edges.append(model.Edge(f"{job}-{source}", f"{job}-{to}", round(count / one["span_s"])))
    return model.Snapshot(tuple(model.Node(*one) for one in nodes.items()), tuple(tasks), tuple(edges))


def relieved(found: model.Snapshot, skew_share: float) -> moves.Plan:
    """What StroMAX's Alg. 2 would move, as `sluice plan --policy stromax` is told how far above the mean it acts."""
    planner = arguments.planner("stromax", ("scope=overloaded", f"skew_share={skew_share}"))
    return planner(found)
