"""Algorithm 2 of Du & Gupta as printed: one unit of traffic per pair and period, while slow / fast is above thres.

Called by :mod:`sluice_policies.latency` for `variant="published"`: the control. Section 3.3; cost O(n log n).
It never looks back at what its last step did, so it runs on while one task is slow by nature.

Where the paper leaves something open: line 8 counts k up to |A|/2 inclusive, which for an even number of tasks pairs
the middle two the other way round; their ratio is at most 1 then and nothing moves, so the half is meant. A task gives
at most what it has.
"""

from collections.abc import Sequence

from sluice_policies.latency_types import Task


def shift(tasks: Sequence[Task], thres: float, unit: float) -> tuple[Task, ...]:
    """The tasks after lines 7-15, in the order they came."""
    measured = sorted((task.aged_ms, task.name) for task in tasks if task.aged_ms is not None)
    weights = {task.name: task.weight for task in tasks}
    for k in range(len(measured) // 2):
        (fast_ms, fast), (slow_ms, slow) = measured[k], measured[len(measured) - 1 - k]
        if slow_ms <= thres * fast_ms:
            break
        moved = min(unit, weights[slow])
        weights[slow] -= moved
        weights[fast] += moved
    return tuple(task._replace(weight=weights[task.name]) for task in tasks)
