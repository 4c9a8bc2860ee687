"""What is asked for on each node, kept up with every pod that comes and goes. Part of the mirror."""

import json

from sluice.values import records


class Usage:
    """Requests by node: of all that is there and not over, and of all that was promised a place there."""

    def __init__(self) -> None:
        self._used: dict[str, records.Resources] = {}

    def change(self, old: records.Pod | None, new: records.Pod | None) -> bool:
        """Replaces one record of a pod by another. Returns whether a node has more room now."""
        was, now = home(old), home(new)
        if was and old is not None:
            self._used[was] = self._used[was] - old.requests
            if self._used[was] == records.Resources():
                del self._used[was]
        if now and new is not None:
            self._used[now] = self._used.get(now, records.Resources()) + new.requests
        return bool(was) and (was != now or (old is not None and new is not None and old.requests != new.requests))

    def by_node(self) -> dict[str, records.Resources]:
        """As it is now."""
        return dict(self._used)


def home(pod: records.Pod | None) -> str:
    """The node whose room a pod takes: where it is, or where we have just sent it; nothing once it is over."""
    if pod is None or pod.over:
        return ""
    return pod.node or ("" if pod.gated or not pod.placed else _promised(pod.placed))


def _promised(decision: str) -> str:
    try:
        found = json.loads(decision)
    except json.JSONDecodeError:
        return ""
    return str(found.get("node", "")) if isinstance(found, dict) else ""
