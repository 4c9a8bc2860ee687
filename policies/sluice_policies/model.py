"""What a policy looks at: one frozen snapshot of nodes, tasks and the traffic between tasks. Knows no policy.

The operator's observe stage, a dump in a file, a notebook or a test makes one; a policy turns it into a
:mod:`sluice_policies.moves` plan. Capacity and load are whole numbers of one unit of the caller's choice (the operator
uses millicores, the papers slots); traffic is whole bytes per second. Whole numbers, because their sums do not depend
on the order in which they are added. A snapshot sorts itself, so equal input in any order is equal.
"""

import dataclasses
import json
from collections.abc import Callable, Iterable, Mapping
from functools import cached_property
from typing import TypeVar

LARGEST = 10**12  # a million of these still fit 64 bits
_Part = TypeVar("_Part", "Node", "Task", "Edge")


@dataclasses.dataclass(frozen=True)
class Node:
    """A machine that may take tasks. A node that is leaving is left out of the snapshot."""

    name: str
    capacity: int  # what its tasks may load it with, in the unit of the tasks' load; 0..LARGEST

    def __post_init__(self) -> None:
        check_name("node.name", self.name)
        check_whole(f"node {self.name}: capacity", self.capacity)


@dataclasses.dataclass(frozen=True)
class Task:
    """Something with a place: an executor, an operator's instance, a Kafka broker."""

    name: str
    load: int = 1  # in the unit of the nodes' capacity; 0..LARGEST
    job: str = ""  # tasks of one job were submitted together
    node: str | None = None  # where it sits now; None, or a node that is not in the snapshot: it needs a place
    pinned: bool = False  # stays on its node, which may be one that is not in the snapshot

    def __post_init__(self) -> None:
        check_name("task.name", self.name)
        check_whole(f"task {self.name}: load", self.load)
        check_text(f"task {self.name}: job", self.job)
        if self.node is not None:
            check_name(f"task {self.name}: node", self.node)
        if not isinstance(self.pinned, bool):
            raise ValueError(f"task {self.name}: pinned={self.pinned!r}: allowed is true or false")
        if self.pinned and self.node is None:
            raise ValueError(f"task {self.name}: pinned=True with node=None: allowed is only with the node it is on")


@dataclasses.dataclass(frozen=True)
class Edge:
    """Traffic from one task to another."""

    source: str
    target: str
    bytes_per_s: int  # 0..LARGEST

    def __post_init__(self) -> None:
        check_name("edge.source", self.source)
        check_name("edge.target", self.target)
        check_whole(f"edge {self.source} -> {self.target}: bytes_per_s", self.bytes_per_s)
        if self.source == self.target:
            raise ValueError(f"edge {self.source} -> {self.target}: allowed is only between two different tasks")


@dataclasses.dataclass(frozen=True)
class Snapshot:
    """Everything a policy may know. Sorted by name, each name once."""

    nodes: tuple[Node, ...]
    tasks: tuple[Task, ...]
    edges: tuple[Edge, ...] = ()
    seed: int = 0  # of whatever a policy draws; the same seed gives the same plan; 0..LARGEST

    def __post_init__(self) -> None:
        object.__setattr__(self, "nodes", tuple(sorted(self.nodes, key=lambda node: node.name)))
        object.__setattr__(self, "tasks", tuple(sorted(self.tasks, key=lambda task: task.name)))
        object.__setattr__(self, "edges", tuple(sorted(self.edges, key=lambda edge: (edge.source, edge.target))))
        check_whole("seed", self.seed)
        _check_once("node", (node.name for node in self.nodes))
        _check_once("task", (task.name for task in self.tasks))
        _check_once("edge", (f"{edge.source} -> {edge.target}" for edge in self.edges))
        for edge in self.edges:
            for end in (edge.source, edge.target):
                if end not in self.task_of:
                    raise ValueError(f"edge {edge.source} -> {edge.target}: there is no task {end!r}")

    @cached_property
    def node_of(self) -> dict[str, Node]:
        """Nodes by name."""
        return {node.name: node for node in self.nodes}

    @cached_property
    def task_of(self) -> dict[str, Task]:
        """Tasks by name."""
        return {task.name: task for task in self.tasks}

    def placement(self) -> dict[str, str]:
        """Where every task sits that sits somewhere: on a node of the snapshot, or pinned anywhere."""
        placed = (task for task in self.tasks if task.pinned or task.node in self.node_of)
        return {task.name: task.node for task in placed if task.node is not None}

    def placed(self, where: Mapping[str, str]) -> "Snapshot":
        """The same tasks, sitting elsewhere."""
        tasks = tuple(
            task if task.pinned else dataclasses.replace(task, node=where.get(task.name)) for task in self.tasks
        )
        return dataclasses.replace(self, tasks=tasks)

    def to_json(self) -> str:
        """As text that :func:`from_json` takes back."""
        return json.dumps(dataclasses.asdict(self), indent=1)


