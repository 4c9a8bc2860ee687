"""A change under load that cannot be made beside what runs: whether that is said, and the old one goes on until then.

Without room for both (CPU, a quota, a volume) the old driver ends first, once that was said; without an image the new
revision is given up. The volume is a folder that one node has and the others lack: to a pod elsewhere it looks like a
ReadWriteOnce volume that is attached to another node, for its mount fails as long as the pod waits.
"""

import contextlib
import dataclasses
import json
import time
from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Any

from bench import ledger, outcome, redeploy_seen, redeploy_stage
from demo import flow, streamjobs
from house import paths
from sluice.observe import records
from sluice.values import handoff, names
from testbed import cluster, images, target

_PATIENCE_S = 180.0
_LEFT_M = 10  # millicores that are left of each node; a driver asks for more
_ONE_NODE = "bench-one-node"
_FOLDER = f"/var/lib/{_ONE_NODE}"  # each node has a /var/lib of its own
_QUICK: Mapping[str, Any] = {"update": {"rollback": {"batches": 5}}}
_CHANGE: Mapping[str, Any] = {"sparkConf": {"spark.sql.streaming.minBatchesToRetain": "101"}}
_NO_IMAGE: Mapping[str, Any] = {"image": "localhost/none:1"}


def run(book: ledger.Ledger) -> outcome.Outcome:
    """Each case, remembered."""
    found = {case: book.once(f"refusal {case}", measure) for case, measure in _CASES.items()}
    words = ("said", "went_on", "batches", "refused_s", "pause_ms", "gap_ms", "records", "lost", "repeated")
    rows = tuple((case, *(str(one[word]) for word in words)) for case, one in found.items())
    header = (
        "case", "what status.handoff said", "did the old one go on until then", "its batches meanwhile", "s until then",
        "ms of pause, if another took over", "ms without a record at the sink", "records", "lost", "repeated",
    )  # fmt: skip
    silent = sum(not one["said"] for one in found.values())
    stood = sum(one["went_on"] != "yes" for one in found.values())
    bars = (
        outcome.Bar("refusals-without-a-sentence", silent, 0),
        outcome.Bar("refusals-where-the-old-one-did-not-go-on", stood, 0),
        outcome.Bar("refusals-not-at-rest-after", sum(bool(one["restless"]) for one in found.values()), 0),
        outcome.Bar(
            "refusals-records-lost-or-repeated", sum(one["lost"] + one["repeated"] for one in found.values()), 0
        ),
    )
    return outcome.Outcome((outcome.Table("Changes that cannot be made beside what runs", header, rows),), bars)


def _no_room() -> dict[str, Any]:
    with redeploy_stage.running(redeploy_stage.RELAY, executors=_one(), **_QUICK) as (job, load):
        _fill(job, _free_m(job.kube))
        return _refused(job, load, _CHANGE)


def _quota() -> dict[str, Any]:
    with redeploy_stage.running(redeploy_stage.RELAY, **_QUICK) as (job, load):
        many = str(len([*job.pods(names.DRIVER), *job.pods(names.EXECUTOR)]))
        made = {
            "apiVersion": "v1",
            "kind": "ResourceQuota",
            "metadata": {"name": "full"},
            "spec": {"hard": {"pods": many}},
        }
        _apply(job, made)
        counted = f"--for=jsonpath={{.status.used.pods}}={many}"
        job.kube.kubectl("-n", job.namespace, "wait", counted, "resourcequota/full", "--timeout=60s")
        return _refused(job, load, _CHANGE)


def _image() -> dict[str, Any]:
    with redeploy_stage.running(redeploy_stage.RELAY, **_QUICK) as (job, load):
        return _refused(job, load, _NO_IMAGE)


def _volume() -> dict[str, Any]:
    """Driver and executor where the volume is; then that node is full, and the next driver goes to another one."""
    kube = target.connect()
    free_m = _free_m(kube)
    node = max(free_m, key=lambda name: free_m[name])
    kind = dataclasses.replace(redeploy_stage.RELAY, needs=_on_one_node())
    spec: dict[str, Any] = {
        "driver": {"template": redeploy_stage.rather(node)},
        "executors": _one(nodeSelector={"kubernetes.io/hostname": node}),
        "placement": {"mode": "Off"},
        "checkpoint": {"location": "/checkpoints/job", "volume": {"persistentVolumeClaim": {"claimName": _ONE_NODE}}},
    }
    with _folder_on(kube, node), redeploy_stage.running(kind, **_QUICK, **spec) as (job, load):
        _fill(job, _free_m(kube), {node})
        return _refused(job, load, _CHANGE)


_CASES: Mapping[str, Callable[[], dict[str, Any]]] = {
    "no node has room for another driver": _no_room,
    "a quota lets no more pods in": _quota,
    "no node has the new image": _image,
    "the checkpoint's volume is ReadWriteOnce": _volume,
}


