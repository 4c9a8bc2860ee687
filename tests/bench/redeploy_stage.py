"""Where redeploys are measured: an operator on the cluster, `relay` under a steady load, and what arrives at its sink.

The examples' own program copies one topic of Kafka to another; each record is a number, so that a lost or a repeated
one is seen, and each carries the moment it was written, so that a pause is.
"""

import contextlib
import dataclasses
import itertools
import json
import threading
import time
from collections.abc import Iterator
from typing import Any

import kafka

from demo import operators, plain_spark, streamjobs
from e2e import kafka as topics
from sluice.values import names
from testbed import addons, cluster, target

_NAMESPACE, _RELEASE = "bench-redeploy", "bench-redeploy-operator"
RECORDS_S = 200
_SOURCE, _SINK = "redeploy-in", "redeploy-out"
_SERVERS = "127.0.0.1:29092"
_CLAIM = {
    "apiVersion": "v1",
    "kind": "PersistentVolumeClaim",
    "metadata": {"name": "relay"},
    "spec": {
        "storageClassName": "shared",
        "accessModes": ["ReadWriteMany"],
        "resources": {"requests": {"storage": "1Gi"}},
    },
}
_CHECKPOINT = {"location": "/checkpoints/relay", "volume": {"persistentVolumeClaim": {"claimName": "relay"}}}
_PATIENCE_S = 600


@dataclasses.dataclass
class Load:
    """Numbers from 0 on, so many a second."""

    sent: int = 0
    stops: bool = False

    def run(self) -> None:
        """Until it is told to stop."""
        producer = kafka.KafkaProducer(bootstrap_servers=_SERVERS, linger_ms=0)
        began_s = time.monotonic()
        for number in itertools.count():
            if self.stops:
                break
            time.sleep(max(0.0, began_s + number / RECORDS_S - time.monotonic()))
            producer.send(_SOURCE, value=str(number).encode(), partition=number % topics.PARTITIONS)
            self.sent = number + 1
        producer.close()


@dataclasses.dataclass(frozen=True)
class Arrived:
    """At the sink: each record's number and moment, in the order of the moments."""

    sent: int
    records: tuple[tuple[int, int], ...]

    @property
    def lost(self) -> int:
        """How many never came."""
        return self.sent - len({number for number, _ in self.records})

    def repeated(self, since_ms: float = 0.0) -> int:
        """How many came again, from a moment on."""
        seen: set[int] = set()
        again = [at_ms for number, at_ms in self.records if number in seen or seen.add(number)]  # type: ignore[func-returns-value]
        return sum(at_ms >= since_ms for at_ms in again)

    def first_after_ms(self, since_ms: float) -> int:
        """The moment of the first one after another moment."""
        return min(at_ms for _, at_ms in self.records if at_ms > since_ms)

    def longest_gap_ms(self, since_ms: float, until_ms: float) -> int:
        """The longest time in which nothing arrived."""
        inside = [at_ms for _, at_ms in self.records if since_ms <= at_ms <= until_ms]
        return max((later - earlier for earlier, later in itertools.pairwise(inside)), default=0)


@contextlib.contextmanager
def relay(operator_on: str = "", **spec: Any) -> Iterator[tuple[streamjobs.Job, Load]]:
    """The job, Ready and under load; at the end nothing of it is left."""
    kube = target.connect()
    there = {"nodeSelector": {"kubernetes.io/hostname": operator_on}} if operator_on else {}
    operator = operators.Operator(kube, _RELEASE, (_NAMESPACE,), there)
    addons.supply_volumes(kube.kubeconfig, cluster.Cluster().home / "volumes")
    operator.prepare()
    try:
        operator.install()
        for topic in (_SOURCE, _SINK):
            topics.create(kube, topic)
        job = streamjobs.fresh(kube, _NAMESPACE, "relay")
        places = ["--source", f"kafka:{_SOURCE}", "--sink", f"kafka:{_SINK}", "--servers", "kafka.testbed:9092"]
        kube.kubectl("-n", _NAMESPACE, "apply", "-f", "-", text=json.dumps(_CLAIM))
        executors = {"count": 2, "template": streamjobs.template(names.EXECUTOR_CONTAINER)}
        usual = {"executors": executors, "checkpoint": _CHECKPOINT}
        job.apply(application={"file": "local:///opt/pipelines/relay.py", "args": places}, **(usual | spec))
        job.wait("condition=Ready")
        load = Load()
        thread = threading.Thread(target=load.run, daemon=True)
        thread.start()
        try:
            plain_spark.until("records arrive", lambda: topics.count(kube, _SINK) > 1000, _PATIENCE_S)
            yield job, load
        finally:
            load.stops = True
            thread.join()
    finally:
        operator.uninstall()
        operator.clear()


def count(job: streamjobs.Job) -> int:
    """Records at the sink so far."""
    return topics.count(job.kube, _SINK)


def arrived(job: streamjobs.Job, load: Load) -> Arrived:
    """Everything that was sent, once it has come through."""
    plain_spark.until("all has arrived", lambda: topics.count(job.kube, _SINK) >= load.sent, _PATIENCE_S)
    many = topics.count(job.kube, _SINK)
    consumer = kafka.KafkaConsumer(
        _SINK, bootstrap_servers=_SERVERS, auto_offset_reset="earliest", consumer_timeout_ms=10_000
    )
    found = [(int(record.value), record.timestamp) for record in itertools.islice(consumer, many)]
    consumer.close()
    return Arrived(load.sent, tuple(sorted(found, key=lambda pair: pair[1])))