def from_json(text: str) -> Snapshot:
    """A snapshot from a dump; ValueError says which field is wrong, its value, and what is allowed."""
    try:
        found = json.loads(text)
    except (ValueError, RecursionError) as why:
        raise ValueError(f"snapshot: not JSON: {why}") from None
    top = _fields("snapshot", found, ("nodes", "tasks"), ("edges", "seed"))
    return Snapshot(
        nodes=tuple(_build(Node, f"nodes[{i}]", row) for i, row in _rows("nodes", top["nodes"])),
        tasks=tuple(_build(Task, f"tasks[{i}]", row) for i, row in _rows("tasks", top["tasks"])),
        edges=tuple(_build(Edge, f"edges[{i}]", row) for i, row in _rows("edges", top.get("edges", []))),
        seed=check_whole("seed", top.get("seed", 0)),
    )


def check_whole(field: str, value: object) -> int:
    """A whole number from 0 to LARGEST, or a ValueError that says what it is."""
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= LARGEST:
        raise ValueError(f"{field}={_short(value)}: allowed is a whole number from 0 to {LARGEST}")
    return value


def check_text(field: str, value: object) -> str:
    """Text, or a ValueError that says what it is."""
    if not isinstance(value, str):
        raise ValueError(f"{field}={_short(value)}: allowed is text")
    return value


def check_name(field: str, value: object) -> str:
    """Text that is not empty and stays on its line."""
    if not isinstance(value, str) or not value or not value.isprintable():
        raise ValueError(f"{field}={_short(value)}: allowed is text that is not empty and can be printed")
    return value


def _check_once(kind: str, names: Iterable[str]) -> None:
    seen: set[str] = set()
    for name in names:
        if name in seen:
            raise ValueError(f"{kind} {name!r} is there twice: allowed is once")
        seen.add(name)


def _rows(field: str, found: object) -> list[tuple[int, object]]:
    if not isinstance(found, list):
        raise ValueError(f"{field}={_short(found)}: allowed is a list")
    return list(enumerate(found))


def _build(kind: type[_Part], place: str, row: object) -> _Part:
    fields = dataclasses.fields(kind)
    must = tuple(f.name for f in fields if f.default is dataclasses.MISSING)
    values = _fields(place, row, must, tuple(f.name for f in fields if f.name not in must))
    make: Callable[..., _Part] = kind  # each field checks itself
    try:
        return make(**values)
    except ValueError as why:
        raise ValueError(f"{place}: {why}") from None


def _fields(place: str, found: object, must: tuple[str, ...], may: tuple[str, ...]) -> dict[str, object]:
    if not isinstance(found, dict):
        raise ValueError(f"{place}={_short(found)}: allowed is an object with {', '.join((*must, *may))}")
    for name in must:
        if name not in found:
            raise ValueError(f"{place}: {name} is missing")
    for name in found:
        if name not in (*must, *may):
            raise ValueError(f"{place}: unknown field {_short(name)}: allowed are {', '.join((*must, *may))}")
    return found


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."
