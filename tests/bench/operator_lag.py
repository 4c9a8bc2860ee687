"""How late a status is: for how long it says another number of running executors than the pods themselves do.

Both are read off the same watches, so what the watch itself is late by counts for neither.
"""

import time

from bench import operator_seen
from bench.operator_api import Body
from sluice.values import names


class Lag:
    """Measures from its making on."""

    def __init__(self, seen: operator_seen.Seen) -> None:
        self._seen = seen
        self._apart_s: dict[str, float] = {}  # by job: since when status and pods differ
        self._lags_s: list[float] = []
        seen.listen(self._see)

    def read(self) -> tuple[list[float], int]:
        """The seconds of each difference that was made good, and how many have stood for more than a minute."""
        now_s = time.monotonic()
        return self._lags_s, sum(now_s - since_s > 60.0 for since_s in self._apart_s.values())

    def _see(self, _: str, body: Body, at_s: float) -> None:
        labels = body["metadata"].get("labels", {})
        job = body["metadata"]["name"] if body["kind"] == names.KIND else labels.get(names.JOB, "")
        if job not in self._seen.jobs:
            return
        said = self._seen.status(job).get("executors", {}).get("running")
        true = sum(pod.running and not pod.deleting for pod in self._seen.of(job, names.EXECUTOR))
        if said != true:
            self._apart_s.setdefault(job, at_s)
        elif job in self._apart_s:
            self._lags_s.append(at_s - self._apart_s.pop(job))
