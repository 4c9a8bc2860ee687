"""Task times of a job's executors: one interface, from Prometheus or from the agents themselves. Made by main.

Whatever goes wrong is a sentence in the reading, never an error: a job whose times cannot be read is left as it is.
"""

import asyncio
from collections.abc import Sequence
from concurrent import futures
from typing import Any, Protocol

import prometheus_api_client
from prometheus_api_client import exceptions

from sluice.observe import histograms
from sluice.values import latencies

LONGEST_S = 330.0  # no window is longer, the last sample before it included
_PATIENCE_S = 4.0
_THREADS = 16


class Latencies(Protocol):
    """Where task times come from."""

    async def read(self, asked: latencies.Asked) -> latencies.Reading:
        """Those of the executors of one driver; within a few seconds, whatever happens."""
        ...


class FromPrometheus:
    """Asks for the raw samples: what a server would make of them (rates, quantiles) hides a reset and a wrong clock.

    Its client waits for each part of an answer, so it has threads of its own, and a limit for the whole.
    """

    def __init__(self, url: str, patience_s: float = _PATIENCE_S) -> None:
        self._url, self._patience_s = url.rstrip("/"), patience_s
        self._threads = futures.ThreadPoolExecutor(_THREADS, "prometheus")

    async def read(self, asked: latencies.Asked) -> latencies.Reading:
        """As its interface says."""
        loop = asyncio.get_running_loop()
        source = f"Prometheus at {self._url}"
        try:
            async with asyncio.timeout(self._patience_s):
                found = await loop.run_in_executor(self._threads, self._ask, asked)
            return latencies.Reading(source, histograms.parts(found, asked))
        except TimeoutError:
            return latencies.Reading(source, problem=f"{source} does not answer within {self._patience_s:g} s")
        except exceptions.PrometheusApiClientException as why:
            return latencies.Reading(source, problem=f"{source} refuses: {str(why)[:200]}")
        except (ValueError, KeyError, TypeError, AttributeError):  # before OSError: no JSON is both to its client
            return latencies.Reading(source, problem=f"what {source} answers makes no sense")
        except OSError as why:
            return latencies.Reading(source, problem=f"{source} cannot be asked: {type(why).__name__}")

    def _ask(self, asked: latencies.Asked) -> list[histograms.Series]:
        names = f"{histograms.METRIC}_(bucket|sum|count)"
        whose = f'streamjob_namespace="{asked.namespace}",streamjob="{asked.job}"'
        with prometheus_api_client.PrometheusConnect(self._url, retry=0, timeout=self._patience_s + 1) as line:
            return _series(line.custom_query(f'{{__name__=~"{names}",{whose}}}[{asked.window_s:.0f}s]'))


def _series(found: Sequence[Any]) -> list[histograms.Series]:
    return [
        histograms.Series(
            str(one["metric"]["__name__"]),
            {str(name): str(value) for name, value in one["metric"].items()},
            tuple(sorted((float(at_s), float(value)) for at_s, value in one["values"])),
        )
        for one in found
    ]
