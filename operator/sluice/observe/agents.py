"""Task times from the agents beside the drivers, where there is no Prometheus. One of :mod:`sluice.observe.latencies`.

What a driver's pod answers is its user's word: bounded, never followed elsewhere, read in a thread.
"""

import asyncio
import collections
import time
from collections.abc import Callable, Iterator

import aiohttp
from prometheus_client import parser

from sluice.observe import histograms
from sluice.observe.latencies import LONGEST_S
from sluice.values import latencies

PORT = 7080
_PATIENCE_S = 4.0
_MOST_BYTES = 16 << 20
_MOST_DRIVERS = 5000
_Line = tuple[str, frozenset[tuple[str, str]]]  # name and labels


class FromAgents:
    """Keeps what it read of each driver as long as a window may be: one page alone tells nothing of a window."""

    def __init__(
        self, port: int = PORT, now_s: Callable[[], float] = time.time, patience_s: float = _PATIENCE_S
    ) -> None:
        self._port, self._now_s, self._patience_s = port, now_s, patience_s
        self._pages: collections.OrderedDict[str, list[tuple[float, dict[_Line, list[float]]]]] = (
            collections.OrderedDict()
        )  # by uid of a driver's pod

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
        return latencies.Reading(source, histograms.parts(self._series(asked.uid, page), asked))

    async def _fetch(self, ip: str) -> bytes:
        host = f"[{ip}]" if ":" in ip else ip
        found = bytearray()
        async with (
            aiohttp.ClientSession(auto_decompress=False, headers={"Accept-Encoding": "identity"}) as line,
            line.get(f"http://{host}:{self._port}/metrics", allow_redirects=False) as answer,
        ):
            if answer.status != 200:
                raise ValueError(f"HTTP {answer.status}")
            async for piece in answer.content.iter_any():
                found += piece
                if len(found) > _MOST_BYTES:
                    raise ValueError(f"more than {_MOST_BYTES >> 20} MiB")
        return bytes(found)

    def _series(self, uid: str, page: dict[_Line, list[float]]) -> Iterator[histograms.Series]:
        now_s = self._now_s()
        pages = [one for one in self._pages.pop(uid, []) if now_s - one[0] <= LONGEST_S]
        self._pages[uid] = pages = [*pages, (now_s, page)]
        if len(self._pages) > _MOST_DRIVERS:
            self._pages.popitem(last=False)
        for (name, labels), last in page.items():
            lines = [(at_s, old[name, labels]) for at_s, old in pages if (name, labels) in old]
            for number in range(len(last)):
                samples = tuple((at_s, values[min(number, len(values) - 1)]) for at_s, values in lines)
                yield histograms.Series(name, dict(labels), samples)


def _read(page: bytes) -> dict[_Line, list[float]]:
    """The lines of the one metric; a line that stands there twice has two values."""
    wanted = [line for line in page.decode().splitlines() if line.startswith(histograms.METRIC)]
    found: dict[_Line, list[float]] = {}
    for family in parser.text_string_to_metric_families("\n".join([*wanted, ""])):
        for sample in family.samples:
            found.setdefault((sample.name, frozenset(sample.labels.items())), []).append(float(sample.value))
    return found
