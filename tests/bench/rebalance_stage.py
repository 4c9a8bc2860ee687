"""Where rebalancing is measured: three nodes with an executor each and so much CPU, and a fourth with all the rest.

The job (:mod:`bench.rebalance_job`) does one phase after another. Sluice's hands are laid on and taken off by
`spec.rebalance`, as a user would, when a phase that is ours begins.
"""

import contextlib
import dataclasses
import json
import threading
import time
from collections.abc import Generator, Iterator, Mapping, Sequence
from typing import Any

from bench import rebalance_program, rebalance_tasks
from demo import operators, plain_spark, streamjobs, topics
from house import trouble
from sluice.values import names
from testbed import cluster, target

_NAMESPACE, _RELEASE = "bench-rebalance", "bench-rebalance-operator"
NODES = 4
_ROOT = f"s3a://{plain_spark.BUCKET}/{_NAMESPACE}/balanced"
PROGRAM = rebalance_program.JOB
_SLICE_S = 3600
ROWS, STEPS = 600, 620_000  # a batch's, and a row's: about a second and a half of CPU time a batch
WARM = 12  # batches at the beginning of each phase that do not count
Spec = Mapping[str, Any]
_SERVICES = (("testbed", "kafka"), ("testbed", "prometheus"), ("testbed", "s3"), ("kube-system", "coredns"))
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
    rows: int = 0  # a batch; 0: as many as of every way

    def phase(self, batches: int) -> dict[str, Any]:
        """As the program reads it."""
        multiplier, quantile = self.speculation
        return {
            "name": self.name, "kind": self.kind, "partitions": self.partitions, "batches": batches,
            "multiplier": multiplier, "quantile": quantile, "rows": self.rows,
        }  # fmt: skip


@contextlib.contextmanager
def slowed(shares: Sequence[int]) -> Iterator[None]:
    """The first nodes with so many percent of a core each, until the end of the block."""
    try:
        for number, percent in enumerate(shares):
            slow(number, percent)
        yield
    finally:
        for number in range(len(shares)):
            cluster.Cluster().slow(node(number), "full")


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
    _gather_services(kube, node(3))
    values = {"nodeSelector": _on(node(3)), **({"pluginImage": ""} if plain else {})}
    operator = operators.Operator(kube, _RELEASE, (_NAMESPACE,), values)
    operator.prepare()
    try:
        operator.install()
        job = streamjobs.fresh(kube, _NAMESPACE, "balanced")
        _fill_topics(kube, [phase for phase in phases if phase["kind"] == "kafka"], rows)
        kube.kubectl("-n", _NAMESPACE, "apply", "-f", "-", text=json.dumps(rebalance_program.config_map(PROGRAM)))
        job.apply(**_usual(words, conf, plain))
        job.wait("condition=Ready")
        yield job
    finally:
        operator.uninstall()
        operator.clear()


def _gather_services(kube: target.Target, at: str) -> None:
    """What the testbed runs for all stays at one node from now on: else it takes part of what executors are given."""
    patch = json.dumps({"spec": {"template": {"spec": {"nodeSelector": _on(at)}}}})
    for namespace, name in _SERVICES:
        kube.kubectl("-n", namespace, "patch", f"deployment/{name}", "-p", patch)
    for namespace, name in _SERVICES:
        kube.kubectl("-n", namespace, "rollout", "status", f"deployment/{name}", "--timeout=120s")


def measure(
    ways: Sequence[Way],
    batches: int,
    shares: Sequence[int] = (),
    rounds: int = 1,
    conf: Mapping[str, str] = COPIES,
    steps: int = STEPS,
) -> tuple[dict[str, rebalance_tasks.Sums], dict[str, list[float]]]:
    """The ways in turns, on nodes with so many percent of a core, or all of it: sums, how long warm batches took."""
    phases = [way.phase(WARM + batches) for _ in range(rounds) for way in ways]
    told: dict[str, rebalance_tasks.Sums] = {}
    warm_s: dict[str, list[float]] = {way.name: [] for way in ways}
    with running(ROWS, steps, phases, conf) as job, slowed(shares):
        for name, took_s in follow(job, ways, len(phases)):
            told[name] = rebalance_tasks.sums(job, name)
            warm_s[name] += took_s[WARM:]
    return told, warm_s


def node(number: int) -> str:
    """The name of one of the nodes, from 0."""
    up = cluster.Cluster().nodes
    if len(up) < NODES:
        remedy = f"make down, then PYTHONPATH=tests python3 -m testbed up --nodes {NODES}"
        raise trouble.Trouble(f"rebalance needs {NODES} nodes, {len(up)} are up: {remedy}")
    return up[number]


def follow(job: streamjobs.Job, ways: Sequence[Way], phases: int) -> Iterator[tuple[str, list[float]]]:
    """Each phase as it ends: its way's name, how long each batch took. Then is the time to ask, for agents forget."""
    ended = (said for said in listen(job, ways) if "ended" in said)
    for done, said in enumerate(ended, 1):
        print(f"{done}/{phases} {said['name']}: {_median(said['took_s'][WARM:]):.2f} s", flush=True)
        yield said["name"], said["took_s"]


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


def _median(values: Sequence[float]) -> float:
    return sorted(values)[len(values) // 2] if values else 0.0


@contextlib.contextmanager
def _lines(job: streamjobs.Job) -> Iterator[Iterator[str]]:
    """The driver's log, as it grows; for no longer than an hour."""
    driver = job.status()["driver"]["pod"]
    with job.kube.begin("-n", job.namespace, "logs", "-f", driver, "-c", names.DRIVER_CONTAINER) as process:
        clock = threading.Timer(_SLICE_S, process.terminate)
        clock.daemon = True  # whoever fails while they listen does not wait for it
        clock.start()
        try:
            assert process.stdout is not None
            yield iter(process.stdout)
        finally:
            clock.cancel()
            process.terminate()


def _fill_topics(kube: target.Target, phases: Sequence[Mapping[str, Any]], rows: int) -> None:
    """With twice the numbers that these are to read: a query goes on until it is stopped, and must not run dry."""
    numbers = 2 * rows * sum(phase["batches"] for phase in phases)
    for number in {phase["partitions"] for phase in phases}:
        topics.create(kube, f"rebalance-{number}", number)
        feed = topics.feed(kube, f"rebalance-{number}")
        feed.communicate("".join(f"{value}\n" for value in range(numbers)))
        if feed.returncode:
            raise trouble.Trouble(f"rebalance-{number} could not be filled")


def _usual(words: Mapping[str, Any], conf: Mapping[str, str], plain: bool) -> dict[str, Any]:
    driver = streamjobs.template(names.DRIVER_CONTAINER)
    (container,) = driver["spec"]["containers"]
    container["volumeMounts"] = [rebalance_program.MOUNT]
    driver["spec"]["volumes"] = [rebalance_program.volume(PROGRAM)]
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
