"""StreamJobs nobody thought of, the same for the same seed: good ones, spoilt ones, and some with noise in them.

For the e2e tests and the operator's bench: the API server takes every good one, refuses every spoilt one with a
sentence, and does either with a noisy one.
"""

import copy
import dataclasses
import random
from collections.abc import Callable, Iterator
from typing import Any, Literal

Verdict = Literal["good", "spoilt", "noisy"]
Manifest = dict[str, Any]
_SHARES = (("good", 0.5), ("spoilt", 0.4), ("noisy", 0.1))


@dataclasses.dataclass(frozen=True)
class Fuzzed:
    """A StreamJob, what the API server should think of it, and what was done to it."""

    manifest: Manifest
    verdict: Verdict
    done: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """Unique among those of a seed."""
        return str(self.manifest["metadata"]["name"])


def fuzzed(seed: int, many: int) -> Iterator[Fuzzed]:
    """So many, each made of the seed and its number alone."""
    for number in range(many):
        dice = random.Random(f"{seed}/{number}")
        (verdict,) = dice.choices([v for v, _ in _SHARES], [share for _, share in _SHARES])
        manifest = _manifest(f"fuzz-{seed}-{number:04d}", _good(dice))
        if verdict == "spoilt":
            faults = dice.sample(FAULTS, dice.choice((1, 1, 2)))
            yield Fuzzed(manifest, "spoilt", tuple(_spoil(dice, manifest, *fault) for fault in faults))
        elif verdict == "noisy":
            yield Fuzzed(manifest, "noisy", (_noise(dice, manifest),))
        else:
            yield Fuzzed(manifest, "good")


def _manifest(name: str, spec: Manifest) -> Manifest:
    return {"apiVersion": "sluice.dev/v1alpha1", "kind": "StreamJob", "metadata": {"name": name}, "spec": spec}


def _good(dice: random.Random) -> Manifest:
    spec: Manifest = {
        "image": dice.choice(("localhost/examples:dev", "registry.example:5000/a/b@sha256:" + "0" * 64, "x")),
        "application": _application(dice),
        "checkpoint": _checkpoint(dice),
    }
    optional: dict[str, Callable[[], Any]] = {
        "imagePullPolicy": lambda: dice.choice(("Always", "IfNotPresent", "Never")),
        "imagePullSecrets": lambda: [{"name": f"pull-{n}"} for n in range(dice.randint(0, 16))],
        "serviceAccount": lambda: dice.choice(({"name": "mine"}, {"annotations": {"a/b": "c" * 4096}}, {})),
        "mode": lambda: dice.choice(("MicroBatch", "RealTime")),
        "driver": lambda: _pod(dice),
        "executors": lambda: _executors(dice),
        "sparkConf": lambda: _conf(dice),
        "slo": lambda: dice.choice(({"batchLatency": _duration(dice)}, {"lag": dice.randint(0, 10**15)}, {})),
        "placement": lambda: _placement(dice),
        "rebalance": lambda: {
            "mode": dice.choice(("Act", "Observe", "Off")),
            "lever": {"enabled": dice.choice((True, False))},
            "latency": dice.choice(({}, {"by": dice.choice(("mean", "p90", "p99"))})),
        },
        "update": lambda: {"strategy": dice.choice(("Handover", "Recreate")), "drainTimeout": _duration(dice)},
        "restart": lambda: {
            "policy": dice.choice(("Always", "OnFailure")),
            "backoff": dice.choice(({}, _backoff(dice))),
        },
        "suspend": lambda: dice.choice((True, False)),
    }
    return spec | {name: make() for name, make in optional.items() if dice.random() < 0.4}


def _application(dice: random.Random) -> Manifest:
    at = dice.choice(("local:///opt/app/", "/app/", "s3a://code/ünïcode/", "https://example.com/"))
    if dice.random() < 0.3:
        return {"file": f"{at}a.jar", "mainClass": "org.example.Main$", "packages": ["g:a:1"]}
    found: Manifest = {"file": f"{at}a.py", "args": [_text(dice) for _ in range(dice.randint(0, 256))]}
    return found | ({"pyFiles": [f"{at}{n}.zip" for n in range(dice.randint(0, 64))]} if dice.random() < 0.5 else {})


