"""What a policy says: a frozen plan of moves and refusals, with the cost before and after. Nothing here acts.

The operator's plan stage may refuse more of it, act carries out the rest; ``sluice plan`` prints it.
"""

import dataclasses
import json
from collections.abc import Iterable, Mapping

from sluice_policies import measures, model


@dataclasses.dataclass(frozen=True, order=True)
class Move:
    """One task to one node."""

    task: str
    source: str | None  # None: it had no place
    target: str
    why: str  # one sentence

    def explain(self) -> str:
        """The decision in one line."""
        return f"{self.task}: {self.source or 'no node'} -> {self.target}: {self.why}"


@dataclasses.dataclass(frozen=True, order=True)
class Refused:
    """Something that was wanted and is not done; an empty task means the snapshot as a whole."""

    task: str
    why: str  # one sentence

    def explain(self) -> str:
        """The refusal in one line."""
        return f"{self.task or 'all'}: refused: {self.why}"


@dataclasses.dataclass(frozen=True)
class Plan:
    """Moves in the order of the tasks' names, refusals likewise, and what they change."""

    policy: str
    moves: tuple[Move, ...]
    refused: tuple[Refused, ...]
    before: measures.Cost
    after: measures.Cost

    def __post_init__(self) -> None:
        object.__setattr__(self, "moves", tuple(sorted(self.moves)))
        object.__setattr__(self, "refused", tuple(sorted(self.refused)))

    def placement(self, snapshot: model.Snapshot) -> dict[str, str]:
        """Where every task sits once the moves are made."""
        return snapshot.placement() | {move.task: move.target for move in self.moves}

    def explain(self) -> str:
        """One line per decision, and the costs."""
        lines = [f"{self.policy}: {len(self.moves)} moves, {len(self.refused)} refused"]
        lines += [move.explain() for move in self.moves]
        lines += [refusal.explain() for refusal in self.refused]
        return "\n".join([*lines, f"before: {self.before.explain()}", f"after:  {self.after.explain()}"])

    def to_json(self) -> str:
        """As text that :func:`from_json` takes back."""
        return json.dumps(dataclasses.asdict(self), indent=1)


def from_json(text: str) -> Plan:
    """A plan from its own text."""
    found = json.loads(text)
    return Plan(
        policy=found["policy"],
        moves=tuple(Move(**row) for row in found["moves"]),
        refused=tuple(Refused(**row) for row in found["refused"]),
        before=measures.Cost(**found["before"]),
        after=measures.Cost(**found["after"]),
    )


def lead(
    policy: str,
    snapshot: model.Snapshot,
    where: Mapping[str, str],
    refused: Iterable[Refused] = (),
    why: Mapping[str, str] | None = None,
) -> Plan:
    """The plan that leads from where everything sits to `where`; a move without a reason gets the traffic it meets."""
    now = snapshot.placement()
    then = now | dict(where)
    moving = [name for name, target in where.items() if now.get(name) != target]
    reasons = _traffic_met(snapshot, now, then, moving) | dict(why or {})
    made = tuple(Move(name, now.get(name), then[name], reasons[name]) for name in moving)
    return Plan(policy, made, tuple(refused), measures.cost(snapshot, now), measures.cost(snapshot, then))


def _traffic_met(
    snapshot: model.Snapshot, now: Mapping[str, str], then: Mapping[str, str], moving: Iterable[str]
) -> dict[str, str]:
    near = measures.neighbours(snapshot)

    def met(task: str, node: str | None) -> int:
        return sum(rate for other, rate in near[task].items() if node is not None and then.get(other) == node)

    def say(task: str) -> str:
        there = f"meets {met(task, then[task])} of its {sum(near[task].values())} B/s there"
        return f"{there}, {met(task, now[task])} where it was" if task in now else there

    return {task: say(task) for task in moving}