def _refused(job: streamjobs.Job, load: flow.Load, change: Mapping[str, Any]) -> dict[str, Any]:
    """The change, what is said of it, and how it ends."""
    before, began_s = job.status(), time.time()
    attempt = redeploy_seen.last_attempt(before)
    with redeploy_seen.Watch(job) as watch:
        job.change(**change)
        status = watch.until(lambda found: _is_refused(redeploy_seen.handoff_after(attempt, found)), _PATIENCE_S)
        refused_s = time.time()
        restless = redeploy_seen.rests_within(lambda: redeploy_seen.restless(job), _PATIENCE_S)
    last, until_s = job.status(), time.time()
    arrived = flow.arrived(job.kube, load, redeploy_stage.SINK)
    now = handoff.read(last)
    return {
        "said": " ".join(handoff.read(status).message.split()) if status else "",
        "went_on": _went_on(before, status) if status else "nothing was said",
        "batches": _committed(status or last) - _committed(before),
        "refused_s": round(refused_s - began_s, 1),
        "restless": restless,
        "pause_ms": now.pause_ms if now.pod == last["driver"]["pod"] else None,
        "gap_ms": arrived.longest_gap_ms(began_s * 1000, until_s * 1000),
        **arrived.counted(),
    }


def _is_refused(now: handoff.Handoff) -> bool:
    return now.phase == handoff.CANCELLED


def _went_on(before: dict[str, Any], then: dict[str, Any]) -> str:
    """Whether the job is still Ready, by the same driver, at the moment that it is said."""
    ready = next(one for one in then["conditions"] if one["type"] == "Ready")
    if then["driver"]["pod"] != before["driver"]["pod"]:
        return f"no: {then['driver']['pod']} runs the job"
    return "yes" if ready["status"] == "True" else f"no: {ready['message']}"


def _committed(status: dict[str, Any]) -> int:
    return max((int(one["committed"]) for one in status.get("queries", ())), default=-1)


def _one(**placed: Any) -> dict[str, Any]:
    """One executor: two might fit no more where there is just the room that was left."""
    template = streamjobs.template(names.EXECUTOR_CONTAINER)
    return {"count": 1, "template": {"spec": {**template["spec"], **placed}}}


def _free_m(kube: target.Target) -> dict[str, int]:
    """Millicores that nobody has asked for, on each real node."""
    free_m = {}
    for name in cluster.Cluster().nodes:
        node = records.read_node(json.loads(kube.kubectl("get", "node", name, "-o", "json")))
        on_it = ("get", "pods", "-A", f"--field-selector=spec.nodeName={name}", "-o", "json")
        there = [records.read_pod(body) for body in json.loads(kube.kubectl(*on_it))["items"]]
        free_m[name] = node.allocatable.cpu_m - sum(pod.requests.cpu_m for pod in there if not pod.over)
    return free_m


def _fill(job: streamjobs.Job, free_m: Mapping[str, int], nodes: Collection[str] = ()) -> None:
    """One pod on each node takes what is left there. Exactly: any that waited would take the old driver's place."""
    taken_m = {node: left - _LEFT_M for node, left in free_m.items() if left > _LEFT_M and (not nodes or node in nodes)}
    for node, cpu_m in taken_m.items():
        asks = {"requests": {"cpu": f"{cpu_m}m"}}
        spec = {
            "nodeSelector": {"kubernetes.io/hostname": node},
            "terminationGracePeriodSeconds": 0,
            "containers": [{"name": "pause", "image": images.PAUSE.ref(), "resources": asks}],
        }
        meta = {"name": f"filler-{node}", "labels": {"app": "filler"}}
        _apply(job, {"apiVersion": "v1", "kind": "Pod", "metadata": meta, "spec": spec})
    job.kube.kubectl("-n", job.namespace, "wait", "--for=condition=Ready", "pod", "-l", "app=filler", "--timeout=120s")


def _apply(job: streamjobs.Job, made: Mapping[str, Any]) -> None:
    job.kube.kubectl("-n", job.namespace, "apply", "-f", "-", text=json.dumps(made))


def _on_one_node() -> tuple[dict[str, Any], ...]:
    """A volume and its claim. The volume is new each time: one that a run left which was cut short has its claim."""
    name = f"{_ONE_NODE}-{time.time_ns()}"
    both = {"storageClassName": name, "accessModes": ["ReadWriteOnce"]}
    path = {"path": _FOLDER, "type": "Directory"}
    size = {"storage": "1Gi"}
    volume = {**both, "capacity": size, "persistentVolumeReclaimPolicy": "Retain", "hostPath": path}
    meta = {"name": name, "labels": {"app": _ONE_NODE}}
    claim = {**both, "resources": {"requests": size}}
    return (
        {"apiVersion": "v1", "kind": "PersistentVolume", "metadata": meta, "spec": volume},
        {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": _ONE_NODE}, "spec": claim},
    )


@contextlib.contextmanager
def _folder_on(kube: target.Target, node: str) -> Iterator[None]:
    """What the volume shows, where it can be mounted; at the end both are gone."""
    folder = cluster.Cluster().named(node).lib / _ONE_NODE
    paths.remove(folder)
    folder.mkdir()
    folder.chmod(0o1777)
    try:
        yield
    finally:
        kube.kubectl("delete", "pv", "-l", f"app={_ONE_NODE}", "--ignore-not-found", "--wait=false")
        paths.remove(folder)
