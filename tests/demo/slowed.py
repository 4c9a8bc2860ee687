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
_SEEN, _SETTLED = 7, 4  # batches to look at, before and after, and those at the end that tell how long one takes
_SMALL = 1 / 6  # half of what each of three would have
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

    @property
    def batch_s(self) -> float:
        """How long one took."""
        return self.took_s / self.batches

    def share(self, name: str) -> float:
        """Which part of all rows an executor read."""
        return self.rows[name] / (self.rows.total() or 1)

    def line(self) -> str:
        """One line of the picture."""
        shares = {name: self.share(name) for name in sorted(self.rows)}
        bars = (f"{name} {'█' * round(_WIDTH * share):<{_WIDTH}} {share:4.0%}" for name, share in shares.items())
        return f"a batch takes {self.batch_s:4.1f} s   {'   '.join(bars)}"


def show(kube: target.Target, namespace: str, say: Say) -> None:
    """Fast, slow, and fast again."""
    job = _start(kube, namespace, say)
    node, executor = _away_from_driver(job)
    before = _draw(job, say, lambda found: len(found) >= _SEEN)
    say(f"{node} gets {_CORE} of a core: {executor} is on it")
    with _slowed(node):
        after = _draw(job, say, lambda found: len(found) >= _SEEN and _has_little(executor, found[-_SETTLED:]))
        say(f"the condition Balanced says: {_told(job, executor)}")
    worst_s, share = max(one.batch_s for one in after), after[-1].share(executor)
    say(f"== a batch took {_usual_s(before):.1f} s; on the slow node up to {worst_s:.1f} s; with the input cut so that")
    say(f"== {executor} has {share:.0%} of it, {_usual_s(after):.1f} s")
    job.delete()


def _usual_s(found: list[Sums]) -> float:
    return statistics.median(one.batch_s for one in found[-_SETTLED:])


def _has_little(executor: str, found: list[Sums]) -> bool:
    return all(one.share(executor) < _SMALL for one in found)


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
    """A node without the driver, and the executor there, as the picture names it."""
    (driver,) = job.pods(names.DRIVER)
    pod = next(pod for pod in job.pods(names.EXECUTOR) if pod["spec"]["nodeName"] != driver["spec"]["nodeName"])
    return pod["spec"]["nodeName"], f"executor {pod['metadata']['labels']['spark-exec-id']}"


@contextlib.contextmanager
def _slowed(node: str) -> Iterator[None]:
    testbed = cluster.Cluster()
    testbed.slow(node, _CORE)
    try:
        yield
    finally:
        testbed.slow(node, "full")


def _draw(job: streamjobs.Job, say: Say, is_done: Callable[[list[Sums]], bool]) -> list[Sums]:
    """A line whenever a batch has ended, until that is all."""
    told, found = _sums(job), list[Sums]()

    def seen() -> bool:
        nonlocal told
        now = _sums(job)
        new = now.since(told)
        if new.batches and new.rows.total():
            say(new.line())
            found.append(new)
            told = now
        return is_done(found)

    plain_spark.until("its input is cut to it", seen, _PATIENCE_S)
    return found


def _told(job: streamjobs.Job, executor: str) -> str:
    """What the status tells of it."""

    def message() -> str:
        found: str = next(one["message"] for one in job.status()["conditions"] if one["type"] == "Balanced")
        return found

    plain_spark.until(f"the status names {executor}", lambda: f"{executor} on" in message(), _PATIENCE_S)
    return message()


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
