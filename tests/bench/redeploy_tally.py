"""What the file sink of a job has got so far, read bit by bit: many measurements share the job, each is judged alone.

A batch that is done again writes other files, and only those count that the sink's own log names: each number is owed
exactly once, whoever was killed.
"""

import collections
import itertools
import time
from collections.abc import Iterable

from bench import redeploy_kinds
from demo import plain_spark, streamjobs

_LOOK_S = 1.0


class Tally:
    """Numbers that came, in sections: what is missing or came again counts for the section that is open."""

    def __init__(self) -> None:
        self._came = collections.Counter[int]()
        self._begun = 0  # the first number of the section
        self._again = 0  # until the section began

    def add(self, numbers: Iterable[int]) -> None:
        """They came."""
        self._came.update(numbers)

    def missing(self, sent: int) -> int:
        """How many of the section's first numbers, those below that one, have not come."""
        return sum(number not in self._came for number in range(self._begun, sent))

    def close(self, sent: int) -> dict[str, int]:
        """The section in figures; the next one begins with that number."""
        again = self._came.total() - len(self._came)
        found = {"records": sent - self._begun, "lost": self.missing(sent), "repeated": again - self._again}
        self._begun, self._again = sent, again
        return found


class Sink:
    """The files of one job's sink."""

    def __init__(self, job: streamjobs.Job) -> None:
        self._job = job
        self._tally = Tally()
        self._files: dict[str, float] = {}  # and when each was written

    def judge(self, sent: int, patience_s: float) -> dict[str, int]:
        """Of what was sent since the last time: what is lost, for it has not come for long, and what came again."""
        ends_s = time.monotonic() + patience_s
        self._read()
        while self._tally.missing(sent) and time.monotonic() < ends_s:
            time.sleep(_LOOK_S)
            self._read()
        return self._tally.close(sent)

    def longest_gap_s(self, since_s: float, until_s: float) -> float:
        """The longest time without a file, of those read; the store counts whole seconds."""
        inside = sorted(at_s for at_s in self._files.values() if since_s <= at_s <= until_s)
        return max((later - earlier for earlier, later in itertools.pairwise(inside)), default=0.0)

    def _read(self) -> None:
        found = plain_spark.files_of_sink(self._job.kube, redeploy_kinds.FILES)
        self._tally.add(map(int, plain_spark.lines_of(self._job.kube, found.keys() - self._files.keys())))
        self._files |= found
