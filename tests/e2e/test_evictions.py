"""A node is drained under a job: its driver hands over, or ends between two batches and goes on elsewhere."""

import json

import pytest

from demo import plain_spark, streamjobs
from e2e import namespaces
from sluice.values import names

EVERY_BATCH = {**plain_spark.S3, "spark.sql.shuffle.partitions": "2", "spark.sql.streaming.minBatchesToRetain": "500"}


@pytest.fixture
def moved(kube, operator):
    """A job that has committed batches."""
    assert operator
    found = streamjobs.fresh(kube, namespaces.JOBS, "moved")
    found.apply(sparkConf=EVERY_BATCH)
    found.wait("condition=Ready")
    plain_spark.until("some batches", lambda: found.last("commits") >= 2, streamjobs.DEADLINE_S)
    yield found
    found.delete()


def is_kept(driver):
    """Whether no eviction ends it."""
    return names.LEAVES_BY in driver["metadata"]["labels"]


def committed(job):
    stored = plain_spark.keys(job.kube, f"{job.namespace}/{job.name}/wordcount/commits/")
    return sorted(int(name) for key in stored if (name := key.rsplit("/", 1)[-1]).isdecimal())


def the_driver(job, is_wanted):
    """The only one it has, once it is as wanted."""

    def look():
        found = job.pods(names.DRIVER)
        return found[0] if len(found) == 1 and is_wanted(found[0]) else None

    return plain_spark.until(f"the driver of {job.name} as wanted", look, streamjobs.DEADLINE_S)


def gone(kube, pod):
    return not kube.kubectl("-n", namespaces.JOBS, "get", "pod", pod, "--ignore-not-found", "-o", "name")


def last_words(kube, driver):
    """What its agent said last: the Lease keeps it until there is a third driver."""
    lease = json.loads(kube.kubectl("-n", namespaces.JOBS, "get", "lease", "moved", "-o", "json"))
    return json.loads(lease["metadata"]["annotations"][f"agent.sluice.dev/{driver}"])


def drain(kube, node, job):
    """As an administrator would, but only of the pods of this job: the node runs the cluster's own as well."""
    of_the_job = f"--pod-selector={names.JOB}={job}"
    kube.kubectl("drain", node, of_the_job, "--force", "--delete-emptydir-data", f"--timeout={streamjobs.DEADLINE_S}s")


def test_a_drain_of_the_drivers_node_waits_until_another_driver_has_taken_over(kube, moved):
    driver = the_driver(moved, is_kept)
    name, node = driver["metadata"]["name"], driver["spec"]["nodeName"]
    try:
        drain(kube, node, moved.name)
        assert gone(kube, name)
        handoff = moved.status()["handoff"]
        assert (handoff["from"]["pod"], handoff["phase"]) in ((name, "Taking"), (name, "Proving"), (name, "Done"))
        assert node in handoff["why"]
        said = last_words(kube, name)
        assert said["drain"]["state"] in ("quiet", "stopped"), said
        assert [query["inFlight"] for query in said["queries"]] == [-1]
        new = the_driver(moved, is_kept)
        assert (new["metadata"]["name"], new["spec"]["nodeName"] != node) == (handoff["to"]["pod"], True)
        plain_spark.until("a first commit", lambda: "toBatch" in moved.status()["handoff"], streamjobs.DEADLINE_S)
        handoff = moved.status()["handoff"]
        assert handoff["toBatch"] == handoff["fromBatch"] + 1
        plain_spark.until("later ones", lambda: moved.last("commits") > handoff["toBatch"] + 1, streamjobs.DEADLINE_S)
        ids = committed(moved)
        assert ids == list(range(ids[0], ids[-1] + 1))
        assert moved.status()["driver"]["restarts"] == 0
        assert "lastFailure" not in moved.status()["driver"]
    finally:
        kube.kubectl("uncordon", node)


def test_a_driver_that_nobody_takes_over_from_leaves_a_drained_node_between_two_batches(kube, moved):
    moved.change(update={"strategy": "Recreate"})
    driver = the_driver(moved, lambda found: not is_kept(found))
    name, node = driver["metadata"]["name"], driver["spec"]["nodeName"]
    try:
        drain(kube, node, moved.name)
        assert gone(kube, name)
        said = last_words(kube, name)
        assert said["drain"]["state"] in ("quiet", "stopped"), said
        assert [query["inFlight"] for query in said["queries"]] == [-1]
        ended_at = said["queries"][0]["committed"]
        moved.wait("condition=Ready")
        plain_spark.until("the next batch", lambda: moved.last("commits") > ended_at, streamjobs.DEADLINE_S)
        plain_spark.until("one driver is left", lambda: len(moved.pods(names.DRIVER)) == 1, streamjobs.DEADLINE_S)
        (driver,) = moved.pods(names.DRIVER)
        assert driver["spec"]["nodeName"] != node
    finally:
        kube.kubectl("uncordon", node)
