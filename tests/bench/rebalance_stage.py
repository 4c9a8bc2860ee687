"""Where rebalancing is measured: three nodes with an executor each and so much CPU, and a fourth with the driver.

The job (:mod:`bench.rebalance_job`) does one phase after another. Sluice's hands are laid on and taken off by
`spec.rebalance`, as a user would, when a phase that is ours begins.
"""

import collections
import contextlib
import dataclasses
import json
import threading
import time
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from typing import Any

from prometheus_client import parser

from demo import operators, plain_spark, streamjobs, topics
from house import paths, trouble
from sluice.values import names
from testbed import cluster, target

_NAMESPACE, _RELEASE = "bench-rebalance", "bench-rebalance-operator"
NODES = 4
_ROOT = f"s3a://{plain_spark.BUCKET}/{_NAMESPACE}/balanced"
PROGRAM = paths.ROOT / "tests" / "bench" / "rebalance_job.py"
_SLICE_S = 3600
ROWS, STEPS = 600, 80_000  # a batch's, and a row's: about a second and a half of CPU time a batch
_MOST_BATCHES = 100  # of a phase
WARM = 12  # batches at the beginning of each phase that do not count
Spec = Mapping[str, Any]
Sums = Mapping[str, float]  # what an agent has measured of a query, summed over executors, by name
_SPREAD = {  # as a user without Sluice would have it
    "maxSkew": 1,
    "topologyKey": "kubernetes.io/hostname",
    "whenUnsatisfiable": "ScheduleAnyway",
    "labelSelector": {"matchLabels": {names.ROLE: names.EXECUTOR}},
}
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

    def phase(self, batches: int) -> dict[str, Any]:
        """As the program reads it."""
        multiplier, quantile = self.speculation
        return {
            "name": self.name, "kind": self.kind, "partitions": self.partitions, "batches": batches,
            "multiplier": multiplier, "quantile": quantile,
        }  # fmt: skip


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


def slow(number: int, percent: int) -> float:
    """Gives a node, from 0, so many percent of a core; when it was done, since 1970."""
    cluster.Cluster().slow(node(number), f"{percent}%")
    return time.time()


@contextlib.contextmanager
def running(
    rows: int, steps: int, phases: Sequence[Mapping[str, Any]], conf: Mapping[str, str], plain: bool = False
) -> Iterator[streamjobs.Job]:
    """The job, Ready, or the same as plain Spark; at the end nothing of it is left."""
    words = {"rows": rows, "steps": steps, "root": _ROOT, "phases": list(phases)}
    kube = target.connect()
    values = {"nodeSelector": _on(node(3)), **({"pluginImage": ""} if plain else {})}
    operator = operators.Operator(kube, _RELEASE, (_NAMESPACE,), values)
    operator.prepare()
    try:
        operator.install()
        job = streamjobs.fresh(kube, _NAMESPACE, "balanced")
        _fill_topics(kube, {phase["partitions"] for phase in phases if phase["kind"] == "kafka"}, rows * len(phases))
        kube.kubectl("-n", _NAMESPACE, "apply", "-f", "-", text=json.dumps(_program()))
        job.apply(**_usual(words, conf, plain))
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
) -> Iterator[tuple[dict[str, Sums], dict[str, list[float]]]]:
    """The ways in turns, on nodes with so many percent of a core, or all of it: sums, how long warm batches took."""
    phases = [way.phase(WARM + batches) for _ in range(rounds) for way in ways]
    with running(ROWS, STEPS, phases, conf) as job:
        with slowed({node(number): f"{share}%" for number, share in enumerate(shares)}):
            told, ran = follow(job, ways, len(phases))
        yield told, {name: [one for part in parts for one in part[WARM:]] for name, parts in ran.items()}


def node(number: int) -> str:
    """The name of one of the nodes, from 0."""
    return cluster.Cluster().nodes[number]


