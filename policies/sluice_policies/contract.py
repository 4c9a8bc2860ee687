"""What every placement policy promises, and how one is called. :data:`sluice_policies.REGISTRY` names them.

Given any snapshot, in any order, twice: the same plan, byte for byte. Every task keeps its node, gets one, or is named
in a refusal. Pinned tasks stay. No node is loaded above its capacity that was not so before, and then not more than
before. The cost after ranks no worse than before in the policy's own order. Planning again where the plan led moves
nothing. ``tests/policies/invariants.py`` holds them to it.
"""

from typing import Protocol

from sluice_policies import model, moves


class Policy(Protocol):
    """A module with `NAME`, `Args` (frozen, each field documented and bounded) and `plan`."""

    NAME: str  # as people type it

    def plan(self, snapshot: model.Snapshot) -> moves.Plan:
        """The plan with the default arguments; each module takes its own `Args` as a second one."""
