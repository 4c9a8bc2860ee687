"""Named snapshots: what the tests of all placement policies talk about. Nothing is shared or changed."""

from collections.abc import Iterable

from sluice_policies import model


def snapshot(
    nodes: dict[str, int], tasks: Iterable[str], edges: Iterable[str] = (), where: dict[str, str] | None = None
) -> model.Snapshot:
    """`tasks` as "name load", `edges` as "source target bytes"; a task pinned with a `!` before its name."""
    sits = where or {}
    return model.Snapshot(
        tuple(model.Node(name, capacity) for name, capacity in nodes.items()),
        tuple(_task(line, sits) for line in tasks),
        tuple(model.Edge(a, b, int(rate)) for a, b, rate in (line.split() for line in edges)),
    )


def _task(line: str, sits: dict[str, str]) -> model.Task:
    name, load = line.lstrip("!").split()
    return model.Task(name, int(load), name[0], sits.get(name), line.startswith("!"))


def empty() -> model.Snapshot:
    """Nothing at all."""
    return model.Snapshot((), ())


def no_nodes() -> model.Snapshot:
    """Tasks and nowhere to go."""
    return snapshot({}, ["a 1", "b 1"], ["a b 10"])


def two_pairs() -> model.Snapshot:
    """Two pairs that talk, two nodes of two: the plan is plain."""
    return snapshot({"n1": 2, "n2": 2}, ["a 1", "b 1", "c 1", "d 1"], ["a b 100", "c d 100", "b c 1"])


def torn_pairs() -> model.Snapshot:
    """The pairs of `two_pairs`, each torn apart."""
    return two_pairs().placed({"a": "n1", "c": "n1", "b": "n2", "d": "n2"})


def hot_node() -> model.Snapshot:
    """One node carries nearly everything, the second a little, the third nothing; all within capacity."""
    tasks = [f"{letter} 1" for letter in "abcdef"]
    where = dict.fromkeys("abcde", "n1") | {"f": "n2"}
    return snapshot({"n1": 6, "n2": 6, "n3": 6}, tasks, ["a b 50", "a f 90", "c d 20", "e f 10"], where)


def overloaded_node() -> model.Snapshot:
    """More sits on n1 than it can carry; n2 has room."""
    return snapshot({"n1": 2, "n2": 2}, ["a 1", "b 1", "c 1"], ["a b 9", "b c 1"], dict.fromkeys("abc", "n1"))


def lost_node() -> model.Snapshot:
    """n2 is gone with one of two talking tasks."""
    return snapshot({"n1": 2, "n3": 2}, ["a 1", "b 1", "c 1"], ["a b 70", "b c 5"], {"a": "n1", "b": "n2", "c": "n3"})


def near_broker() -> model.Snapshot:
    """A broker is pinned to n2; whoever reads from it should sit there, and there is room for one."""
    tasks = ["!k 1", "a 1", "b 1"]
    return snapshot({"n1": 2, "n2": 2}, tasks, ["k a 10", "k b 90"], {"k": "n2", "a": "n2", "b": "n1"})


def broker_elsewhere() -> model.Snapshot:
    """A broker on a node that takes no tasks: its traffic is between nodes whatever is done."""
    return snapshot({"n1": 2, "n2": 2}, ["!k 1", "a 1", "b 1"], ["k a 80", "a b 5"], {"k": "control", "b": "n1"})


def too_much() -> model.Snapshot:
    """More load than capacity."""
    return snapshot({"n1": 2, "n2": 1}, ["a 1", "b 1", "c 1", "d 1"], ["a b 5", "c d 5"], {"a": "n1"})


def too_large() -> model.Snapshot:
    """Room enough in all, but on no node for the largest."""
    return snapshot({"n1": 3, "n2": 3}, ["a 4", "b 1"], ["a b 5"])


def awkward() -> model.Snapshot:
    """Fits in one way only, and not with the largest first onto the roomiest node."""
    return snapshot({"n1": 10, "n2": 9}, ["a 6", "b 4", "c 5", "d 4"], ["a c 9", "b d 9"])


def impossible() -> model.Snapshot:
    """Capacity in all and for each, but no way to divide the tasks."""
    return snapshot({"n1": 5, "n2": 5}, ["a 3", "b 3", "c 3"], ["a b 5"])


def shuffle() -> model.Snapshot:
    """Executors that all talk to all, as Spark's do: nothing but cycles; the two jobs fit a node each."""
    jobs = ("abcd", "wxyz")
    edges = [f"{a} {b} {10 + i}" for job in jobs for i, a in enumerate(job) for b in job if a != b]
    return snapshot({"n1": 4, "n2": 4, "n3": 2}, [f"{name} 1" for name in "abcdwxyz"], edges)


def idle_tasks() -> model.Snapshot:
    """Loads and traffic of zero, a node without capacity."""
    return snapshot({"n1": 0, "n2": 3}, ["a 0", "b 3", "c 0"], ["a b 0", "b c 7"], {"a": "n1"})


ALL = {
    make.__name__: make()
    for make in (
        empty, no_nodes, two_pairs, torn_pairs, hot_node, overloaded_node, lost_node, near_broker, broker_elsewhere,
        too_much, too_large, awkward, impossible, shuffle, idle_tasks,
    )
}  # fmt: skip
INFEASIBLE = ("no_nodes", "too_much", "too_large", "impossible")
