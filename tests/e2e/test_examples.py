"""Each of crds/examples as a user would run it: applied, Ready, rows, executors where the plan said, and gone again.

Two at a time, for a machine of two cores: three take longer than two and one. They run the same operator code with
other pipelines, so it is enough that they run and go; all of them are suspended, resumed and changed in
`make bench NAME=operator`, which sets `SLUICE_WHOLE_LIFE`. What that does to a running job is in `test_operator.py` and
`test_redeploys.py`; that another driver goes on from S3 without a record lost or twice, in the demo.
"""

import os
import re

import pytest

from crds import schema
from demo import plain_spark, streamjobs, topics
from e2e import namespaces
from sluice.values import names, streamjob
from testbed import images

PAIRS = [("wordcount", "relay"), ("averages", "grep"), ("topk", "windowed"), ("yahoo", "relay-realtime")]
WHOLE_LIFE = "SLUICE_WHOLE_LIFE" in os.environ
PATIENCE_S = streamjobs.DEADLINE_S
LISTED = (
    "import json, urllib.request as u; print(len(json.load(u.urlopen('http://localhost:18080/api/v1/applications'))))"
)


class Console:
    """Rows that the driver's log shows, batch by batch."""

    def __init__(self, job):
        self.job, self.last = job, 0

    def works(self):
        """Rows were told, and not from the beginning if there was an earlier driver."""
        plain_spark.until(f"rows in the log of {self.job.name}", self.job.has_told_rows, PATIENCE_S)
        batches = plain_spark.until(f"batches of {self.job.name}", self.told, PATIENCE_S)
        # The last batch told may not have been committed: it is then done again.
        assert batches[0] >= self.last
        self.last = batches[-1]

    def told(self):
        batches = self.job.batches()
        return batches if len(batches) > 2 else None


class Topics:
    """Records of `clicks` that arrive in `copies`."""

    def __init__(self, job):
        self.job, self.filled = job, 0
        topics.create(job.kube, "clicks")
        topics.create(job.kube, "copies")

    def works(self):
        """What is new arrives, and what was there before is not copied again."""
        self.filled += 200
        records = [f"record-{number:04d}" for number in range(self.filled)]
        topics.fill(self.job.kube, "clicks", records[-200:])
        plain_spark.until(f"{self.filled} records copied by {self.job.name}", self.has_copied, PATIENCE_S)
        many = topics.count(self.job.kube, "copies")
        assert many < self.filled + 200
        assert sorted(set(topics.read(self.job.kube, "copies", many))) == records

    def has_copied(self):
        return topics.count(self.job.kube, "copies") >= self.filled


class Runs:
    """Drivers whose events the history server has: each is an application to it."""

    def __init__(self, job):
        self.job, self.many = job, 0

    def works(self):
        """There is one more than before."""
        self.many += 1
        server = ("-n", namespaces.JOBS, "exec", "deployment/history-server", "--", "python3", "-c", LISTED)
        self.job.kube.kubectl("-n", namespaces.JOBS, "rollout", "status", "deployment/history-server")
        plain_spark.until(
            f"run {self.many} of {self.job.name} in the history server",
            lambda: self.job.kube.kubectl(*server).strip() == str(self.many),
            PATIENCE_S,
        )


def rows(job):
    """Where one sees that an example works."""
    if job.name == "history":
        return Runs(job)
    return Topics(job) if job.name.startswith("relay") else Console(job)


