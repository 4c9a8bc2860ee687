"""A driver whose agent is the real one, and the two ways its task times are read: for one contract.

Time is the test's own, so that a period passes at once.
"""

import contextlib
from collections.abc import Iterator
from typing import Any

from agent import loops, plugin
from fakes import prometheus
from sluice.observe import agents, latencies
from sluice.values import latencies as slim
from sluice_agent import batches, board, heard, metrics, tally

BEGAN_S = 1_800_000_000.0
PATIENCE_S, LITTLE_PATIENCE_S = 30.0, 0.3
POD, IP = "clicks-5f3a9c-1", "127.0.0.1"


class Driver:
    """What its tasks took, and the page of its agent."""

    def __init__(self, loop: loops.Loop) -> None:
        self.now_s = BEGAN_S
        self.sums = tally.Tally(lambda: self.now_s)
        self._page: metrics.Metrics = loop.run(self._make())
        self.port = loop.serve(self._page.service)

    def restart(self) -> None:
        """Its agent counts from nothing."""
        self.sums.queries.clear()
        self.sums.parts.clear()

    async def _make(self) -> metrics.Metrics:
        states = heard.Heard(lambda: self.now_s)
        job = {"streamjob_namespace": "shop", "streamjob": "clicks"}
        return metrics.Metrics(job, self.sums, states, board.Board(states.ring))

    def ran(self, executor: str, *took_ms: int, query: str = "clicks") -> None:
        """Tasks that an executor ended in one batch."""
        work = plugin.work(tasks=len(took_ms), taskMs=[[took, 1] for took in took_ms])
        self.sums.add(batches.read(plugin.batch(name=query, executors={executor: work})))

    def page(self) -> str:
        """What it shows."""
        return self._page.text()

    def asked(self, since_s: float = 0.0, **change: Any) -> slim.Asked:
        """What the operator asks for; since then, from the beginning on."""
        return slim.Asked(**{
            "namespace": "shop", "job": "clicks", "pod": POD, "uid": "uid-1", "ip": IP,
            "since_s": BEGAN_S + since_s, "window_s": 330.0, **change,
        })  # fmt: skip


class ByPrometheus:
    """A Prometheus scrapes the agent, and the operator asks it."""

    def __init__(self, driver: Driver, fake: prometheus.FakePrometheus) -> None:
        self.fake = fake
        self.source = latencies.FromPrometheus(fake.url, PATIENCE_S)
        self._driver = driver

    def see(self) -> None:
        """A period has passed: it scrapes."""
        self.fake.scrape(self._driver.page(), pod=POD, instance=f"{IP}:7080")

    def mute(self) -> None:
        """It takes questions, and never answers, and whoever asks has little patience."""
        self.fake.open.clear()
        self.source = latencies.FromPrometheus(self.fake.url, LITTLE_PATIENCE_S)

    def spoil(self, status: int, answer: bytes) -> None:
        """It answers something else."""
        self.fake.status, self.fake.garbage = status, answer


class ByAgents:
    """The operator asks the agent; what is not asked is not seen. To be spoilt, another server answers in its place."""

    def __init__(self, driver: Driver, fake: prometheus.FakePrometheus) -> None:
        self._driver, self._fake = driver, fake
        self.source = agents.FromAgents(driver.port, lambda: driver.now_s, PATIENCE_S)

    def see(self) -> None:
        """A period has passed: nobody has looked."""

    def mute(self) -> None:
        """It takes questions, and never answers, and whoever asks has little patience."""
        self._fake.open.clear()
        self._ask_another(LITTLE_PATIENCE_S)

    def spoil(self, status: int, answer: bytes) -> None:
        """It answers something else."""
        self._fake.status, self._fake.garbage = status, answer
        self._ask_another(PATIENCE_S)

    def _ask_another(self, patience_s: float) -> None:
        self._fake.anywhere = True
        self.source = agents.FromAgents(self._fake.port, lambda: self._driver.now_s, patience_s)


WAYS: dict[str, type[ByPrometheus] | type[ByAgents]] = {"Prometheus": ByPrometheus, "the agents": ByAgents}


@contextlib.contextmanager
def begin(way: str) -> Iterator[tuple[Driver, ByPrometheus | ByAgents]]:
    """A driver, and how it is read."""
    with loops.Loop() as loop:
        driver = Driver(loop)
        with prometheus.FakePrometheus(lambda: driver.now_s) as fake:
            yield driver, WAYS[way](driver, fake)
