"""Task times from the agents beside the drivers, where there is no Prometheus. One of :mod:`sluice.observe.latencies`.

What a driver's pod answers is its user's word: fetched by :mod:`sluice.observe.pages`, read in a thread.
"""

import asyncio
import sys
import time
from collections.abc import Callable, Iterator

import aiohttp
from prometheus_client import parser

from sluice.observe import histograms, pages
from sluice.observe.latencies import LONGEST_S
from sluice.values import latencies

_PATIENCE_S = 4.0
_MOST_BYTES = 16 << 20
_LABELS = ("streamjob_namespace", "streamjob", "query", "executor", "le")
_Line = tuple[str, ...]  # the metric's name, those labels, and a number, for a line may stand there twice
_Page = tuple[float, dict[_Line, float]]  # since 1970, and what stood there


class FromAgents:
    """Keeps what it read of each driver since its window began: one page alone tells nothing of a window."""

    def __init__(
        self, port: int = pages.PORT, now_s: Callable[[], float] = time.time, patience_s: float = _PATIENCE_S
    ) -> None:
        self._port, self._now_s, self._patience_s = port, now_s, patience_s
        self._pages: dict[str, list[_Page]] = {}  # by uid of a driver's pod; who was read last is last

    async def read(self, asked: latencies.Asked) -> latencies.Reading:
        """As its interface says."""
        source = f"the agent of {asked.pod}"
        try:
            async with asyncio.timeout(self._patience_s):
                page = await asyncio.to_thread(_read, await self._fetch(asked.ip))
        except TimeoutError:
            return latencies.Reading(source, problem=f"{source} does not answer within {self._patience_s:g} s")
        except (aiohttp.ClientError, OSError) as why:
            return latencies.Reading(source, problem=f"{source} cannot be asked: {type(why).__name__}")
        except ValueError as why:
            return latencies.Reading(source, problem=f"what {source} answers makes no sense: {str(why)[:200]}")
        return latencies.Reading(source, histograms.parts(self._series(asked, page), asked))

    async def _fetch(self, ip: str) -> bytes:
        async with pages.session(aiohttp.ClientTimeout(total=self._patience_s)) as line:
            return await pages.get(line, ip, self._port, "/metrics", _MOST_BYTES)

    def _series(self, asked: latencies.Asked, page: dict[_Line, float]) -> Iterator[histograms.Series]:
        kept = self._kept(asked, page)
        for line in kept[-1][1]:
            samples = tuple((at_s, values[line]) for at_s, values in kept if line in values)
            yield histograms.Series(line[0], dict(zip(_LABELS, line[1:-1], strict=True)), samples)

    def _kept(self, asked: latencies.Asked, page: dict[_Line, float]) -> list[_Page]:
        """With this page; of thousands of drivers each page counts, so no older one than a window needs stays."""
        now_s = self._now_s()
        kept = [one for one in self._pages.pop(asked.uid, []) if now_s - one[0] <= LONGEST_S]
        known = {line: line for line in kept[-1][1]} if kept else {}
        kept.append((now_s, {known.get(line, line): value for line, value in page.items()}))
        first = max((at for at, one in enumerate(kept) if one[0] <= asked.since_s), default=0)
        self._pages[asked.uid] = kept[first:]
        while now_s - self._pages[oldest := next(iter(self._pages))][-1][0] > LONGEST_S:
            del self._pages[oldest]
        return kept[first:]


def _read(page: bytes) -> dict[_Line, float]:
    """The lines of the one metric."""
    wanted = [line for line in page.decode().splitlines() if line.startswith(histograms.METRIC)]
    found: dict[_Line, float] = {}
    for family in parser.text_string_to_metric_families("\n".join([*wanted, ""])):
        for sample in family.samples:
            labels = tuple(sys.intern(sample.labels.get(name, "")) for name in _LABELS)
            number = 0
            while (line := (sys.intern(sample.name), *labels, str(number))) in found:
                number += 1
            found[line] = float(sample.value)
    return found
