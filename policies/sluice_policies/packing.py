"""Whether all tasks fit the nodes at all, and if not, what is short. Standard library; asked when simpler ways fail.

Bin packing with nodes of different size: depth first, the largest task first, onto one node of every distinct room.
Equal rooms are interchangeable, and a state (rooms left, next task) that failed once is not tried again, so equal
tasks cost nothing. Exact within STEPS states; past them it says that it does not know. Traffic plays no part here.
"""

import dataclasses

from sluice_policies import model

STEPS = 20_000  # states looked at before it gives up: about 0.2 s; proofs for dozens of uneven tasks fit


@dataclasses.dataclass(frozen=True)
class Answer:
    """A placement of the tasks that are not pinned, or why there is none."""

    where: dict[str, str] | None
    why: str = ""


def search(snapshot: model.Snapshot) -> Answer:
    """Any placement that keeps every capacity, or the constraint that is short."""
    rooms = _rooms(snapshot)
    tasks = sorted((task for task in snapshot.tasks if not task.pinned), key=lambda task: (-task.load, task.name))
    short = _short(rooms, tasks)
    if short:
        return Answer(None, short)
    loads = [task.load for task in tasks]
    names = sorted(rooms)
    found = _Search(loads, [rooms[name] for name in names]).run()
    if found is None:
        return Answer(None, "the sum of the loads fits, but no way to divide the tasks keeps every capacity")
    if not found and tasks:
        return Answer(None, f"no way to divide the tasks was found in {STEPS} steps; there may be one")
    return Answer({task.name: names[at] for task, at in zip(tasks, found, strict=True)})


def _rooms(snapshot: model.Snapshot) -> dict[str, int]:
    rooms = {node.name: node.capacity for node in snapshot.nodes}
    for task in snapshot.tasks:
        if task.pinned and task.node in rooms:
            rooms[task.node] = max(0, rooms[task.node] - task.load)  # what is pinned is nobody's to solve
    return rooms


def _short(rooms: dict[str, int], tasks: list[model.Task]) -> str:
    """The constraint no placement can keep, told without search; empty if none is plain."""
    if tasks and not rooms:
        return "there is no node"
    load, room = sum(task.load for task in tasks), sum(rooms.values())
    if load > room:
        return f"capacity is short by {load - room}: the tasks' load is {load}, the nodes have room for {room}"
    largest = max(rooms.values(), default=0)
    if tasks and tasks[0].load > largest:
        return f"{tasks[0].name} has a load of {tasks[0].load}, the roomiest node has room for {largest}"
    return ""


class _Search:
    """One depth-first search, with its own stack: a thousand tasks are no reason to run out of it."""

    def __init__(self, loads: list[int], rooms: list[int]) -> None:
        self.loads = loads
        self.rooms = rooms
        self.failed: set[tuple[int, tuple[int, ...]]] = set()
        self.seats: list[int] = []

    def run(self) -> list[int] | None:
        """A node for each load; None if there is none; empty if the steps ran out."""
        waiting = [self._choices()]
        for _ in range(STEPS + len(self.loads)):
            if len(self.seats) == len(self.loads):
                return self.seats
            if waiting[-1]:
                self._sit(waiting[-1].pop())
                waiting.append(self._choices())
                continue
            waiting.pop()
            self.failed.add(self._state())
            if not waiting:
                return None
            self._rise()
        return []

    def _choices(self) -> list[int]:
        """Nodes worth trying for the next load, the best last: the tightest fit, one of each room."""
        if len(self.seats) == len(self.loads) or self._state() in self.failed:
            return []
        load = self.loads[len(self.seats)]
        one_of_each = {room: at for at, room in reversed(list(enumerate(self.rooms))) if room >= load}
        return [one_of_each[room] for room in sorted(one_of_each, reverse=True)]

    def _state(self) -> tuple[int, tuple[int, ...]]:
        return len(self.seats), tuple(sorted(self.rooms))

    def _sit(self, at: int) -> None:
        self.rooms[at] -= self.loads[len(self.seats)]
        self.seats.append(at)

    def _rise(self) -> None:
        at = self.seats.pop()
        self.rooms[at] += self.loads[len(self.seats)]
