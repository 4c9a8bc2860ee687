"""A node is drained under a job: its driver ends between two batches, and goes on elsewhere from there."""

import json

import pytest

from demo import plain_spark, streamjobs
from e2e import namespaces
from sluice.values import names


@pytest.fixture
def moved(kube, operator):
    """A job that has committed batches."""
    assert operator
    found = streamjobs.fresh(kube, namespaces.JOBS, "moved")
    found.apply()
    found.wait("condition=Ready")
    yield found
    found.delete()


def gone(kube, pod):
    return not kube.kubectl("-n", namespaces.JOBS, "get", "pod", pod, "--ignore-not-found", "-o", "name")


def last_words(kube, driver):
    """What its agent said last: the Lease keeps it until there is a third driver."""
    lease = json.loads(kube.kubectl("-n", namespaces.JOBS, "get", "lease", "moved", "-o", "json"))
    return json.loads(lease["metadata"]["annotations"][f"agent.sluice.dev/{driver}"])


def drain(kube, node, job):
    """As an administrator would, but only of the pods of this job: the node runs the cluster's own as well."""
    of_the_job = f"--pod-selector={names.JOB}={job}"
    kube.kubectl("drain", node, of_the_job, "--force", "--delete-emptydir-data", "--timeout=120s")


def test_a_drained_node_is_left_between_two_batches_and_the_job_goes_on_elsewhere(kube, moved):
    plain_spark.until("some batches", lambda: moved.last("commits") >= 2, streamjobs.DEADLINE_S)
    (driver,) = moved.pods(names.DRIVER)
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