def _checkpoint(dice: random.Random) -> Manifest:
    if dice.random() < 0.5:
        return {"location": dice.choice(("s3a://bucket/clicks", "hdfs:///clicks", "abfss://c@a.example/clicks/1"))}
    claim = {"persistentVolumeClaim": {"claimName": "state"}}
    return {"location": dice.choice(("/checkpoints/clicks", "/c", "/..a/b..", "/" + "x" * 1023)), "volume": claim}


def _pod(dice: random.Random) -> Manifest:
    template = {"metadata": {"labels": {"a": "b"}}, "spec": dice.choice(({}, {"nodeSelector": {"a": "b"}}, {"no": 1}))}
    memory = dice.choice(("640Mi", "1Gi", "2.5Gi", "4Ti", "805306368", "672M"))
    return dice.choice(({}, {"cores": dice.randint(1, 256), "memory": memory, "template": template}))


def _executors(dice: random.Random) -> Manifest:
    count = dice.randint(1, 1000)
    bounds = {"min": dice.randint(1, count), "max": dice.randint(count, 1000), "maxPerNode": dice.randint(1, 1000)}
    return _pod(dice) | {"count": count} | {name: bound for name, bound in bounds.items() if dice.random() < 0.5}


def _conf(dice: random.Random) -> Manifest:
    return {f"spark.fuzz.{number}": _text(dice) for number in range(dice.choice((0, 1, 10, 256)))}


def _placement(dice: random.Random) -> Manifest:
    near = {
        "matchLabels": {"app": "kafka"},
        "matchExpressions": [{"key": "a/b", "operator": "In", "values": ["x"]}, {"key": "c", "operator": "Exists"}],
    }
    policy = dice.choice(("consolidate", "stromax", "turbostream", "stay"))
    return {"mode": dice.choice(("Act", "Observe", "Off")), "policy": policy, "near": near, "maxMovesPerHour": 0}


def _duration(dice: random.Random) -> str:
    return dice.choice(("1s", "90s", "1m30s", "1h", "59m59s999ms", "1000ms"))


def _backoff(dice: random.Random) -> Manifest:
    return {"initial": dice.choice(("100ms", "5s")), "max": dice.choice(("5s", "1h30m", "24h"))}


def _text(dice: random.Random) -> str:
    return dice.choice(("", " ", "--topic", "a=b c", "'\"\\", "\n", "𝄞", "$(POD_IP)", "{{x}}", "x" * 4096))


