"""A StreamJob as its user wrote it, every default filled in. Read by observe and the command line, for plan and build.

The API server has checked and defaulted what the CRD describes (`crds/streamjobs.yaml`); :func:`read_spec` fills in
the same defaults for a file that has not been there yet, and says which field is wrong where the schema cannot.
"""

import dataclasses
import posixpath
from collections.abc import Mapping
from typing import Any, Literal

from sluice.values import quantities

Body = Mapping[str, Any]  # JSON as the API server speaks it
Mode = Literal["Act", "Observe", "Off"]
Statistic = Literal["mean", "p90", "p99"]


@dataclasses.dataclass(frozen=True)
class Application:
    """The user's program."""

    file: str
    main_class: str = ""
    args: tuple[str, ...] = ()
    packages: tuple[str, ...] = ()
    py_files: tuple[str, ...] = ()

    @property
    def is_python(self) -> bool:
        """Whether Spark runs it with Python workers beside the JVM."""
        return not self.main_class


@dataclasses.dataclass(frozen=True)
class Account:
    """The driver's ServiceAccount: an existing one by name, or one of the job's own with these annotations."""

    name: str = ""
    annotations: Body = dataclasses.field(default_factory=dict)


@dataclasses.dataclass(frozen=True)
class Checkpoint:
    """Where the stream's progress and state are kept; a volume claim if it is a path."""

    location: str
    claim: str = ""

    @property
    def path(self) -> str:
        """A location on a claim, as short as it can be said."""
        return posixpath.normpath("/" + self.location.lstrip("/"))

    @property
    def mount(self) -> str:
        """Where the claim is mounted: at the parent, so that jobs that share a claim have a folder each."""
        parent = posixpath.dirname(self.path)
        return self.path if parent == "/" else parent


@dataclasses.dataclass(frozen=True)
class Driver:
    """The pod that plans the batches. Memory is the pod's."""

    cores: int = 1
    memory_bytes: int = 1 << 30
    template: Body = dataclasses.field(default_factory=dict)


@dataclasses.dataclass(frozen=True)
class Executors:
    """The pods that work the batches. Memory is each pod's."""

    count: int = 1
    minimum: int | None = None
    maximum: int | None = None
    max_per_node: int | None = None
    cores: int = 1
    memory_bytes: int = 1 << 30
    template: Body = dataclasses.field(default_factory=dict)


@dataclasses.dataclass(frozen=True)
class Placement:
    """Who decides where executors sit, and near what."""

    mode: Mode = "Act"
    policy: str = "consolidate"
    near: Body = dataclasses.field(default_factory=dict)  # a label selector of pods, such as Kafka's brokers
    max_moves_per_hour: int = 12


@dataclasses.dataclass(frozen=True)
class Rebalance:
    """Who cuts the input to what each executor can do, by what."""

    mode: Mode = "Act"
    lever: bool = True
    keep_order: bool = False  # partitions of a source stay whole
    latency: bool = True
    by: Statistic = "mean"  # the agents' histograms are too coarse for quantiles to be everyone's measure
    timeout: bool = True


@dataclasses.dataclass(frozen=True)
class Slo:
    """What the user wants of a batch."""

    batch_latency_s: float | None = None
    lag: int | None = None


@dataclasses.dataclass(frozen=True)
class Update:
    """How a changed job replaces the running one."""

    strategy: Literal["Handover", "Recreate"] = "Handover"
    drain_timeout_s: float = 60.0
    warm_up: bool = True
    rollback_batches: int = 20  # so many show whether a new driver is as good; 0: a slow one is kept


@dataclasses.dataclass(frozen=True)
class Restart:
    """When a driver that ended comes back, and how long that waits."""

    policy: Literal["Always", "OnFailure", "Never"] = "Always"
    initial_s: float = 5.0
    longest_s: float = 300.0


@dataclasses.dataclass(frozen=True)
class Spec:
    """All of `spec`."""

    image: str
    application: Application
    checkpoint: Checkpoint
    image_pull_policy: str = "IfNotPresent"
    image_pull_secrets: tuple[str, ...] = ()
    account: Account = Account()
    real_time: bool = False
    driver: Driver = Driver()
    executors: Executors = Executors()
    spark_conf: Mapping[str, str] = dataclasses.field(default_factory=dict)
    slo: Slo = Slo()
    placement: Placement = Placement()
    rebalance: Rebalance = Rebalance()
    update: Update = Update()
    restart: Restart = Restart()
    suspend: bool = False

    @property
    def replays(self) -> bool:
        """Whether late tasks may get a second attempt; Spark refuses to start a Real-Time query that speculates."""
        return self.rebalance.mode != "Off" and self.rebalance.timeout and not self.real_time