class Example:
    """One file of crds/examples."""

    def __init__(self, kube, name):
        self.file = schema.EXAMPLES / f"{name}.yaml"
        self.job = streamjobs.Job(kube, namespaces.JOBS, name)
        (manifest,) = [body for body in schema.documents(self.file) if body["kind"] == "StreamJob"]
        self.spec = streamjob.read_spec(manifest["spec"])
        self.rows = rows(self.job)

    def kubectl(self, verb):
        text = self.file.read_text().replace(images.EXAMPLES.local(), images.EXAMPLES.ref())
        self.job.kube.kubectl("-n", namespaces.JOBS, verb, "-f", "-", text=text)

    def is_where_it_was_planned(self):
        """Every executor on the node that its annotation names, and no more of them there than allowed."""
        executors = self.job.pods(names.EXECUTOR)
        planned = {pod["metadata"]["name"]: streamjobs.place_of(pod)["node"] for pod in executors}
        assert {pod["metadata"]["name"]: pod["spec"].get("nodeName") for pod in executors} == planned
        assert len(executors) == self.spec.executors.count
        allowed = self.spec.executors.max_per_node or len(executors)
        assert {node: many for node, many in streamjobs.on_nodes(executors).items() if many > allowed} == {}
        assert self.job.condition("Placed")["status"] == "True"
        if self.spec.placement.near:
            self.is_beside_its_broker(executors)

    def is_beside_its_broker(self, executors):
        """As near to the broker as to the driver: with one of the two, unless neither's node has room for both."""
        words = ("get", "pods", "-A", "-l", "app=kafka", "-o", "jsonpath={.items[*].spec.nodeName}")
        pinned = {self.job.kube.kubectl(*words), *streamjobs.on_nodes(self.job.pods(names.DRIVER))}
        places = [streamjobs.place_of(pod) for pod in executors]
        last = max(int(re.search(r"of the (\d+) pods it talks to", place["why"])[1]) for place in places)
        assert last == len(executors) + 1  # the driver, the broker, and the executors that it is not itself
        far = [place for place in places if place["node"] not in pinned]
        assert [place for place in far if "the most where there is room" not in place["why"]] == []


@pytest.fixture(params=PAIRS, ids="+".join)
def pair(request, kube, operator):
    """Two examples, applied side by side."""
    assert operator
    found = [Example(kube, name) for name in request.param]
    classes = kube.kubectl("get", "storageclasses", "-o", "name")
    if any(example.spec.checkpoint.claim for example in found) and "/shared" not in classes:
        pytest.skip("this cluster has no class of volumes called shared that every node can write")
    for example in found:
        plain_spark.empty_bucket(kube, f"{example.job.name}/")
    return found


def test_an_example_runs_from_apply_to_delete(kube, pair):
    before = streamjobs.objects(kube, namespaces.JOBS)
    for example in pair:
        example.kubectl("apply")
    for example in pair:
        example.job.wait("condition=Ready")
        example.rows.works()
        example.is_where_it_was_planned()

    if WHOLE_LIFE:
        suspend_and_resume(pair)
        change(pair)

    for example in pair:
        example.kubectl("delete")
    plain_spark.until(
        "nothing left", lambda: streamjobs.objects(kube, namespaces.JOBS) <= before, deadline_s=PATIENCE_S
    )


@pytest.mark.usefixtures("operator")
def test_a_history_server_lists_a_job_that_runs(kube):
    if "/shared" not in kube.kubectl("get", "storageclasses", "-o", "name"):
        pytest.skip("this cluster has no class of volumes called shared that every node can write")
    example = Example(kube, "history")
    example.kubectl("apply")
    example.job.wait("condition=Ready")
    example.rows.works()
    example.is_where_it_was_planned()
    if WHOLE_LIFE:
        suspend_and_resume([example])
        change([example])
    example.kubectl("delete")


def suspend_and_resume(examples):
    for example in examples:
        example.job.change(suspend=True)
    for example in examples:
        example.job.wait("jsonpath={.status.phase}=Suspended")
        assert example.job.pods(names.DRIVER) == []
        example.job.change(suspend=False)
    for example in examples:
        example.job.wait("condition=Ready")
        example.rows.works()
        example.is_where_it_was_planned()


def is_changed(example, revision):
    """Ready it is all the while: another driver takes over beside the one that runs."""
    job, there = example.job, (1, example.spec.executors.count)
    return (
        job.status()["revision"] != revision and (len(job.pods(names.DRIVER)), len(job.pods(names.EXECUTOR))) == there
    )


def change(examples):
    revisions = [example.job.status()["revision"] for example in examples]
    for example in examples:
        example.job.change(sparkConf={"spark.sql.streaming.minBatchesToRetain": "50"})
    for example, revision in zip(examples, revisions, strict=True):
        plain_spark.until(f"{example.job.name} is changed", lambda: is_changed(example, revision), PATIENCE_S)  # noqa: B023
        example.job.wait("condition=Ready")
        example.rows.works()
        example.is_where_it_was_planned()
