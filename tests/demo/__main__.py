"""``make demo``: a StreamJob under load on a real cluster. Nodes are drained, its image is changed, a bad one comes.

The job is `crds/examples/relay.yaml`: it copies one topic of Kafka to another, its checkpoint on the cluster's S3.
After each step the numbers at the sink are counted: what was lost, what came twice. Then a node is slowed.
"""

import contextlib
import json
import sys
import time
from collections.abc import Callable, Iterator

import yaml

from crds import schema
from demo import flow, operators, plain_spark, slowed, streamjobs, topics
from house import trouble
from sluice.values import names
from testbed import images, target

_NAMESPACE = "demo"
_EXAMPLE, _SOURCE, _SINK = "relay", "clicks", "copies"
_RATE = 200
_PATIENCE_S = 240.0
_ENDED = ("Proving", "Done", "Cancelled", "RolledBack")
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

    job = _start(kube, say)
    with flow.flowing(kube, _SOURCE, _RATE) as load:
        say(f"{_RATE} numbers a second go into {_SOURCE}; the job copies them to {_SINK}")
        _say_places(job, say)
        _drain_an_executors_node(job, say)
        _count(job, load, say)
        _drain_the_drivers_node(job, say)
        _count(job, load, say)
        _change_image(job, images.EXAMPLES_NEXT.ref(), say)
        _count(job, load, say)
        _change_image(job, f"{images.EXAMPLES.ref()}-none-such", say)
        _count(job, load, say)
    if not kube.own:  # nodes that are the user's are not slowed
        slowed.show(kube, _NAMESPACE, say)
    _end(kube, job, say)


def _start(kube: target.Target, say: Say) -> streamjobs.Job:
    say(f"the operator comes by helm, into the namespace {_NAMESPACE}")
    operator = operators.Operator(kube, _NAMESPACE, (_NAMESPACE,))
    operator.prepare()
    operator.install()
    for topic in (_SOURCE, _SINK):
        topics.create(kube, topic)
    job = streamjobs.Job(kube, _NAMESPACE, _EXAMPLE)
    say(f"kubectl apply -f crds/examples/{_EXAMPLE}.yaml: the StreamJob {job.name}, two executors")
    _apply(job)
    _follow(say, "it is Ready", lambda: job.condition("Ready")["message"], lambda: _is_ready(job))
    return job


def _apply(job: streamjobs.Job) -> None:
    """The example, but with a checkpoint of the demo's own, this cluster's image, and its executors on two nodes."""
    plain_spark.empty_bucket(job.kube, "demo/")
    body = yaml.safe_load((schema.EXAMPLES / f"{job.name}.yaml").read_text())
    body["spec"]["image"] = images.EXAMPLES.ref()
    body["spec"]["checkpoint"]["location"] = f"s3a://{plain_spark.BUCKET}/demo"
    body["spec"]["executors"]["maxPerNode"] = 1
    job.kube.kubectl("-n", job.namespace, "apply", "-f", "-", text=json.dumps(body))


def _is_ready(job: streamjobs.Job) -> bool:
    return bool(job.condition("Ready")["status"] == "True") and len(job.running(names.EXECUTOR)) == 2


def _follow(say: Say, what: str, look: Callable[[], str], is_done: Callable[[], bool]) -> None:
    """Says what is to be seen whenever it changes, until it is done."""
    told = ""

    def seen() -> bool:
        nonlocal told
        text = look()
        if text != told:
            told = text
            say(text)
        return is_done()

    plain_spark.until(f"{what}; seen last: {told}", seen, _PATIENCE_S)


def _say_places(job: streamjobs.Job, say: Say) -> None:
    for pod in job.pods(names.EXECUTOR):
        place = streamjobs.place_of(pod)
        say(f"{pod['metadata']['name']} waited at the gate and went to {place['node']}: {place['why']}")


@contextlib.contextmanager
def _drained(job: streamjobs.Job, node: str, say: Say) -> Iterator[None]:
    """As an administrator drains it; at the end it is as before."""
    say(f"kubectl drain {node}")
    began_s = time.monotonic()
    drain = job.kube.begin(*job.drain_of(node))
    try:
        yield
        said, _ = drain.communicate(timeout=_PATIENCE_S)
        if drain.returncode:
            raise trouble.Trouble(f"kubectl drain {node}: {said[-300:]}")
        say(f"{node} is drained, after {time.monotonic() - began_s:.0f} s")
    finally:
        drain.kill()
        job.kube.kubectl("uncordon", node)


def _drain_an_executors_node(job: streamjobs.Job, say: Say) -> None:
    """The driver runs on: its executor is replaced before it goes."""
    (driver,) = job.pods(names.DRIVER)
    away = [pod for pod in job.pods(names.EXECUTOR) if pod["spec"]["nodeName"] != driver["spec"]["nodeName"]]
    old = away[0]["metadata"]["name"]
    node = away[0]["spec"]["nodeName"]

    def is_replaced() -> bool:
        running = job.running(names.EXECUTOR)
        return len(running) == 2 and all(pod["spec"]["nodeName"] != node for pod in running)

    with _drained(job, node, say):
        what = f"another executor runs in the place of {old}"
        _follow(say, what, lambda: job.condition("Progressing")["message"], is_replaced)
        say(what)


def _drain_the_drivers_node(job: streamjobs.Job, say: Say) -> None:
    (driver,) = job.pods(names.DRIVER)
    with _drained(job, driver["spec"]["nodeName"], say):
        _hand_over(job, driver["metadata"]["name"], say)


def _change_image(job: streamjobs.Job, image: str, say: Say) -> None:
    (driver,) = job.pods(names.DRIVER)
    say(f"spec.image: {image}")
    job.change(image=image)
    _hand_over(job, driver["metadata"]["name"], say)


def _hand_over(job: streamjobs.Job, old: str, say: Say) -> None:
    """Until another driver has taken over from the old one, or will not."""

    def handoff() -> streamjobs.Body:
        found: streamjobs.Body = job.status().get("handoff", {})
        return found if found.get("from", {}).get("pod") == old else {}

    _follow(say, "a handover", lambda: handoff().get("message", ""), lambda: handoff().get("phase") in _ENDED)


def _count(job: streamjobs.Job, load: flow.Load, say: Say) -> None:
    """What the sink says; anything but exactly once is the end of the demo."""
    found = flow.arrived(job.kube, load, _SINK)
    said = f"of {found.sent} numbers {found.lost} were lost, {found.repeated()} came twice"
    say(f"== {said}")
    if found.lost or found.repeated():
        raise trouble.Trouble(
            f"{said}: that must not be; `kubectl -n {_NAMESPACE} get sj {job.name} -o yaml` tells more"
        )


def _end(kube: target.Target, job: streamjobs.Job, say: Say) -> None:
    say(f"it runs on; `kubectl -n {_NAMESPACE} get sj` and `kubectl -n {_NAMESPACE} describe sj {job.name}` tell how")
    if not kube.own:
        print("\nNext: `PYTHONPATH=tests python3 -m testbed slow node2 20%` slows a node; `make down` ends all of it.")


if __name__ == "__main__":
    sys.exit(main())
