"""Every node is drained in its turn, under load, as for an upgrade of the cluster: how long the job is not Ready."""

import threading
import time
from typing import Any

from bench import ledger, outcome, redeploy_kinds, redeploy_stage
from demo import plain_spark, streamjobs
from sluice.values import names

_PATIENCE_S = 900
_LOOK_S = 0.25


def run(book: ledger.Ledger) -> outcome.Outcome:
    """All nodes, remembered."""
    found = book.once("drains", _measure)
    rows = tuple(
        (one["node"], one["had"], str(one["took_s"]), f"{one['unready_s']:.1f}", str(one["pause_ms"]))
        for one in found["nodes"]
    )
    header = ("drained", "it had", "s the drain took", "s the job was not Ready", "ms of pause, if the driver left")
    pauses_s = [one["pause_ms"] / 1000 for one in found["nodes"] if one["pause_ms"] is not None]
    bars = (
        outcome.Bar("drain-longest-not-ready-s", max(one["unready_s"] for one in found["nodes"]), max(pauses_s)),
        outcome.Bar("drain-records-lost-or-repeated", found["lost"] + found["repeated"], 0),
    )
    title = f"`relay` under load, {found['records']} records, each node drained in its turn"
    return outcome.Outcome((outcome.Table(title, header, rows),), bars)


class _Watch:
    """Looks at Ready, again and again, from beside."""

    def __init__(self, job: streamjobs.Job) -> None:
        self.job, self.ends, self.longest_s = job, False, 0.0
        self.thread = threading.Thread(target=self._look, daemon=True)

    def _look(self) -> None:
        since_s: float | None = None
        while not self.ends:
            ready = self.job.condition("Ready")["status"] == "True"
            since_s = None if ready else since_s or time.monotonic()
            self.longest_s = max(self.longest_s, time.monotonic() - since_s if since_s else 0.0)
            time.sleep(_LOOK_S)

    def __enter__(self) -> "_Watch":
        self.thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.ends = True
        self.thread.join()


def _measure() -> dict[str, Any]:
    with redeploy_stage.running(redeploy_stage.RELAY) as (job, load):
        nodes = job.kube.kubectl("get", "nodes", "-o", "jsonpath={.items[*].metadata.name}").split()
        found = [_drained(job, node) for node in nodes]
        return {"nodes": found, **redeploy_kinds.judge(job, load)}


def _drained(job: streamjobs.Job, node: str) -> dict[str, Any]:
    had = [pod["metadata"]["name"] for pod in _on(job, node)]
    old = job.status()["driver"]["pod"]
    began_s = time.monotonic()
    try:
        with _Watch(job) as watch:
            job.kube.kubectl(*job.drain_of(node), f"--timeout={_PATIENCE_S}s")
            took_s = round(time.monotonic() - began_s)
            plain_spark.until("it runs elsewhere", lambda: _is_whole(job, node), _PATIENCE_S)
    finally:
        job.kube.kubectl("uncordon", node)
    handoff = job.status().get("handoff", {})
    left = old in had and handoff.get("from", {}).get("pod") == old
    pause_ms = handoff.get("pauseMs") if left else None
    return {"node": node, "had": ", ".join(had), "took_s": took_s, "unready_s": watch.longest_s, "pause_ms": pause_ms}


def _on(job: streamjobs.Job, node: str) -> list[streamjobs.Body]:
    pods = [*job.pods(names.DRIVER), *job.pods(names.EXECUTOR)]
    return [pod for pod in pods if pod["spec"].get("nodeName") == node]


def _is_whole(job: streamjobs.Job, node: str) -> bool:
    """All of it runs, none of it there."""
    phase = job.status().get("handoff", {}).get("phase")
    whole = len(job.running(names.DRIVER)) == 1 and len(job.running(names.EXECUTOR)) == 2
    return whole and not _on(job, node) and phase not in ("Preparing", "Draining", "Taking")
