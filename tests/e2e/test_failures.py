"""Jobs that cannot start, or not stay: what a real cluster does to them, and what their user is told.

No image, no room under a quota, no node large enough, a program that fails. Small jobs, one executor each, on S3.
"""

import json

import pytest

from demo import plain_spark, streamjobs
from e2e import namespaces
from sluice.values import names

LEFT_THE_GATE_S = 45
BAD_IMAGE = "localhost/none:1"
ONE = {"count": 1}


def job(kube, name, namespace=namespaces.JOBS):
    return streamjobs.fresh(kube, namespace, name)


def lease(found):
    return f"lease.coordination.k8s.io/{found.name}" in streamjobs.objects(found.kube, found.namespace)


def admit(kube, pods):
    """Lets so many pods into the namespace."""
    meta = {"name": "full", "namespace": namespaces.LEAVING}
    quota = {"apiVersion": "v1", "kind": "ResourceQuota", "metadata": meta, "spec": {"hard": {"pods": str(pods)}}}
    kube.kubectl("apply", "-f", "-", text=json.dumps(quota))


@pytest.fixture(scope="module")
def starved(kube, installed):
    """A job in a namespace whose quota lets no pod in at first; the scheduler may place its executor."""
    assert installed
    admit(kube, 0)
    found = job(kube, "starved", namespaces.LEAVING)
    found.apply(placement={"mode": "Off"})
    yield found
    found.delete()
    kube.kubectl("-n", namespaces.LEAVING, "delete", "resourcequota", "full", "--ignore-not-found")


@pytest.mark.usefixtures("operator")
def test_a_quota_that_is_used_up_is_quoted_and_the_driver_starts_when_there_is_room_for_it(kube, starved):
    plain_spark.until("the quota is quoted", lambda: "exceeded quota: full" in starved.until_reason("Refused"))
    admit(kube, 1)
    plain_spark.until("a driver", lambda: starved.pods(names.DRIVER))


@pytest.mark.usefixtures("operator")
def test_an_image_that_is_not_there_is_named_with_a_hint(kube):
    found = job(kube, "no-image")
    found.apply(image=BAD_IMAGE)
    said = found.until_reason("ImagePull")
    assert BAD_IMAGE in said
    assert "look at spec.image and spec.imagePullSecrets" in said
    found.delete()
    plain_spark.until("the Lease of a deleted job is gone", lambda: not lease(found))


@pytest.mark.usefixtures("operator")
def test_a_program_that_fails_is_quoted_and_tried_again_with_growing_pauses(kube):
    found = job(kube, "broken")
    program = {"file": "local:///opt/pipelines/grep.py", "args": ["--pattern", "("]}
    found.apply(application=program, restart={"backoff": {"initial": "2s", "max": "10s"}})

    def third():
        driver = found.status().get("driver", {})
        return driver if driver.get("attempt", 0) > 2 else None

    driver = plain_spark.until("a third attempt", third, streamjobs.DEADLINE_S)
    failure = driver["lastFailure"]
    assert (failure["reason"], failure["exitCode"]) == ("ApplicationError", 1)
    assert "unterminated subpattern" in failure["message"]
    assert driver["restarts"] >= 2
    if failure["attempt"] == 2:
        assert streamjobs.seconds_between(failure["at"], driver["since"]) >= 4
    found.delete()


@pytest.mark.usefixtures("operator")
def test_executors_that_fit_nowhere_leave_the_gate_and_say_what_they_need(kube):
    found = job(kube, "giant")
    asks = {"spec": {"containers": [{"name": "executor", "resources": {"requests": {"cpu": "512"}}}]}}
    found.apply(executors={**ONE, "template": asks})
    pod = found.executor(lambda pod: not plain_spark.is_gated(pod))
    place = streamjobs.place_of(pod)
    assert streamjobs.seconds_between(pod["metadata"]["creationTimestamp"], place["at"]) <= LEFT_THE_GATE_S
    assert place["node"] == ""
    assert "nodes has 512000m CPU" in place["why"]
    assert "make room, or lower spec.executors.cores" in found.until_reason("ExecutorsMissing")
    found.delete()


@pytest.mark.usefixtures("operator")
def test_a_quota_that_lets_in_the_driver_alone_is_where_its_user_is_told_to_look(starved):
    def failure():
        return starved.status()["driver"].get("lastFailure")

    said = plain_spark.until("Spark to give up", failure, streamjobs.DEADLINE_S)
    assert said["reason"] == "ExecutorsFailed"
    assert f"kubectl -n {namespaces.LEAVING} describe quota" in said["message"]
