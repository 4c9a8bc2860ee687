"""The decision about an executor's place as it stands on the pod: written by plan.placement, read back by plan.status.

It travels through the cluster, so `kubectl describe pod` shows it, and a restart of the operator loses nothing.
"""

import dataclasses
import json

from sluice.plan import verdicts
from sluice.values import driver_state, records


@dataclasses.dataclass(frozen=True)
class Place:
    """Why an executor is where it is. No node: its gate was opened and the scheduler chose."""

    at_s: float
    node: str
    policy: str
    why: str

    def write(self) -> str:
        """As the annotation `names.PLACED`."""
        at = driver_state.timestamp(self.at_s)
        return json.dumps({"at": at, "node": self.node, "policy": self.policy, "why": self.why})

    def decision(self, pod: records.Pod) -> verdicts.Decision:
        """As a line of `status.decisions`."""
        if self.node:
            return verdicts.Decision(self.at_s, "Place", pod.name, f"to {self.node} by {self.policy}", self.why)
        return verdicts.Decision(self.at_s, "Open", pod.name, "gate opened, the scheduler chooses", self.why)


def read(pod: records.Pod) -> Place | None:
    """What stands on a pod; None if nothing of ours does, whoever wrote it."""
    try:
        found = json.loads(pod.placed)
        return Place(driver_state.seconds(found["at"]), str(found["node"]), str(found["policy"]), str(found["why"]))
    except (ValueError, KeyError, TypeError):  # anyone who may edit pods may write there
        return None