_OWNED = (
    "spark.master", "spark.submit.deployMode", "spark.app.id", "spark.driver.host", "spark.driver.port",
    "spark.kubernetes.namespace", "spark.kubernetes.driver.pod.name", "spark.kubernetes.executor.podNamePrefix",
    "spark.executor.instances", "spark.dynamicAllocation.enabled", "spark.executor.memory", "spark.driver.cores",
    "spark.kubernetes.container.image", "spark.kubernetes.authenticate.oauthToken", "spark.sluice.x",
    "spark.kubernetes.driver.volumes.hostPath.x.mount.path", "spark.kubernetes.executor.podTemplateFile",
    "spark.sql.streaming.checkpointLocation", "spark.jars.packages", "hadoop.x", "", "spark.\n" + "x" * 300,
)  # fmt: skip
FAULTS: tuple[tuple[str, tuple[Any, ...]], ...] = (
    ("metadata.name", ("Upper-{}", "{}.dot", "1-{}", "{}-", "{}" + "x" * 30, "_{}")),
    ("spec", ("text", [], 1, None, {})),
    ("spec.image", ("", "a b", "x" * 513, 1, None, ["x"], "a\tb")),
    ("spec.imagePullPolicy", ("always", "", 1)),
    ("spec.imagePullSecrets", ([{"name": "a"}, {"name": "a"}], [{}], ["a"], [{"name": f"a{n}"} for n in range(17)])),
    ("spec.serviceAccount", ({"name": "a", "annotations": {"b": "c"}}, {"name": ""}, {"nam": "a"}, "a")),
    ("spec.application", ({}, {"file": "local:///a.jar"}, {"file": "/a.py", "mainClass": "A"}, {"file": "a.py"})),
    ("spec.application.file", ("", "local:///a", "/a.sh", "a.py", "/a b.py", "/a,b.py", None, 1)),
    ("spec.application.packages", (["a"], ["a:b"], ["a:b:c:d"], ["a:b:c", "a:b:c"], ["a: b:c"])),
    ("spec.mode", ("Realtime", "Continuous", "", True)),
    ("spec.checkpoint", ({}, {"location": "/a"}, {"location": "clicks"}, {"volume": {}}, "s3a://b/c")),
    ("spec.checkpoint.location", ("/", "s3a://b", "s3a://b/", "/a//b", "/a/../b", "file:///a", "/a b", "", 1)),
    ("spec.driver.cores", (0, -1, 257, 1.5, "1", 2**63)),
    ("spec.driver.memory", ("1Gb", "1 Gi", "-1Gi", "639Mi", "5Ti", "", 1024, "1e9", "0x400", "999999999999999Ti")),
    ("spec.driver.template", ({"kind": "Pod"}, "x", [])),
    ("spec.executors.count", (0, -1, 1001, 1.5, "2", 2**63)),
    (
        "spec.executors",
        ({"count": 1, "min": 2}, {"count": 3, "max": 2}, {"min": 0}, {"maxPerNode": 0}, {"instances": 1}),
    ),
    ("spec.sparkConf", (*({key: "x"} for key in _OWNED), {"spark.a": 1}, {"spark.a": True}, {"spark.a": {}})),
    ("spec.sparkConf", ({f"spark.{n}": "x" for n in range(257)}, {"spark.a": "x" * 8193})),
    ("spec.slo.batchLatency", ("2", "2 s", "2.5s", "-2s", "0s", "25h", "1d", "", "5m1h", 2)),
    ("spec.slo.lag", (-1, 10**16, "1", 0.5)),
    ("spec.placement.mode", ("On", "act", False)),
    ("spec.placement.policy", ("best", "Consolidate", "")),
    ("spec.placement.near", ({"app": "kafka"}, {"matchExpressions": [{"key": "a", "operator": "In"}]}, "app=kafka")),
    ("spec.placement.maxMovesPerHour", (-1, 3601, "12")),
    ("spec.rebalance.mode", ("Auto", 1)),
    ("spec.rebalance.latency.by", ("p95", 99)),
    ("spec.update.drainTimeout", ("0s", "2h", "60", "1m-1s", "9999h9999m999999s999999ms", 60)),
    (
        "spec.restart",
        ({"policy": "never"}, {"backoff": {"initial": "10m"}}, {"backoff": {"max": "1s"}}, {"retries": 3}),
    ),
    ("spec.restart", ({"backoff": {"initial": "x"}}, {"backoff": {"max": "25h"}}, {"backoff": {"initial": "0s"}})),
    ("spec.suspend", ("true", 1, "yes")),
    ("spec.exectuors", ({"count": 1},)),
)
"""A field and values that no StreamJob may have there, whatever stands elsewhere."""

_NOISE: tuple[Any, ...] = (None, "", "x", 0, -1, 2**31, 1.5, True, [], {}, [None], {"": None}, "\u0000", "9" * 300)


def _spoil(dice: random.Random, manifest: Manifest, path: str, values: tuple[Any, ...]) -> str:
    value = copy.deepcopy(dice.choice(values))
    if path == "metadata.name":
        value = value.format(manifest["metadata"]["name"])
    _put(manifest, path.split("."), value)
    return f"{path}={value!r:.60}"


def _noise(dice: random.Random, manifest: Manifest) -> str:
    path = dice.choice([p for p, _ in FAULTS if p.startswith("spec.")])
    value = copy.deepcopy(dice.choice(_NOISE))
    _put(manifest, path.split("."), value)
    return f"{path}={value!r:.60}"


def _put(manifest: Manifest, path: list[str], value: Any) -> None:
    """Sets a field; what stands in its way makes room, unless an earlier fault put it there."""
    at: Any = manifest
    for name in path[:-1]:
        at = at.setdefault(name, {})
        if not isinstance(at, dict):
            return
    at[path[-1]] = value
