"""Samples of `sluice_executor_task_seconds` as task times: counts and sums of a window, mean and quantiles. Pure.

The same for both sources (:mod:`sluice.observe.latencies`). Nothing is left out because it looks odd: plan judges.
"""

import collections
import dataclasses
import ipaddress
import itertools
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence

from sluice.values import latencies

METRIC = "sluice_executor_task_seconds"
_KINDS = (f"{METRIC}_bucket", f"{METRIC}_sum", f"{METRIC}_count")
_SLACK = 1e-6  # of a sum, for rounding


@dataclasses.dataclass(frozen=True)
class Series:
    """One line of a histogram, as it was at some moments; the earliest first."""

    name: str  # of the metric, its ending included
    labels: Mapping[str, str]
    samples: tuple[tuple[float, float], ...]  # since 1970 in seconds, value


Key = tuple[str, str, str, str]  # namespace, job, query, executor


@dataclasses.dataclass
class _Line:
    """What one series grew by."""

    at_s: float
    grown: float
    flaw: latencies.Flaw


def parts(found: Iterable[Series], asked: latencies.Asked) -> tuple[latencies.Part, ...]:
    """What each executor did since then, as far as the driver that was asked for says it."""
    lines: dict[Key, dict[str, list[_Line]]] = collections.defaultdict(lambda: collections.defaultdict(list))
    for series in found:
        if series.name in _KINDS and series.samples and not _of_another_driver(series.labels, asked):
            which = series.name.removeprefix(f"{METRIC}_") + series.labels.get("le", "")
            lines[_key(series.labels)][which].append(_line(series.samples, asked.since_s))
    return tuple(_part(key, lines[key]) for key in sorted(lines))


def _key(labels: Mapping[str, str]) -> Key:
    namespace, job, query, executor = ("streamjob_namespace", "streamjob", "query", "executor")
    return labels.get(namespace, ""), labels.get(job, ""), labels.get(query, ""), labels.get(executor, "")


def _of_another_driver(labels: Mapping[str, str], asked: latencies.Asked) -> bool:
    """Two drivers of one job number their executors alike; Prometheus adds where it has a series from."""
    if "pod" in labels:
        return labels["pod"] != asked.pod
    host = labels.get("instance", "").rpartition(":")[0].strip("[]")
    return _is_address(host) and host != asked.ip


def _is_address(host: str) -> bool:
    """Else somebody has called it as he likes, which tells nothing."""
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True


def _line(samples: Sequence[tuple[float, float]], since_s: float) -> _Line:
    """From the last sample before the window, or the first in it, to the last."""
    first = max((at for at, sample in enumerate(samples) if sample[0] <= since_s), default=0)
    values = [value for _, value in samples[first:]]
    if not all(math.isfinite(at_s) and math.isfinite(value) for at_s, value in samples):
        return _Line(samples[-1][0], math.nan, "NaN")
    fell = any(later < earlier for earlier, later in itertools.pairwise(values))
    return _Line(samples[-1][0], values[-1] - values[0], "Reset" if fell else "")


def _part(key: Key, lines: Mapping[str, Sequence[_Line]]) -> latencies.Part:
    everything = [line for found in lines.values() for line in found]
    at_s = min(line.at_s for line in everything)
    flaw: latencies.Flaw = "Twice" if any(len(found) > 1 for found in lines.values()) else ""
    for line in everything:
        flaw = flaw or line.flaw
    grown = {which: found[0].grown for which, found in lines.items()}
    buckets = sorted(_buckets(grown))
    flaw = flaw or _torn(grown, buckets)
    if flaw or "count" not in grown:
        return latencies.Part(*key, at_s, grown.get("count", 0.0), flaw=flaw)
    tasks = grown["count"]
    mean_ms = grown["sum"] / tasks * 1000 if tasks and "sum" in grown else None
    return latencies.Part(*key, at_s, tasks, mean_ms, _quantile_ms(buckets, 0.9), _quantile_ms(buckets, 0.99))


def _buckets(grown: Mapping[str, float]) -> Iterator[tuple[float, float]]:
    for which, value in grown.items():
        if which.startswith("bucket"):
            try:
                yield float(which.removeprefix("bucket")), value
            except ValueError:
                yield math.nan, value


def _torn(grown: Mapping[str, float], buckets: Sequence[tuple[float, float]]) -> latencies.Flaw:
    """One scrape has all of a histogram, so its lines agree."""
    if not buckets:
        return ""
    counts = [count for _, count in buckets]
    odd = any(math.isnan(edge) for edge, _ in buckets) or counts != sorted(counts)
    odd = odd or ("count" in grown and buckets[-1] != (math.inf, grown["count"]))
    least_s = sum(low_s * (count - below) for (low_s, below), (_, count) in itertools.pairwise(buckets))
    return "Torn" if odd or grown.get("sum", least_s) < least_s * (1 - _SLACK) else ""


def _quantile_ms(buckets: Sequence[tuple[float, float]], part: float) -> float | None:
    """As PromQL's histogram_quantile has it: straight between two edges; above the last one, that edge."""
    if len(buckets) < 2 or buckets[-1][1] <= 0:
        return None
    rank, low_s, below = part * buckets[-1][1], 0.0, 0.0
    for edge_s, count in buckets:
        if count >= rank and count > below and math.isfinite(edge_s):
            return (low_s + (edge_s - low_s) * (rank - below) / (count - below)) * 1000
        if math.isfinite(edge_s):
            low_s, below = edge_s, count
    return low_s * 1000
