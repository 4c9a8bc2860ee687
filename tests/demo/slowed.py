"""The last act of `make demo`: a node is slowed before your eyes, and its executor's share of the input goes with it.

The picture is drawn from what the driver's agent shows Prometheus.
"""

import collections
import contextlib
import dataclasses
import json
import statistics
from collections.abc import Callable, Iterator

import yaml
from prometheus_client import parser

from crds import schema
from demo import plain_spark, streamjobs
from sluice.values import names
from testbed import cluster, images, target

_EXAMPLE, _ROWS_S = "grep", 48_000
_CORE = "12%"
_SEEN, _SETTLED = 9, 4  # batches to look at, before and after, and those at the end that tell how long one takes
_AGAIN = 1.5  # times as long as before: as good as before, for there is less CPU now
_PATIENCE_S = 90.0
_WIDTH = 20
Say = Callable[[str], None]


@dataclasses.dataclass(frozen=True)
class Sums:
    """What the agent has counted: batches, their time, and each executor's rows."""

    batches: float
    took_s: float
    rows: collections.Counter[str]

    def since(self, before: "Sums") -> "Sums":
        """What came on top."""
        rows = collections.Counter({name: count - before.rows[name] for name, count in self.rows.items()})
        return Sums(self.batches - before.batches, self.took_s - before.took_s, rows)

    def line(self) -> str:
        """One line of the picture."""
        all_rows = self.rows.total() or 1
        shares = {name: count / all_rows for name, count in sorted(self.rows.items())}
        bars = (f"{name} {'█' * round(_WIDTH * share):<{_WIDTH}} {share:4.0%}" for name, share in shares.items())
        return f"a batch takes {self.took_s / self.batches:4.1f} s   {'   '.join(bars)}"


def show(kube: target.Target, namespace: str, say: Say) -> None:
    """Fast, slow, and fast again."""
    job = _start(kube, namespace, say)
    node, executor = _away_from_driver(job)
    usual_s = statistics.median(_draw(job, say, lambda took_s: len(took_s) >= _SEEN)[-_SETTLED:])
    say(f"{node} gets {_CORE} of a core: executor {executor} is on it")
    with _slowed(node):
        took_s = _draw(job, say, lambda found: _is_fast_again(found, usual_s))
    now_s, worst_s = statistics.median(took_s[-_SETTLED:]), max(took_s)
    say(f"== a batch took {usual_s:.1f} s; on the slow node {worst_s:.1f} s; with the input cut to it {now_s:.1f} s")
    job.delete()


def _start(kube: target.Target, namespace: str, say: Say) -> streamjobs.Job:
    """The example with more rows, an executor on each node, and a checkpoint of the demo's own."""
    body = yaml.safe_load((schema.EXAMPLES / f"{_EXAMPLE}.yaml").read_text())
    spec = body["spec"]
    spec["image"] = images.EXAMPLES.ref()
    spec["application"]["args"] = ["--source", f"rate:{_ROWS_S}", "--sink", "noop"]
    spec["checkpoint"]["location"] = f"s3a://{plain_spark.BUCKET}/{namespace}/{_EXAMPLE}"
    spec["executors"].update(count=3, maxPerNode=1)
    say(f"another StreamJob, {_EXAMPLE}: {_ROWS_S} lines a second through a Python function, an executor on each node")
    job = streamjobs.fresh(kube, namespace, _EXAMPLE)
    kube.kubectl("-n", namespace, "apply", "-f", "-", text=json.dumps(body))
    job.wait("condition=Ready")
    plain_spark.until("three executors", lambda: len(job.running(names.EXECUTOR)) == 3, _PATIENCE_S)
    return job


def _away_from_driver(job: streamjobs.Job) -> tuple[str, str]:
    """A node without the driver, and the executor there by Spark's name for it."""
    (driver,) = job.pods(names.DRIVER)
    pod = next(pod for pod in job.pods(names.EXECUTOR) if pod["spec"]["nodeName"] != driver["spec"]["nodeName"])
    return pod["spec"]["nodeName"], pod["metadata"]["labels"]["spark-exec-id"]


@contextlib.contextmanager
def _slowed(node: str) -> Iterator[None]:
    testbed = cluster.Cluster()
    testbed.slow(node, _CORE)
    try:
        yield
    finally:
        testbed.slow(node, "full")


def _draw(job: streamjobs.Job, say: Say, is_done: Callable[[list[float]], bool]) -> list[float]:
    """A line whenever a batch has ended, until that is all; how long they took."""
    told, took_s = _sums(job), list[float]()

    def seen() -> bool:
        nonlocal told
        now = _sums(job)
        if new := now.since(told).batches:
            say(now.since(told).line())
            took_s.append(now.since(told).took_s / new)
            told = now
        return is_done(took_s)

    plain_spark.until("a batch takes as long as it should", seen, _PATIENCE_S)
    return took_s


def _is_fast_again(took_s: list[float], usual_s: float) -> bool:
    return len(took_s) >= _SEEN and statistics.median(took_s[-_SETTLED:]) <= _AGAIN * usual_s


def _sums(job: streamjobs.Job) -> Sums:
    pod = job.status()["driver"]["pod"]
    page = job.kube.kubectl("get", "--raw", f"/api/v1/namespaces/{job.namespace}/pods/{pod}:7080/proxy/metrics")
    batches, took_s, rows = 0.0, 0.0, collections.Counter[str]()
    for family in parser.text_string_to_metric_families(page):
        for sample in family.samples:
            batches += sample.value if sample.name == "sluice_query_batch_seconds_count" else 0
            took_s += sample.value if sample.name == "sluice_query_batch_seconds_sum" else 0
            if sample.name == "sluice_executor_input_rows_total":
                rows[f"executor {sample.labels['executor']}"] += int(sample.value)
    return Sums(batches, took_s, rows)
