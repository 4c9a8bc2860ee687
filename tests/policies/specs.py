"""The language of `*.spec` files: a story, then commands, each with the answer below `----`, an empty line between.

    node n1 4                          a node and its capacity
    task a 1 job=clicks node=n1 pinned a task and its load
    edge a b 500                       bytes per second
    plan stromax scope=new             the plan's own lines; the tasks then sit where it led
    lose n1                            the node leaves

Every command but `plan` changes the cluster and answers nothing; several may stand in one block.
"""

import dataclasses
import pathlib
from collections.abc import Iterator

import pytest

from sluice.cli import arguments
from sluice_policies import model


@dataclasses.dataclass
class World:
    """The cluster of one story."""

    nodes: dict[str, model.Node] = dataclasses.field(default_factory=dict)
    tasks: dict[str, model.Task] = dataclasses.field(default_factory=dict)
    edges: list[model.Edge] = dataclasses.field(default_factory=list)

    def tell(self, line: str) -> str:
        """Carries out one command; its answer."""
        verb, *words = line.split()
        if verb == "plan":
            return self._plan(words[0], words[1:])
        if verb == "node":
            self.nodes[words[0]] = model.Node(words[0], int(words[1]))
        elif verb == "lose":
            del self.nodes[words[0]]
        elif verb == "task":
            named = dict(word.split("=") for word in words[2:] if "=" in word)
            at, job = named.get("node"), named.get("job", "")
            self.tasks[words[0]] = model.Task(words[0], int(words[1]), job, at, "pinned" in words)
        elif verb == "edge":
            self.edges.append(model.Edge(words[0], words[1], int(words[2])))
        else:
            raise ValueError(f"{line!r}: allowed is node, lose, task, edge, plan")
        return ""

    def _plan(self, name: str, settings: list[str]) -> str:
        snapshot = model.Snapshot(tuple(self.nodes.values()), tuple(self.tasks.values()), tuple(self.edges))
        plan = arguments.planner(name, settings)(snapshot)
        self.tasks = {task.name: task for task in snapshot.placed(plan.placement(snapshot)).tasks}
        return plan.explain()


def answer(text: str) -> str:
    """The whole file again, with the answers as they are now."""
    story, *blocks = text.strip("\n").split("\n\n")
    world = World()
    out = [story]
    for block in blocks:
        commands = block.split("\n----")[0]
        said = "\n".join(filter(None, (world.tell(line) for line in commands.splitlines())))
        out.append(commands + (f"\n----\n{said}" if said else ""))
    return "\n\n".join(out) + "\n"


class SpecFile(pytest.File):
    """One story."""

    def collect(self) -> Iterator[pytest.Item]:
        """The story is one test."""
        yield Spec.from_parent(self, name=self.path.stem)


class Spec(pytest.Item):
    """Told again, it must answer the same."""

    def runtest(self) -> None:
        """Compares, or writes the answers anew."""
        text = self.path.read_text()
        told = answer(text)
        if self.config.getoption("--rewrite"):
            self.path.write_text(told)
        else:
            assert told == text

    def reportinfo(self) -> tuple[pathlib.Path, int | None, str]:
        """Where the story stands."""
        return self.path, 0, self.name
