"""Where rebalancing is measured: three nodes with an executor each and so much CPU, and a fourth with the driver.

The job (:mod:`bench.rebalance_job`) does one phase after another. Sluice's hands are laid on and taken off by
`spec.rebalance`, as a user would, when a phase that is ours begins.
"""

import collections
import contextlib
import dataclasses
import json
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from prometheus_client import parser, samples

from demo import operators, plain_spark, streamjobs, topics
from house import paths, trouble
from sluice.values import names
from testbed import cluster, target

_NAMESPACE, _RELEASE = "bench-rebalance", "bench-rebalance-operator"
NODES = 4
_ROOT = f"s3a://{plain_spark.BUCKET}/{_NAMESPACE}/balanced"
PROGRAM = paths.ROOT / "tests" / "bench" / "rebalance_job.py"
_FILES = {PROGRAM.name: PROGRAM, "bench/rebalance_workloads.py": PROGRAM.with_name("rebalance_workloads.py")}
_SLICE_S = 3600
ROWS, STEPS = 600, 80_000  # a batch's, and a row's: about a second and a half of CPU time a batch
_MOST_BATCHES = 100  # of a phase
WARM = 12  # batches at the beginning of each phase that do not count
Spec = Mapping[str, Any]
Look = Callable[[streamjobs.Job, str], None]  # at the end of a phase, by its way
OBSERVED: Spec = {"mode": "Observe", "latency": {"enabled": False}}
COPIES = {  # a limit of the user's own: the program sets it, and Sluice lays no hand on it
    "spark.speculation": "true",
    "spark.speculation.efficiency.enabled": "false",
    "spark.speculation.interval": "50ms",
    "spark.speculation.minTaskRuntime": "50ms",
    "spark.speculation.multiplier": "100",
}


@dataclasses.dataclass(frozen=True)
class Way:
    """How batches are cut and watched."""

    name: str
    partitions: int
    speculation: tuple[str, str] = ("100", "0.75")  # Spark's multiplier and quantile
    rebalance: Spec = dataclasses.field(default_factory=lambda: OBSERVED)
    kind: str = "plain"
    rows: int = 0  # a batch; 0: as many as of every way

    def phase(self, batches: int) -> dict[str, Any]:
        """As the program reads it."""
        multiplier, quantile = self.speculation
        return {
            "name": self.name, "kind": self.kind, "partitions": self.partitions, "batches": batches,
            "multiplier": multiplier, "quantile": quantile, "rows": self.rows,
        }  # fmt: skip


def _nobody_looks(_: streamjobs.Job, _way: str) -> None:
    """Of most measurements how long batches took is enough."""


@contextlib.contextmanager
def slowed(shares: Mapping[str, str]) -> Iterator[None]:
    """Nodes with so much of a core each, until the end of the block."""
    testbed = cluster.Cluster()
    try:
        for node, share in shares.items():
            testbed.slow(node, share)
        yield
    finally:
        for node in shares:
            testbed.slow(node, "full")


@contextlib.contextmanager
def running(
    rows: int, steps: int, phases: Sequence[Mapping[str, Any]], conf: Mapping[str, str]
) -> Iterator[streamjobs.Job]:
    """The job, Ready; at the end nothing of it is left."""
    words = {"rows": rows, "steps": steps, "root": _ROOT, "phases": list(phases)}
    kube = target.connect()
    operator = operators.Operator(kube, _RELEASE, (_NAMESPACE,), {"nodeSelector": _on(node(3))})
    operator.prepare()
    try:
        operator.install()
        job = streamjobs.fresh(kube, _NAMESPACE, "balanced")
        _fill_topics(kube, {phase["partitions"] for phase in phases if phase["kind"] == "kafka"}, rows * len(phases))
        kube.kubectl("-n", _NAMESPACE, "apply", "-f", "-", text=json.dumps(_program()))
        job.apply(**_usual(words, conf))
        job.wait("condition=Ready")
        yield job
    finally:
        operator.uninstall()
        operator.clear()


@contextlib.contextmanager
def measuring(
    ways: Sequence[Way],
    batches: int,
    shares: Sequence[int] = (),
    rounds: int = 1,
    conf: Mapping[str, str] = COPIES,
    look: Look = _nobody_looks,
) -> Iterator[tuple[streamjobs.Job, dict[str, list[float]]]]:
    """The ways in turns, on nodes with so many percent of a core each: how long warm batches took. None: all of it."""
    phases = [way.phase(WARM + batches) for _ in range(rounds) for way in ways]
    with running(ROWS, STEPS, phases, conf) as job:
        with slowed({node(number): f"{share}%" for number, share in enumerate(shares)}):
            ran = follow(job, ways, len(phases), look)
        yield job, {name: [one for part in parts for one in part[WARM:]] for name, parts in ran.items()}


def node(number: int) -> str:
    """The name of one of the nodes, from 0."""
    return cluster.Cluster().nodes[number]