def follow(
    job: streamjobs.Job, ways: Sequence[Way], phases: int
) -> tuple[dict[str, Sums], dict[str, list[list[float]]]]:
    """By way: what the agent has measured, asked as a phase ends, for it soon forgets; how long each batch took."""
    told: dict[str, Sums] = {}
    found: dict[str, list[list[float]]] = {way.name: [] for way in ways}
    for said in listen(job, ways):
        if "ended" in said:
            told[said["name"]] = sums(job, said["name"])
            found[said["name"]].append(said["took_s"])
            done = sum(len(parts) for parts in found.values())
            print(f"{done}/{phases} {said['name']}: {_median(said['took_s'][WARM:]):.2f} s", flush=True)
    return told, found


def listen(job: streamjobs.Job, ways: Sequence[Way]) -> Generator[dict[str, Any], None, None]:
    """What the program says, as it says it, to its last word; lays hands on when a phase that wants them begins."""
    wanted = {way.name: way.rebalance for way in ways}
    with _lines(job) as lines:
        for line in lines:
            said = json.loads(line) if line.startswith("{") else {}
            if "begins" in said:
                job.change(rebalance=wanted[said["name"]])
            if said:
                yield said
            if "over" in said:
                return
    raise trouble.Trouble(f"the driver's log ended before its last phase: {job.log()[-500:]}")


def cpu_s(told: Sums) -> float:
    """CPU time of a batch's tasks."""
    return told["sluice_executor_cpu_seconds_total"] / told["sluice_query_batches_total"]


def run_s(told: Sums) -> float:
    """How long a batch's tasks ran, all together, those that were beaten by another attempt among them."""
    ran_s = told["sluice_executor_run_seconds_total"] + told["sluice_executor_lost_seconds_total"]
    return ran_s / told["sluice_query_batches_total"]


def own_share(told: Sums) -> float:
    """Which part of its batches' time measuring and cutting took."""
    return told["sluice_query_measuring_seconds_total"] / told["sluice_query_batch_seconds_sum"]


def sums(job: streamjobs.Job, query: str) -> Sums:
    """Of a query that runs, or has ended in the last minutes."""
    found: dict[str, float] = collections.defaultdict(float)
    for name, _, value in samples(job, query):
        found[name] += value
    return dict(found)


def samples(job: streamjobs.Job, query: str) -> list[tuple[str, str, float]]:
    """What the driver's agent tells of a query: names, executors where there are any, values."""
    pod = job.status()["driver"]["pod"]
    text = job.kube.kubectl("get", "--raw", f"/api/v1/namespaces/{job.namespace}/pods/{pod}:7080/proxy/metrics")
    told = [sample for family in parser.text_string_to_metric_families(text) for sample in family.samples]
    mine = (one for one in told if one.labels.get("query") == query)
    return [(one.name, one.labels.get("executor", ""), one.value) for one in mine]


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


def _usual(words: Mapping[str, Any], conf: Mapping[str, str], plain: bool) -> dict[str, Any]:
    driver = streamjobs.template(names.DRIVER_CONTAINER)
    (container,) = driver["spec"]["containers"]
    container["volumeMounts"] = [{"name": "program", "mountPath": "/program"}]
    driver["spec"]["volumes"] = [{"name": "program", "configMap": {"name": "program"}}]
    driver["spec"]["nodeSelector"] = _on(node(3))
    executors = streamjobs.template(names.EXECUTOR_CONTAINER)
    executors["spec"] |= {"affinity": _elsewhere(node(3)), "topologySpreadConstraints": [_SPREAD] if plain else []}
    return {
        "application": {"file": f"local:///program/{PROGRAM.name}", "args": [json.dumps(dict(words))]},
        "checkpoint": {"location": _ROOT},
        "driver": {"template": driver},
        "executors": {"count": 3, "cores": 1, "maxPerNode": 1, "template": executors},
        "sparkConf": {**plain_spark.S3, **conf, "spark.sql.shuffle.partitions": "3"},
        "placement": {"mode": "Off" if plain else "Act"},
        "rebalance": OBSERVED,
    }


def _on(name: str) -> dict[str, str]:
    return {"kubernetes.io/hostname": name}


def _elsewhere(name: str) -> dict[str, Any]:
    rule = {"key": "kubernetes.io/hostname", "operator": "NotIn", "values": [name]}
    required = {"nodeSelectorTerms": [{"matchExpressions": [rule]}]}
    return {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": required}}


def _program() -> dict[str, Any]:
    data = {PROGRAM.name: PROGRAM.read_text()}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "program"}, "data": data}
