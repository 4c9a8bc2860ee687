"""The least possible largest backlog when all arrivals are known: what Hone's Theorem 1 compares with.

Called by the bench and tests. A limit of b means: by the slot in which a queue's (j + b)-th tuple comes, its j-th must
have left. That is unit jobs with release and due slots on one link, and earliest due first is optimal for those, so
each limit is decided exactly. Cost: O(tuples x log tuples x log backlog).
"""

import heapq
from collections.abc import Sequence


def largest_backlog(queues: int, arrivals: Sequence[Sequence[int]]) -> int:
    """The optimum, by halving between 0 and all tuples."""
    low, high = -1, sum(map(len, arrivals))
    while high - low > 1:
        limit = (low + high) // 2
        low, high = (low, limit) if keeps(queues, arrivals, limit) else (limit, high)
    return high


def keeps(queues: int, arrivals: Sequence[Sequence[int]], limit: int) -> bool:
    """Whether somebody who knows the future keeps every backlog at or below the limit after every slot."""
    came_at: list[list[int]] = [[] for _ in range(queues)]
    for slot, came in enumerate(arrivals):
        for queue in came:
            came_at[queue].append(slot)
    seen = [0] * queues
    due: list[int] = []
    for slot, came in enumerate(arrivals):
        for queue in came:
            nth = seen[queue] + limit
            seen[queue] += 1
            if nth < len(came_at[queue]):
                heapq.heappush(due, came_at[queue][nth])
        if due and heapq.heappop(due) < slot:
            return False
        if due and due[0] <= slot:
            return False
    return True