def follow(
    job: streamjobs.Job, ways: Sequence[Way], phases: int, look: Look = _nobody_looks
) -> dict[str, list[list[float]]]:
    """Lays hands on when a phase that wants them begins; how long each batch of each phase took, by way.

    `look` comes at the end of each phase: five minutes later the agent has forgotten a query that ended.
    """
    wanted = {way.name: way.rebalance for way in ways}
    found: dict[str, list[list[float]]] = {way.name: [] for way in ways}
    with _lines(job) as lines:
        for line in lines:
            said = json.loads(line) if line.startswith("{") else {}
            if "begins" in said:
                job.change(rebalance=wanted[said["name"]])
            elif "ended" in said:
                found[said["name"]].append(said["took_s"])
                look(job, said["name"])
                done = sum(len(parts) for parts in found.values())
                print(f"{done}/{phases} {said['name']}: {_median(said['took_s'][WARM:]):.2f} s", flush=True)
            elif "over" in said:
                return found
    raise trouble.Trouble(f"the driver's log ended before its last phase: {job.log()[-500:]}")


def cpu_s(job: streamjobs.Job, query: str) -> float:
    """CPU time of a batch's tasks, as the agent has measured it."""
    sums = _measured(job, query)
    return sums["sluice_executor_cpu_seconds_total"] / sums["sluice_query_batches_total"]


def run_s(job: streamjobs.Job, query: str) -> float:
    """How long a batch's tasks ran, all together, those that were beaten by another attempt among them."""
    sums = _measured(job, query)
    ran_s = sums["sluice_executor_run_seconds_total"] + sums["sluice_executor_lost_seconds_total"]
    return ran_s / sums["sluice_query_batches_total"]


def own_share(job: streamjobs.Job, query: str) -> float:
    """Which part of its batches' time measuring and cutting took."""
    sums = _measured(job, query)
    return sums["sluice_query_measuring_seconds_total"] / sums["sluice_query_batch_seconds_sum"]


def page(job: streamjobs.Job, port: int, path: str) -> str:
    """What the driver's pod answers, through the API server."""
    pod = job.status()["driver"]["pod"]
    return job.kube.kubectl("get", "--raw", f"/api/v1/namespaces/{job.namespace}/pods/{pod}:{port}/proxy/{path}")


def samples_of(job: streamjobs.Job, query: str) -> Iterator[samples.Sample]:
    """All that the agent has measured of a query."""
    for family in parser.text_string_to_metric_families(page(job, 7080, "metrics")):
        yield from (sample for sample in family.samples if sample.labels.get("query") == query)


def _measured(job: streamjobs.Job, query: str) -> dict[str, float]:
    """All samples of a query by name, summed over executors."""
    sums: dict[str, float] = collections.defaultdict(float)
    for sample in samples_of(job, query):
        sums[sample.name] += sample.value
    return sums


def _median(values: Sequence[float]) -> float:
    return sorted(values)[len(values) // 2] if values else 0.0


@contextlib.contextmanager
def _lines(job: streamjobs.Job) -> Iterator[Iterator[str]]:
    """The driver's log, as it grows; for no longer than an hour."""
    driver = job.status()["driver"]["pod"]
    process = job.kube.begin("-n", job.namespace, "logs", "-f", driver, "-c", names.DRIVER_CONTAINER)
    clock = threading.Timer(_SLICE_S, process.terminate)
    clock.start()
    try:
        assert process.stdout is not None
        yield iter(process.stdout)
    finally:
        clock.cancel()
        process.terminate()
        process.wait()


def _fill_topics(kube: target.Target, partitions: Iterable[int], rows: int) -> None:
    """With more numbers than all phases of a kind read."""
    for number in partitions:
        topics.create(kube, f"rebalance-{number}", number)
        feed = topics.feed(kube, f"rebalance-{number}")
        feed.communicate("".join(f"{value}\n" for value in range(rows * _MOST_BATCHES)))
        if feed.returncode:
            raise trouble.Trouble(f"rebalance-{number} could not be filled")


def _usual(words: Mapping[str, Any], conf: Mapping[str, str]) -> dict[str, Any]:
    driver = streamjobs.template(names.DRIVER_CONTAINER)
    (container,) = driver["spec"]["containers"]
    container["volumeMounts"] = [{"name": "program", "mountPath": "/program"}]
    items = [{"key": file.name, "path": path} for path, file in _FILES.items()]
    driver["spec"]["volumes"] = [{"name": "program", "configMap": {"name": "program", "items": items}}]
    driver["spec"]["nodeSelector"] = _on(node(3))
    executors = streamjobs.template(names.EXECUTOR_CONTAINER)
    executors["spec"]["affinity"] = _elsewhere(node(3))
    return {
        "application": {"file": f"local:///program/{PROGRAM.name}", "args": [json.dumps(dict(words))]},
        "checkpoint": {"location": _ROOT},
        "driver": {"template": driver},
        "executors": {"count": 3, "cores": 1, "maxPerNode": 1, "template": executors},
        "sparkConf": {**plain_spark.S3, **conf, "spark.sql.shuffle.partitions": "3"},
        "rebalance": OBSERVED,
    }


def _on(name: str) -> dict[str, str]:
    return {"kubernetes.io/hostname": name}


def _elsewhere(name: str) -> dict[str, Any]:
    rule = {"key": "kubernetes.io/hostname", "operator": "NotIn", "values": [name]}
    required = {"nodeSelectorTerms": [{"matchExpressions": [rule]}]}
    return {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": required}}


def _program() -> dict[str, Any]:
    data = {file.name: file.read_text() for file in _FILES.values()}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "program"}, "data": data}
