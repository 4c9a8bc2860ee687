"""Task times of a play: what each executor of each driver would take, as a source of them would tell.

times = tasktimes.TaskTimes()
times.ms["2"] = 300.0                    # executor 2 is slow
times.problem = "nobody answers"
"""

import asyncio

from fakes import clock
from sluice.values import latencies


class TaskTimes:
    """Twenty tasks of query `clicks` since the last look, of the executors that are in it."""

    def __init__(self) -> None:
        self.ms: dict[str, float] = {}  # by executor
        self.problem = ""
        self.hang: set[str] = set()  # jobs whose source never answers
        self.asked: list[latencies.Asked] = []

    async def read(self, asked: latencies.Asked) -> latencies.Reading:
        """As :class:`sluice.observe.latencies.Latencies` says."""
        self.asked.append(asked)
        if asked.job in self.hang:
            await asyncio.Event().wait()
        parts = tuple(
            latencies.Part(asked.namespace, asked.job, "clicks", executor, clock.now_s(), 20, took_ms, took_ms, took_ms)
            for executor, took_ms in self.ms.items()
        )
        return latencies.Reading("the play", () if self.problem else parts, self.problem)
