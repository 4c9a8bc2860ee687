"""What if the tasks of a recorded snapshot sat elsewhere: time per tuple and load per node, before and after a plan.

Called by ``sluice simulate what-if`` with a dump of a running cluster, and by the bench for StroMAX's and TurboStream's
figures. In go a snapshot, a placement and what a hop costs; out comes an estimate, for comparing two placements of the
same tasks, not for promising milliseconds. Cost: O(edges).

A tuple takes each edge in proportion to its bytes, pays a hop (near on the same node, far between two) and a service
on every task. Cycles are cut at the edge that closes them. It knows no queues: an overloaded node shows as `fullest`.

The default costs are TurboStream's measured ones (ICDCS 2018, Table I, mean of the stages): 5.43 ms between nodes and
0.355 ms inside a worker; a service of 0.55 ms makes hops 87 % of its WordCount's time, as its section III.A says.
"""

import dataclasses
from collections.abc import Mapping

from sluice_policies import bounds, measures, model


@dataclasses.dataclass(frozen=True)
class Args:
    """What a tuple pays."""

    far_ms: float = 5.43
    """A hop between two nodes, 0 to 100,000."""
    near_ms: float = 0.355
    """A hop within a node, 0 to 100,000."""
    service_ms: float = 0.55
    """The work of one task on one tuple, 0 to 100,000."""

    def __post_init__(self) -> None:
        bounds.within("far_ms", self.far_ms, 0, 100_000)
        bounds.within("near_ms", self.near_ms, 0, 100_000)
        bounds.within("service_ms", self.service_ms, 0, 100_000)


@dataclasses.dataclass(frozen=True)
class Estimate:
    """What a placement comes to."""

    tuple_ms: float
    """From a task nobody sends to, weighted by what it sends, until the end."""
    far_share: float
    """The part of all bytes that cross nodes."""
    fullest: float
    """The largest load over capacity of a node."""


def estimate(snapshot: model.Snapshot, where: Mapping[str, str], args: Args) -> Estimate:
    """The estimate for a placement of the snapshot's tasks."""
    cost = measures.cost(snapshot, where)
    far_share = cost.cut_bytes_per_s / cost.total_bytes_per_s if cost.total_bytes_per_s else 0.0
    return Estimate(_tuple_ms(snapshot, where, args), far_share, cost.fullest)


def _tuple_ms(snapshot: model.Snapshot, where: Mapping[str, str], args: Args) -> float:
    sends: dict[str, list[model.Edge]] = {task.name: [] for task in snapshot.tasks}
    fed = set()
    for edge in snapshot.edges:
        sends[edge.source].append(edge)
        fed.add(edge.target)
    rest_ms: dict[str, float] = {}
    for task in _sinks_first(sends):
        out = [edge for edge in sends[task] if edge.target in rest_ms]
        total = sum(edge.bytes_per_s for edge in out)
        hops_ms = sum(edge.bytes_per_s * (_hop_ms(edge, where, args) + rest_ms[edge.target]) for edge in out)
        rest_ms[task] = args.service_ms + (hops_ms / total if total else 0.0)
    sources = [task for task in sends if task not in fed] or list(sends)
    weight = {task: sum(edge.bytes_per_s for edge in sends[task]) for task in sources}
    total = sum(weight.values())
    return sum(weight[task] * rest_ms[task] for task in sources) / total if total else 0.0


def _hop_ms(edge: model.Edge, where: Mapping[str, str], args: Args) -> float:
    at = where.get(edge.source)
    return args.near_ms if at is not None and at == where.get(edge.target) else args.far_ms


def _sinks_first(sends: Mapping[str, list[model.Edge]]) -> list[str]:
    """Every task after all it sends to, by a walk in depth; where a cycle closes, the walk turns back."""
    order: list[str] = []
    seen: set[str] = set()
    for start in sorted(sends):
        stack = [] if start in seen else [(start, iter(sends[start]))]
        seen.add(start)
        while stack:
            task, edges = stack[-1]
            following = next((edge.target for edge in edges if edge.target not in seen), None)
            if following is None:
                order.append(task)
                stack.pop()
            else:
                seen.add(following)
                stack.append((following, iter(sends[following])))
    return order
