"""A running job is changed, scaled, rolled and moved, and its batches go on."""

import pytest

from demo import plain_spark, streamjobs
from e2e import namespaces
from sluice.values import names

SMALL = {"name": names.EXECUTOR_CONTAINER, "resources": {"requests": {"cpu": "100m"}}}
BLUE = {"metadata": {"labels": {"colour": "blue"}}, "spec": {"containers": [SMALL]}}


@pytest.fixture(scope="module")
def renewed(kube, installed):
    """A job with state that has committed batches."""
    assert installed
    found = streamjobs.fresh(kube, namespaces.JOBS, "renewed")
    found.apply()
    found.wait("condition=Ready")
    plain_spark.until("some batches", lambda: found.last("commits") >= 2, streamjobs.DEADLINE_S)
    yield found
    found.delete()


def handoff(job):
    return job.status().get("handoff", {})


def until_handed_over(job):
    def look():
        found = handoff(job)
        return found if found.get("phase") in ("Proving", "Done", "Cancelled", "RolledBack") else None

    found = plain_spark.until(f"{job.name} is handed over", look, streamjobs.DEADLINE_S)
    assert found["phase"] in ("Proving", "Done"), found["message"]
    return found


@pytest.mark.usefixtures("operator")
def test_another_driver_takes_over_between_two_batches_and_the_job_is_ready_all_the_while(renewed):
    old, ready = renewed.uids(names.DRIVER), renewed.condition("Ready")
    renewed.change(sparkConf={"spark.sql.streaming.minBatchesToRetain": "500"})
    found = until_handed_over(renewed)
    assert found["toBatch"] == found["fromBatch"] + 1
    assert 0 < found["pauseMs"] < 30_000
    assert renewed.condition("Ready")["lastTransitionTime"] == ready["lastTransitionTime"]
    plain_spark.until("its next batch", lambda: renewed.last("commits") > found["toBatch"], streamjobs.DEADLINE_S)
    plain_spark.until("the old driver is gone", lambda: not old & renewed.uids(names.DRIVER), streamjobs.DEADLINE_S)
    ids = renewed.logged("commits")
    assert ids == list(range(ids[0], ids[-1] + 1))
    assert {query["phase"] for query in renewed.status()["queries"]} == {"running"}


@pytest.mark.usefixtures("operator")
def test_executors_come_and_are_replaced_while_the_driver_runs_on(renewed):
    driver = renewed.uids(names.DRIVER)
    renewed.change(executors={"count": 2, "template": BLUE})

    def rolled():
        pods = renewed.pods(names.EXECUTOR)
        blue = [pod for pod in pods if pod["metadata"]["labels"].get("colour") == "blue"]
        return len(blue) == len(pods) == 2 and all(pod["status"]["phase"] == "Running" for pod in pods)

    plain_spark.until("two executors, both of the new template", rolled, streamjobs.DEADLINE_S)
    renewed.wait("condition=Progressing=False")
    assert renewed.uids(names.DRIVER) == driver
    seen = renewed.last("commits")
    plain_spark.until("a later batch", lambda: renewed.last("commits") > seen + 1, streamjobs.DEADLINE_S)
    (orders,) = renewed.status()["orders"]["drivers"].values()
    assert orders["executors"] == {"total": 2, "decommission": []}


@pytest.mark.usefixtures("operator")
def test_its_input_is_cut_for_both_executors_and_how_they_do_is_measured(renewed):
    def judged():
        found = renewed.condition("Balanced")
        return found["reason"] in ("Balanced", "Shifting") and "one executor" not in found["message"]

    plain_spark.until("both were measured", judged, streamjobs.DEADLINE_S)
    (orders,) = renewed.status()["orders"]["drivers"].values()
    assert (orders["balance"]["act"], orders["balance"]["lever"]) == (True, True)
