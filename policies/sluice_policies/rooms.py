"""Who sits where while a policy thinks: room per node, and making a wanted placement fit. Standard library.

Used by the papers' policies, which know capacity only as a share (StroMAX) or as a balance (TurboStream), and by
`consolidate` for the rare snapshot its search cannot start from. Never moves a pinned task; never leaves a node above
its capacity that was not so before.
"""

import heapq
from collections.abc import Iterable, Mapping

from sluice_policies import measures, model, moves, packing


class Rooms:
    """A placement under construction. Loads follow every change."""

    def __init__(self, snapshot: model.Snapshot, where: Mapping[str, str]) -> None:
        self.snapshot = snapshot
        self.where = dict(where)
        self.load = measures.node_loads(snapshot, where)
        self.near = measures.neighbours(snapshot)
        # Old fullnesses stay in the heap until they come up; there is always one entry that is current.
        self._by_fullness = [(self.fullness(node), node) for node in self.load]
        heapq.heapify(self._by_fullness)

    def room(self, node: str) -> int:
        """What the node may still take; negative when it is overloaded."""
        return self.snapshot.node_of[node].capacity - self.load[node]

    def fullness(self, node: str) -> float:
        """Load as a share of capacity; a node without capacity is full."""
        capacity = self.snapshot.node_of[node].capacity
        return self.load[node] / capacity if capacity else 1.0

    def put(self, task: str, node: str) -> None:
        """Seats a task, wherever it sat before."""
        self.leave(task)
        self.where[task] = node
        self._weigh(node, self.snapshot.task_of[task].load)

    def leave(self, task: str) -> None:
        """Takes a task from its seat, if it has one."""
        self._weigh(self.where.pop(task, None), -self.snapshot.task_of[task].load)

    def _weigh(self, node: str | None, load: int) -> None:
        if node in self.load:
            self.load[node] += load
            heapq.heappush(self._by_fullness, (self.fullness(node), node))

    def pull(self, task: str) -> dict[str, int]:
        """Traffic of a task with what sits on each node of the snapshot."""
        found: dict[str, int] = {}
        for other, rate in self.near[task].items():
            at = self.where.get(other)
            if at in self.load:
                found[at] = found.get(at, 0) + rate
        return found

    def best(self, task: str, but: str | None = None) -> str | None:
        """The node with room that shares most traffic with the task; then the emptiest, then by name."""
        load = self.snapshot.task_of[task].load
        pull = self.pull(task)
        fits = [node for node, rate in pull.items() if node != but and rate > 0 and self.room(node) >= load]
        if not fits:
            return self.emptiest(load, but)
        return min(fits, key=lambda node: (-pull[node], self.fullness(node), node))

    def emptiest(self, load: int, but: str | None = None) -> str | None:
        """The least loaded node with room for a load, by share of its capacity, then by name."""
        passed: list[tuple[float, str]] = []
        found = None
        while self._by_fullness and found is None:
            entry = heapq.heappop(self._by_fullness)
            if entry[0] == self.fullness(entry[1]) and entry not in passed[-1:]:
                passed.append(entry)
                found = entry[1] if entry[1] != but and self.room(entry[1]) >= load else None
        for entry in passed:
            heapq.heappush(self._by_fullness, entry)
        return found


def settle(snapshot: model.Snapshot, wanted: Mapping[str, str]) -> tuple[dict[str, str], list[moves.Refused]]:
    """A placement near the wanted one that keeps every capacity, and what could not be done.

    What is too much for a node goes to the best-connected node with room. If that leads nowhere the whole packing is
    searched (:mod:`sluice_policies.packing`). If nothing fits at all, what sits stays and the rest is placed as far as
    it goes.
    """
    pinned = {task.name: task.node for task in snapshot.tasks if task.pinned and task.node is not None}
    rooms = Rooms(snapshot, dict(wanted) | pinned)
    if _fill(rooms, _homeless(rooms)) and _relieve(rooms):
        return rooms.where, []
    found = packing.search(snapshot)
    if found.where is not None:
        return found.where | pinned, []
    rooms = Rooms(snapshot, snapshot.placement())
    _relieve(rooms)
    _fill(rooms, _homeless(rooms))
    return rooms.where, _refusals(rooms, found.why)


def _homeless(rooms: Rooms) -> list[str]:
    """Tasks without a seat, the largest first, so that small ones fill what is left."""
    found = [task for task in rooms.snapshot.tasks if task.name not in rooms.where]
    return [task.name for task in sorted(found, key=lambda task: (-task.load, task.name))]


def _fill(rooms: Rooms, tasks: Iterable[str]) -> bool:
    done = True
    for task in tasks:
        node = rooms.best(task)
        if node is None:
            done = False
        else:
            rooms.put(task, node)
    return done


def _relieve(rooms: Rooms) -> bool:
    """Moves tasks off overloaded nodes, those that lose least traffic first; whether none is left (but for pins)."""
    sits = _by_node(rooms)
    moved = True
    while moved:
        moved = False
        for node in sorted(sits):
            while rooms.room(node) < 0 and (best := _cheapest_to_move(rooms, node, sits[node])):
                rooms.put(*best)
                sits[node].remove(best[0])
                sits.setdefault(best[1], []).append(best[0])
                moved = True
    return all(rooms.room(node) >= 0 or not tasks for node, tasks in sits.items())


def _by_node(rooms: Rooms) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for task in rooms.snapshot.tasks:
        at = rooms.where.get(task.name)
        if at in rooms.load and not task.pinned and task.load > 0:
            found.setdefault(at, []).append(task.name)
    return found


def _cheapest_to_move(rooms: Rooms, node: str, tasks: Iterable[str]) -> tuple[str, str] | None:
    best: tuple[float, str, str] | None = None
    for task in tasks:
        target = rooms.best(task, but=node)
        if target is None:
            continue
        pull = rooms.pull(task)
        loss = (pull.get(node, 0) - pull.get(target, 0)) / rooms.snapshot.task_of[task].load
        if best is None or (loss, task) < best[:2]:
            best = (loss, task, target)
    return None if best is None else (best[1], best[2])


def _refusals(rooms: Rooms, why: str) -> list[moves.Refused]:
    found = [moves.Refused("", why)]
    roomiest = max((rooms.room(node) for node in rooms.load), default=0)
    for task in rooms.snapshot.tasks:
        if task.name not in rooms.where:
            says = f"its load is {task.load}, the most room left on a node is {max(0, roomiest)}"
            found.append(moves.Refused(task.name, says))
    return found
