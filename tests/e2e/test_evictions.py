"""A driver must go: its node is drained or reclaimed, its pod or its job deleted. Another takes over, or goes on.

One job lives through all of it, under load; each driver begins with the batch after the last one of the driver before.
"""

import json

import pytest

from demo import plain_spark, streamjobs
from e2e import namespaces
from sluice.values import names

CONF = {"spark.sql.shuffle.partitions": "10", "spark.sql.streaming.minBatchesToRetain": "500"}
RECLAIMED = {"key": "test.sluice.dev/reclaimed", "effect": "NoExecute"}


@pytest.fixture(scope="module")
def moved(kube, installed):
    """A job whose batches take longer than the second between them, so that one is always in flight."""
    assert installed
    found = streamjobs.fresh(kube, namespaces.JOBS, "moved")
    found.apply(sparkConf={**streamjobs.CONF, **CONF})
    found.wait("condition=Ready")
    plain_spark.until("some batches", lambda: found.last("commits") >= 2, streamjobs.DEADLINE_S)
    yield found
    found.delete()


def is_kept(driver):
    """Whether no eviction ends it."""
    return names.LEAVES_BY in driver["metadata"]["labels"]


def the_driver(job, is_wanted):
    """The only one it has, once it is as wanted."""

    def look():
        found = job.pods(names.DRIVER)
        return found[0] if len(found) == 1 and is_wanted(found[0]) else None

    return plain_spark.until(f"the driver of {job.name} as wanted", look, streamjobs.DEADLINE_S)


def gone(kube, pod):
    return not kube.kubectl("-n", namespaces.JOBS, "get", "pod", pod, "--ignore-not-found", "-o", "name")


@pytest.fixture
def driver(operator, moved):
    """Its driver, in the middle of its work."""
    assert operator
    moved.wait("condition=Ready")
    plain_spark.until("some batches", lambda: len(moved.batches()) > 2, streamjobs.DEADLINE_S)
    (found,) = moved.pods(names.DRIVER)
    return found


def last_words(kube, driver):
    """What its agent said last: the Lease keeps it until there is a third driver."""
    lease = json.loads(kube.kubectl("-n", namespaces.JOBS, "get", "lease", "moved", "-o", "json"))
    return json.loads(lease["metadata"]["annotations"][f"agent.sluice.dev/{driver['metadata']['name']}"])


def until_gone(kube, driver):
    """Waits for it as long as its pod may take to end."""
    name, grace_s = driver["metadata"]["name"], driver["spec"]["terminationGracePeriodSeconds"]
    kube.kubectl("-n", namespaces.JOBS, "wait", "--for=delete", f"pod/{name}", f"--timeout={grace_s}s")


def assert_drained(said):
    assert said["drain"]["state"] in ("quiet", "stopped"), said
    assert [query["inFlight"] for query in said["queries"]] == [-1]


def node_of_the_next(job, before):
    """Where the driver after this one was sent."""

    def look():
        others = [pod for pod in job.pods(names.DRIVER) if pod["metadata"]["uid"] != before["metadata"]["uid"]]
        return next((pod["spec"]["nodeName"] for pod in others if "nodeName" in pod["spec"]), None)

    return plain_spark.until("another driver has a node", look, streamjobs.DEADLINE_S)


def assert_goes_on(kube, job, before):
    """The last driver ended between two batches, and the next one did none of them again and left none out."""
    said = last_words(kube, before)
    assert_drained(said)
    gone = before["metadata"]["name"]
    plain_spark.until("another driver", lambda: job.status().get("driver", {}).get("pod", gone) != gone)
    job.wait("condition=Ready")
    plain_spark.until("its first batch", job.batches, streamjobs.DEADLINE_S)
    assert job.batches()[0] == said["queries"][0]["committed"] + 1


def drain(kube, node, job):
    """As an administrator would."""
    kube.kubectl(*job.drain_of(node), f"--timeout={streamjobs.DEADLINE_S}s")


def spare_the_others(kube, node, job):
    """What else runs on a node is to stay when it is reclaimed: it tolerates this one taint, and nothing more."""
    listed = kube.kubectl("get", "pods", "-A", f"--field-selector=spec.nodeName={node}", "-o", "json")
    for pod in json.loads(listed)["items"]:
        meta, tolerations = pod["metadata"], pod["spec"].get("tolerations", [])
        if meta.get("labels", {}).get(names.JOB) != job and not any(
            t.get("key") == RECLAIMED["key"] for t in tolerations
        ):
            patch = {"spec": {"tolerations": [*tolerations, {**RECLAIMED, "operator": "Exists"}]}}
            words = ("patch", "pod", meta["name"], "--type=merge", "-p", json.dumps(patch))
            kube.kubectl("-n", meta["namespace"], *words)


def test_a_driver_that_nobody_takes_over_from_leaves_a_drained_node_between_two_batches(kube, moved):
    moved.change(update={"strategy": "Recreate"})
    driver = the_driver(moved, lambda found: not is_kept(found))
    node = driver["spec"]["nodeName"]
    try:
        drain(kube, node, moved)
        assert node_of_the_next(moved, driver) != node
    finally:
        kube.kubectl("uncordon", node)
    assert_goes_on(kube, moved, driver)


def test_a_deleted_driver_drains_itself_and_another_goes_on(kube, moved, driver):
    kube.kubectl("-n", namespaces.JOBS, "delete", "pod", driver["metadata"]["name"], "--wait=false")
    until_gone(kube, driver)
    assert_goes_on(kube, moved, driver)


def test_a_reclaimed_node_is_left_between_two_batches_and_the_job_goes_on_elsewhere(kube, moved, driver):
    node, taint = driver["spec"]["nodeName"], f"{RECLAIMED['key']}:{RECLAIMED['effect']}"
    spare_the_others(kube, node, moved.name)
    try:
        kube.kubectl("taint", "node", node, taint)
        until_gone(kube, driver)
        assert node_of_the_next(moved, driver) != node
    finally:
        kube.kubectl("taint", "node", node, f"{taint}-")
    assert_goes_on(kube, moved, driver)


def test_a_job_that_is_deleted_under_load_drains_first(kube, moved, driver):
    before = max(moved.batches())
    moved.delete()
    until_gone(kube, driver)
    assert moved.last("offsets") == moved.last("commits") >= before
