"""A steady load of numbers into one topic, and what of them came out of another: none lost, none twice, how late.

Each record is a number, so that a lost or a repeated one is seen, and has the moment it was written: so is a pause.
"""

import concurrent.futures
import contextlib
import dataclasses
import itertools
import time
from collections.abc import Iterator

from demo import topics
from house import trouble
from testbed import target

_PATIENCE_S = 120.0
_READING_S = 5.0
# Each record goes to another partition, so that none rests, as in a real stream. Of one that rests Spark's Kafka source
# learns the end up to half a second late, for it asks behind its own long poll; with Kafka's 16 KiB one rests for
# seconds.
_BATCH_BYTES = 1


@dataclasses.dataclass
class Load:
    """Numbers from 0 on, so many a second."""

    kube: target.Target
    topic: str
    rate: int
    heap: int = 0  # so many more, at once
    sent: int = 0
    stops: bool = False

    def run(self) -> None:
        """Until it is told to stop; all that was sent is with the broker then."""
        feed = topics.feed(self.kube, self.topic, _BATCH_BYTES)
        assert feed.stdin is not None
        began_s = time.monotonic()
        while not self.stops:
            due = self.heap + int((time.monotonic() - began_s) * self.rate)
            feed.stdin.write("".join(f"{number}\n" for number in range(self.sent, due)))
            feed.stdin.flush()
            self.sent = due
            time.sleep(1 / 50)
        said, _ = feed.communicate()
        if feed.returncode:
            raise trouble.Trouble(f"what fills {self.topic} ended with {feed.returncode}: {said[-300:]}")


@dataclasses.dataclass(frozen=True)
class Arrived:
    """At the sink: each record's moment and number, in the order of the moments."""

    sent: int
    records: tuple[tuple[int, int], ...]

    def counted(self) -> dict[str, int]:
        """In figures."""
        return {"records": self.sent, "lost": self.lost, "repeated": self.repeated()}

    @property
    def lost(self) -> int:
        """How many of those sent never came."""
        return len(set(range(self.sent)) - {number for _, number in self.records})

    def repeated(self, since_ms: float = 0.0) -> int:
        """How many came again, from a moment on."""
        seen: set[int] = set()
        again = 0
        for at_ms, number in self.records:
            again += number in seen and at_ms >= since_ms
            seen.add(number)
        return again

    def first_after_ms(self, since_ms: float) -> int:
        """The moment of the first one after another moment."""
        return min(at_ms for at_ms, _ in self.records if at_ms > since_ms)

    def longest_gap_ms(self, since_ms: float, until_ms: float) -> int:
        """The longest time in which nothing arrived."""
        inside = [at_ms for at_ms, _ in self.records if since_ms <= at_ms <= until_ms]
        return max((later - earlier for earlier, later in itertools.pairwise(inside)), default=0)


@contextlib.contextmanager
def flowing(kube: target.Target, topic: str, rate: int) -> Iterator[Load]:
    """The load, until the end of the block."""
    load = Load(kube, topic, rate)
    with concurrent.futures.ThreadPoolExecutor(1) as beside:
        running = beside.submit(load.run)
        try:
            yield load
        finally:
            load.stops = True
        running.result()


def arrived(kube: target.Target, load: Load, sink: str) -> Arrived:
    """What of all that was sent until now has come through; what has not come for long is lost."""
    sent, last_s = load.sent, time.monotonic() + _PATIENCE_S
    while True:
        # What comes while it is read counts as well, or the reader, which takes one partition after another, ends with
        # the newest of some and without the oldest of the last.
        meanwhile = 0 if load.stops else int(load.rate * _READING_S)
        records = topics.read_with_moments(kube, sink, topics.count(kube, sink) + meanwhile)
        found = Arrived(sent, tuple(sorted((at_ms, int(value)) for at_ms, value in records)))
        if not found.lost or time.monotonic() > last_s:
            return found
