"""``make demo``: a StreamJob on a real cluster, watched: started, its executors placed, a lost one replaced.

The job is the Yahoo streaming benchmark of `crds/examples`, its checkpoint on the cluster's S3.
"""

import sys
import time
from collections.abc import Callable

from crds import schema
from demo import operators, plain_spark, streamjobs
from house import trouble
from sluice.values import names
from testbed import images, target

_NAMESPACE = "demo"
_EXAMPLE = "yahoo"
_BATCHES = 5
_PATIENCE_S = 180.0
Say = Callable[[str], None]


def main() -> int:
    """Runs the demo; trouble is one sentence."""
    try:
        _show(target.connect())
    except trouble.Trouble as why:
        print(f"demo: {why}", file=sys.stderr)
        return 1
    return 0


def _show(kube: target.Target) -> None:
    began_s = time.monotonic()

    def say(text: str) -> None:
        print(f"{time.monotonic() - began_s:6.1f} s  {text}", flush=True)

    say(f"the operator comes by helm, into the namespace {_NAMESPACE}")
    operator = operators.Operator(kube, _NAMESPACE, (_NAMESPACE,))
    operator.prepare()
    operator.install()
    job = streamjobs.Job(kube, _NAMESPACE, _EXAMPLE)
    say(f"kubectl apply -f crds/examples/{_EXAMPLE}.yaml: the StreamJob {job.name}, two executors")
    _apply(job)
    _follow(job, say)
    _place(job, set(), say)
    _watch(job, -1, say)
    lost = job.pods(names.EXECUTOR)[0]["metadata"]
    say(f"executor {lost['name']} is deleted, as a lost node would do it")
    told, before = job.batches()[-1], job.uids(names.EXECUTOR)
    kube.kubectl("-n", _NAMESPACE, "delete", "pod", lost["name"])
    _place(job, before, say)
    _watch(job, told, say)
    _end(kube, job, say)


def _apply(job: streamjobs.Job) -> None:
    """The example as it is, but with its checkpoint in a folder of the demo's own, and the image of this cluster."""
    folder = f"s3a://{plain_spark.BUCKET}/"
    plain_spark.empty_bucket(job.kube, "demo/")
    text = (schema.EXAMPLES / f"{job.name}.yaml").read_text()
    text = text.replace(f"{folder}{job.name}", f"{folder}demo").replace(images.EXAMPLES.local(), images.EXAMPLES.ref())
    job.kube.kubectl("-n", job.namespace, "apply", "-f", "-", text=text)


def _follow(job: streamjobs.Job, say: Say) -> None:
    """Says what the operator says of the job, until it is ready."""
    told = ""

    def ready() -> bool:
        nonlocal told
        condition = job.condition("Ready")
        if condition["message"] != told:
            told = condition["message"]
            say(f"{condition['reason']}: {told}")
        return bool(condition["status"] == "True")

    plain_spark.until(f"{job.name} is Ready: {told}", ready, _PATIENCE_S)


def _place(job: streamjobs.Job, before: set[str], say: Say) -> None:
    """Says where executors that were not there before were sent, and why, once all of the job's have their place."""

    def placed() -> list[streamjobs.Body]:
        pods = job.pods(names.EXECUTOR)
        return pods if len(pods) == 2 and all(streamjobs.place_of(pod) for pod in pods) else []

    for pod in plain_spark.until("two executors with a place", placed, _PATIENCE_S):
        if pod["metadata"]["uid"] not in before:
            place = streamjobs.place_of(pod)
            say(f"{pod['metadata']['name']} waited at the gate and goes to {place['node']}: {place['why']}")


def _watch(job: streamjobs.Job, told: int, say: Say) -> None:
    """Says batches as they come, until enough of them ran."""
    last = told

    def enough() -> bool:
        nonlocal last
        for number in job.batches():
            if number > last:
                last = number
                say(f"batch {number:>3} is done")
        return last >= told + _BATCHES

    plain_spark.until(f"batches: `kubectl -n {job.namespace} logs -l {names.JOB}={job.name}` tells why", enough)


def _end(kube: target.Target, job: streamjobs.Job, say: Say) -> None:
    say(f"it runs on; `kubectl -n {_NAMESPACE} get sj` and `kubectl -n {_NAMESPACE} describe sj {job.name}` tell how")
    if not kube.own:
        print("\nNext: `PYTHONPATH=tests python3 -m testbed slow node2 20%` slows a node; `make down` ends all of it.")


if __name__ == "__main__":
    sys.exit(main())
