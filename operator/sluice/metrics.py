"""What the operator counts of itself. The rooms call these functions; :mod:`sluice.web` shows the sum at `/metrics`.

Every label is bounded: what is not in its list, or too much, is called `other`. Names, labels and meanings stand in the
chart's README, too; a test compares them.
"""

import re
from collections.abc import Callable, Iterable, Mapping

import prometheus_client as prometheus
from prometheus_client import core, registry

REGISTRY = prometheus.CollectorRegistry()
prometheus.ProcessCollector(registry=REGISTRY)

PHASES = ("Pending", "Starting", "Running", "Restarting", "Stopping", "Suspended", "Completed", "Failed")
BALANCES = ("Waiting", "Balanced", "Shifting", "Refused")
RESTING = frozenset(("Suspended", "Completed"))
MOST_NAMED_JOBS = 200  # more than a person reads at 3 a.m.
_MOST_VALUES = 40  # of one open label
_SECONDS = (0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)
_WORD = re.compile(r"[A-Za-z][A-Za-z0-9-]{0,39}")
_OTHER = "other"

_cycle = prometheus.Histogram(
    "sluice_cycle_seconds", "One cycle, from waking to its last write.", ["of"], registry=REGISTRY, buckets=_SECONDS
)
_waited = prometheus.Histogram(
    "sluice_queue_wait_seconds", "What a wake-up waited for its cycle.", registry=REGISTRY, buckets=_SECONDS
)
_queue_jobs = prometheus.Gauge("sluice_queue_jobs", "Jobs that wait for their cycle now.", registry=REGISTRY)
_queue_age = prometheus.Gauge("sluice_queue_age_seconds", "How long the oldest of them has waited.", registry=REGISTRY)
_beat = prometheus.Gauge(
    "sluice_cycle_age_seconds", "Since a cycle last ended; the same that /healthz judges.", registry=REGISTRY
)
_decisions = prometheus.Counter(
    "sluice_decisions_total", "What was decided, by kind, as in status.decisions.", ["kind"], registry=REGISTRY
)
_refusals = prometheus.Counter(
    "sluice_refusals_total", "What was asked for and not done, by reason.", ["reason"], registry=REGISTRY
)
_latencies = prometheus.Histogram(
    "sluice_latency_read_seconds",
    "What reading the task times of a job took, in vain or not.",
    registry=REGISTRY,
    buckets=_SECONDS,
)
_leader = prometheus.Gauge("sluice_leader", "1 while this pod leads, else 0.", registry=REGISTRY)


class _Calls(registry.Collector):
    """The wire counts for itself, on the hot path; here it is only shown."""

    counts: Callable[[], Mapping[tuple[str, str, int], int]] = staticmethod(dict)

    def collect(self) -> Iterable[core.Metric]:
        calls = core.CounterMetricFamily(
            "sluice_api_calls",
            "Requests to the API server by method, plural and HTTP status, 0 for no answer.",
            labels=["method", "resource", "status"],
        )
        for (method, plural, status), count in sorted(self.counts().items()):
            calls.add_metric([method, plural, str(status)], count)
        yield calls


class _Jobs(registry.Collector):
    """Counted when asked for, so that a job that is gone leaves nothing behind."""

    standing: Callable[[], Mapping[tuple[str, str], tuple[str, bool]]] = staticmethod(dict)

    def collect(self) -> Iterable[core.Metric]:
        found = self.standing()
        jobs = core.GaugeMetricFamily("sluice_jobs", "StreamJobs by phase.", labels=["phase"])
        counted = dict.fromkeys((*PHASES, _OTHER), 0)
        for phase, _ in found.values():
            counted[phase if phase in counted else _OTHER] += 1
        for phase, count in counted.items():
            jobs.add_metric([phase], count)
        yield jobs
        named = core.GaugeMetricFamily(
            "sluice_job_unsettled",
            f"1 for each job that is not where it should stay; at most {MOST_NAMED_JOBS} are named.",
            labels=["streamjob_namespace", "streamjob", "phase"],
        )
        unsettled = sorted((*key, phase) for key, (phase, ready) in found.items() if not ready and phase not in RESTING)
        for namespace, job, phase in unsettled[:MOST_NAMED_JOBS]:
            named.add_metric([namespace, job, phase if phase in counted else _OTHER], 1)
        yield named


class _Balances(registry.Collector):
    """Counted when asked for, like jobs."""

    standing: Callable[[], Mapping[str, int]] = staticmethod(dict)

    def collect(self) -> Iterable[core.Metric]:
        balanced = core.GaugeMetricFamily(
            "sluice_balanced_jobs", "Jobs the latency loop looks after, by how they stand.", labels=["reason"]
        )
        found = self.standing()
        for reason in BALANCES:
            balanced.add_metric([reason], found.get(reason, 0))
        yield balanced


_jobs, _calls, _balances = _Jobs(), _Calls(), _Balances()
REGISTRY.register(_balances)
REGISTRY.register(_jobs)
REGISTRY.register(_calls)
_seen: dict[str, set[str]] = {}


def cycle_ended(of: str, took_s: float, waited_s: float) -> None:
    """A cycle of a `job`, of the `fleet`, or of a job's `balance`, is done."""
    _cycle.labels(_bounded("of", of)).observe(took_s)
    _waited.observe(waited_s)


def watch_queue(depth: Callable[[], int], oldest_s: Callable[[], float], cycle_age_s: Callable[[], float]) -> None:
    """Where to look when somebody asks how long the queue is."""
    _queue_jobs.set_function(depth)
    _queue_age.set_function(oldest_s)
    _beat.set_function(cycle_age_s)


def watch_jobs(standing: Callable[[], Mapping[tuple[str, str], tuple[str, bool]]]) -> None:
    """Where to look for the phase of every job and whether it is Ready, by namespace and name."""
    _jobs.standing = standing


def watch_calls(counts: Callable[[], Mapping[tuple[str, str, int], int]]) -> None:
    """Where the requests to the API server are counted: by method, plural and status, 0 for no answer."""
    _calls.counts = counts


def watch_balances(standing: Callable[[], Mapping[str, int]]) -> None:
    """Where to look for how many jobs of the latency loop are how."""
    _balances.standing = standing


def latencies_read(took_s: float) -> None:
    """Task times of a job were read, or could not be."""
    _latencies.observe(took_s)


def decided(kind: str) -> None:
    """A decision was written down."""
    _decisions.labels(_bounded("decision", kind)).inc()


def refused(reason: str) -> None:
    """Something was asked for and not done; a CamelCase reason as in conditions and events."""
    _refusals.labels(_bounded("reason", reason)).inc()


def leads(whether: bool) -> None:
    """Whether this pod does, from now on."""
    _leader.set(int(whether))


def _bounded(label: str, value: str) -> str:
    seen = _seen.setdefault(label, set())
    if value not in seen:
        if len(seen) >= _MOST_VALUES or not _WORD.fullmatch(value):
            return _OTHER
        seen.add(value)
    return value
