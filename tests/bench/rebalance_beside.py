"""Neighbours of a job's executors: pods that take their part of a node's CPU, as other people's jobs do."""

import contextlib
import json
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from demo import streamjobs
from testbed import images

Beside = Callable[[streamjobs.Job], contextlib.AbstractContextManager[None]]
_LABEL = "bench-neighbour"
_DEADLINE = "--timeout=120s"
COUNTS = """
import collections, time
text = " ".join(f"word{number % 1000}" for number in range(10_000))
while True:
    began_s, done_s = time.monotonic(), time.process_time()
    while time.process_time() - done_s < 0.3:
        collections.Counter(text.split())
    time.sleep(max(0.0, began_s + 2 - time.monotonic()))
"""
"""Words counted every two seconds, as Lever's background job does: on each node the same work, however slow it is."""
PACKS = """
import os, zlib
text = os.urandom(1 << 16) * 4
while True:
    zlib.compress(text)
"""
"""Du & Gupta's: a compression without an end."""


def nobody(_: streamjobs.Job) -> contextlib.AbstractContextManager[None]:
    """A job has its nodes for itself."""
    return contextlib.nullcontext()


@contextlib.contextmanager
def neighbours(job: streamjobs.Job, nodes: Sequence[str], program: str) -> Iterator[None]:
    """One that runs this program on each of the nodes, until the end of the block."""
    kube, where = job.kube, ("-n", job.namespace)
    listed = {"apiVersion": "v1", "kind": "List", "items": [_pod(node, program) for node in nodes]}
    kube.kubectl(*where, "apply", "-f", "-", text=json.dumps(listed))
    try:
        kube.kubectl(*where, "wait", "--for=condition=Ready", "pod", "-l", f"{_LABEL}=yes", _DEADLINE)
        yield
    finally:
        kube.kubectl(*where, "delete", "pod", "-l", f"{_LABEL}=yes", "--now", _DEADLINE)


def _pod(node: str, program: str) -> dict[str, Any]:
    """Asks for as much as an executor does, so that it gets as much where both want more than there is."""
    container = {
        "name": "neighbour",
        "image": images.EXAMPLES.ref(),
        "imagePullPolicy": "IfNotPresent",
        "command": ["python3", "-c", program],
        "resources": streamjobs.template("neighbour")["spec"]["containers"][0]["resources"],
    }
    spec = {
        "nodeSelector": {"kubernetes.io/hostname": node},
        "restartPolicy": "Never",
        "terminationGracePeriodSeconds": 0,
        "containers": [container],
    }
    meta = {"name": f"neighbour-{node}", "labels": {_LABEL: "yes"}}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": meta, "spec": spec}