@dataclasses.dataclass(frozen=True)
class StreamJob:
    """One object: who it is, what is wanted, and what Sluice last said of it."""

    namespace: str
    name: str
    spec: Spec
    uid: str = ""  # empty: a file that no API server has seen
    resource_version: str = ""
    generation: int = 0
    created_s: float = 0.0  # since 1970
    deleting: bool = False
    restarted: str = ""  # the annotation `names.RESTARTED`
    status: Body = dataclasses.field(default_factory=dict)
    before: Spec | None = None  # the spec that `status` was written of, if we saw it change since
    unreadable: str = ""  # why its spec cannot be read: `spec` is then the last that could, or an empty one

    @property
    def key(self) -> tuple[str, str]:
        """What the cycle is woken with."""
        return self.namespace, self.name


def read_spec(spec: Body) -> Spec:
    """The wanted job; ValueError names the field, its value and what is allowed."""
    return Spec(
        image=_must(spec, "image"),
        application=_application(_must(spec, "application")),
        checkpoint=_checkpoint(_must(spec, "checkpoint")),
        image_pull_policy=spec.get("imagePullPolicy", "IfNotPresent"),
        image_pull_secrets=tuple(secret["name"] for secret in spec.get("imagePullSecrets", ())),
        account=Account(**spec.get("serviceAccount", {})),
        real_time=spec.get("mode", "MicroBatch") == "RealTime",
        driver=_driver(spec.get("driver", {})),
        executors=_executors(spec.get("executors", {})),
        spark_conf=dict(spec.get("sparkConf", {})),
        slo=_slo(spec.get("slo", {})),
        placement=_placement(spec.get("placement", {})),
        rebalance=_rebalance(spec.get("rebalance", {})),
        update=_update(spec.get("update", {})),
        restart=_restart(spec.get("restart", {})),
        suspend=spec.get("suspend", False),
    )


def _application(found: Body) -> Application:
    return Application(
        file=_must(found, "file", "application"),
        main_class=found.get("mainClass", ""),
        args=tuple(found.get("args", ())),
        packages=tuple(found.get("packages", ())),
        py_files=tuple(found.get("pyFiles", ())),
    )


def _checkpoint(found: Body) -> Checkpoint:
    claim = found.get("volume", {}).get("persistentVolumeClaim", {}).get("claimName", "")
    return Checkpoint(_must(found, "location", "checkpoint"), claim)


def _driver(found: Body) -> Driver:
    return Driver(
        cores=found.get("cores", 1),
        memory_bytes=_quantity("driver.memory", found.get("memory", "1Gi")),
        template=found.get("template", {}),
    )


def _executors(found: Body) -> Executors:
    return Executors(
        count=found.get("count", 1),
        minimum=found.get("min"),
        maximum=found.get("max"),
        max_per_node=found.get("maxPerNode"),
        cores=found.get("cores", 1),
        memory_bytes=_quantity("executors.memory", found.get("memory", "1Gi")),
        template=found.get("template", {}),
    )


def _placement(found: Body) -> Placement:
    return Placement(
        mode=found.get("mode", "Act"),
        policy=found.get("policy", "consolidate"),
        near=found.get("near", {}),
        max_moves_per_hour=found.get("maxMovesPerHour", 12),
    )


def _rebalance(found: Body) -> Rebalance:
    latency = found.get("latency", {})
    return Rebalance(
        mode=found.get("mode", "Act"),
        lever=found.get("lever", {}).get("enabled", True),
        keep_order=found.get("lever", {}).get("keepOrder", False),
        latency=latency.get("enabled", True),
        by=latency.get("by", "mean"),
        timeout=found.get("timeout", {}).get("enabled", True),
    )


def _slo(found: Body) -> Slo:
    latency = found.get("batchLatency")
    return Slo(None if latency is None else _duration_s("slo.batchLatency", latency), found.get("lag"))


def _update(found: Body) -> Update:
    timeout_s = _duration_s("update.drainTimeout", found.get("drainTimeout", "60s"))
    batches = found.get("rollback", {}).get("batches", 20)
    return Update(found.get("strategy", "Handover"), timeout_s, found.get("warmUp", True), batches)


def _restart(found: Body) -> Restart:
    backoff = found.get("backoff", {})
    return Restart(
        policy=found.get("policy", "Always"),
        initial_s=_duration_s("restart.backoff.initial", backoff.get("initial", "5s")),
        longest_s=_duration_s("restart.backoff.max", backoff.get("max", "5m")),
    )


def _must(found: Body, field: str, within: str = "") -> Any:
    if field not in found:
        raise ValueError(f"spec.{within + '.' if within else ''}{field} is missing")
    return found[field]


def _quantity(field: str, text: str | int) -> int:
    try:
        return quantities.whole(text)
    except ValueError as why:
        raise ValueError(f"spec.{field}={why}") from None


def _duration_s(field: str, text: str) -> float:
    try:
        return quantities.duration_s(text)
    except ValueError as why:
        raise ValueError(f"spec.{field}={why}") from None
