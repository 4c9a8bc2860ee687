"""Moves nothing: the worked example to copy for a new policy, and the control of every benchmark.

Paper: none. Objective: none. Cost: O(tasks + edges), for telling what the placement costs as it is.
Never moves a task, not even one without a node: it names those in a refusal.
"""

import dataclasses

from sluice_policies import model, moves

NAME = "stay"


@dataclasses.dataclass(frozen=True)
class Args:
    """Nothing to choose."""


DEFAULT = Args()


def plan(snapshot: model.Snapshot, args: Args = DEFAULT) -> moves.Plan:
    """No moves; a refusal for each task that has no node."""
    del args  # part of every policy's face
    placed = snapshot.placement()
    homeless = [task.name for task in snapshot.tasks if task.name not in placed]
    refused = [moves.Refused(name, "it has no node, and stay places nothing") for name in homeless]
    return moves.lead(NAME, snapshot, {}, refused)
