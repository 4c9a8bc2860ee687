"""What the operator does when not all goes well, on a real cluster.

Jobs in each other's way, no operator, a new operator, a namespace that goes. Small jobs, one executor each, on S3;
`steady` runs through most of them, for a driver is what takes long to start.
"""

import json
import urllib.error
import urllib.parse
import urllib.request

import pytest
import yaml

from chart import render
from demo import plain_spark, streamjobs, topics
from e2e import command, namespaces
from sluice.values import names
from testbed import addons

LEFT_THE_GATE_S = 45
BAD_IMAGE = "localhost/none:1"
ONE = {"count": 1}
KAFKA = ["--servers", "kafka.testbed:9092"]


def job(kube, name, namespace=namespaces.JOBS):
    return streamjobs.fresh(kube, namespace, name)


def lease(found):
    return f"lease.coordination.k8s.io/{found.name}" in streamjobs.objects(found.kube, found.namespace)


def query(found):
    """The one query of a job, once a batch of it was measured."""
    return next((one for one in found.status().get("queries", ()) if "batch" in one), None)


@pytest.fixture(scope="module")
def steady(kube, installed):
    """A job that runs through all of these tests."""
    assert installed
    found = job(kube, "steady")
    found.apply()
    found.wait("condition=Ready")
    return found


@pytest.fixture(scope="module")
def first_shown(steady):
    """Its query as it was first shown with a batch."""
    return plain_spark.until("a batch of the query is known", lambda: query(steady), streamjobs.DEADLINE_S)


@pytest.fixture(scope="module")
def seen_and_left(kube, installed):
    """Two jobs that Sluice does not place, in the namespace that goes at the end."""
    assert installed
    found = [job(kube, name, namespaces.LEAVING) for name in ("observed", "left-alone")]
    for each, mode in zip(found, ("Observe", "Off"), strict=True):
        each.apply(placement={"mode": mode})
    for each in found:
        each.wait("condition=Ready")
    return found


@pytest.mark.usefixtures("operator")
def test_a_job_that_works_off_what_there_is_ends_completed(kube):
    records = [f"record-{number:04d}" for number in range(500)]
    topics.create(kube, "work")
    topics.create(kube, "done")
    topics.fill(kube, "work", records)
    found = job(kube, "work-off")
    words = ["--source", "kafka:work", "--sink", "kafka:done", "--trigger", "now", *KAFKA]
    found.apply(application={"file": "local:///opt/pipelines/relay.py", "args": words}, restart={"policy": "OnFailure"})
    found.wait("jsonpath={.status.phase}=Completed")
    assert topics.read(kube, "done", topics.count(kube, "done")) == records
    plain_spark.until("no executor is left", lambda: not found.pods(names.EXECUTOR))
    assert [pod["status"]["phase"] for pod in found.pods(names.DRIVER)] == ["Succeeded"]
    found.delete()


@pytest.mark.usefixtures("operator")
def test_a_running_job_shows_its_query_and_its_driver_holds_the_lease(kube, steady, first_shown):
    assert (first_shown["name"], first_shown["phase"]) == ("wordcount", "running")
    for kind, reason in (("Protected", "Guarded"), ("CheckpointHealthy", "Committed"), ("SLOMet", "NoSLO")):
        steady.until_reason(reason, kind)
        assert steady.condition(kind)["status"] == "True"
    (driver,) = steady.pods(names.DRIVER)
    holder = kube.kubectl("-n", steady.namespace, "get", "lease", "steady", "-o", "jsonpath={.spec.holderIdentity}")
    assert holder == f"{driver['metadata']['name']}_{driver['metadata']['uid']}"


@pytest.mark.usefixtures("operator")
def test_a_suspended_job_ended_between_two_batches_and_goes_on_from_there(steady):
    steady.change(suspend=True)
    steady.wait("jsonpath={.status.phase}=Suspended")
    assert steady.last("offsets") == steady.last("commits")
    ended_at = steady.last("commits")
    steady.change(suspend=False)
    steady.wait("condition=Ready")
    plain_spark.until("the next batch", lambda: steady.last("commits") > ended_at, streamjobs.DEADLINE_S)


@pytest.mark.usefixtures("operator")
def test_a_second_job_on_a_checkpoint_does_not_start_and_names_the_first(kube, steady):
    location = f"s3a://{plain_spark.BUCKET}/{steady.namespace}/{steady.name}"
    rival = job(kube, "rival")
    rival.apply(checkpoint={"location": location})
    said = rival.until_reason("CheckpointInUse")
    assert said.startswith(f"{namespaces.JOBS}/steady writes {location}")
    assert rival.pods(names.DRIVER) == []
    rival.delete()
    assert steady.condition("Ready")["status"] == "True"


@pytest.mark.usefixtures("operator")
def test_a_person_at_the_command_line_sees_the_job_and_its_surroundings(kube, steady, tmp_path):
    assert "steady" in command.says(kube, "status")
    assert "steady is Running" in command.says(kube, "why", "steady")
    plain_spark.until("a batch in the log", lambda: "Batch: " in command.says(kube, "logs", "steady"))
    assert len(command.says(kube, "logs", "steady", "--executor", "1", "--tail", "2").splitlines()) == 2
    command.says(kube, "logs", "steady", "--agent")
    dump = tmp_path / "dump.json"
    dump.write_text(command.says(kube, "dump"))
    assert steady.executor()["metadata"]["name"] in dump.read_text()
    assert "consolidate" in command.says(kube, "plan", "--compare", "--snapshot", str(dump))
    assert "no-such-job" in command.refuses(kube, "why", "no-such-job")


@pytest.mark.usefixtures("operator")
def test_a_person_at_the_command_line_opens_the_spark_ui(kube, steady):
    showing = command.start(kube, "ui", steady.name, "--port", "24040")
    try:
        assert "http://127.0.0.1:24040" in showing.stdout.readline()

        def applications():
            try:
                with urllib.request.urlopen("http://127.0.0.1:24040/api/v1/applications", timeout=10) as answer:
                    return json.load(answer)
            except urllib.error.URLError:  # kubectl has not opened its port yet
                return None

        assert plain_spark.until("the Spark UI answers", applications)[0]["name"] == steady.name
    finally:
        command.end(showing)


@pytest.mark.usefixtures("operator")
def test_a_person_at_the_command_line_restarts_suspends_and_resumes(kube, steady):
    before = steady.uids(names.DRIVER)
    assert "told to restart" in command.says(kube, "restart", steady.name)
    plain_spark.until("another driver", lambda: steady.uids(names.DRIVER) - before, streamjobs.DEADLINE_S)
    steady.wait("condition=Ready")
    assert "told to stop" in command.says(kube, "suspend", steady.name)
    steady.wait("jsonpath={.status.phase}=Suspended")
    command.says(kube, "resume", steady.name)
    steady.wait("condition=Ready")


@pytest.mark.usefixtures("steady")
def test_prometheus_understands_every_alert_and_none_fires_while_all_is_well(operator, testbed):
    operator.install(podAnnotations={"prometheus.io/scrape": "true", "prometheus.io/port": "8080"})
    port, _ = addons.FORWARDS["prometheus"]
    assert testbed

    def ask(expression):
        query = urllib.parse.urlencode({"query": expression})
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/api/v1/query?{query}", timeout=10) as answer:
            return json.load(answer)["data"]["result"]

    plain_spark.until("the operator in Prometheus", lambda: ask("sluice_leader == 1"))
    rules = yaml.safe_load((render.CHART / "files" / "alerts.yaml").read_text())["groups"][0]["rules"]
    assert {rule["alert"] for rule in rules} >= {"SluiceNoLeader", "SluiceJobNotRunning"}
    plain_spark.until("no alert would fire", lambda: all(ask(rule["expr"]) == [] for rule in rules))


def test_an_upgrade_keeps_running_jobs_running(operator, steady):
    driver, executors = steady.uids(names.DRIVER), steady.uids(names.EXECUTOR)
    before = steady.status()["observedGeneration"]
    operator.install(logLevel="debug")
    steady.change(slo={"lag": 100_000})
    plain_spark.until("the new operator has looked", lambda: steady.status()["observedGeneration"] > before)
    assert (steady.uids(names.DRIVER), steady.uids(names.EXECUTOR)) == (driver, executors)
    steady.wait("condition=Ready")


def test_without_an_operator_executors_leave_the_gate_and_jobs_can_be_deleted(kube, operator, steady):
    leaving = job(kube, "deleted-meanwhile")
    leaving.apply(image=BAD_IMAGE)
    leaving.until_reason("ImagePull")
    operator.scale(0)
    leaving.delete()
    before = steady.executor()["metadata"]
    kube.kubectl("-n", steady.namespace, "delete", "pod", before["name"])
    pod = steady.executor(lambda pod: pod["metadata"]["uid"] != before["uid"] and streamjobs.bound_at(pod))
    made, bound = pod["metadata"]["creationTimestamp"], streamjobs.bound_at(pod)
    assert streamjobs.seconds_between(made, bound) <= LEFT_THE_GATE_S
    assert streamjobs.place_of(pod) == {}
    assert lease(leaving)

    operator.scale(1)
    plain_spark.until("the Lease of a job deleted meanwhile is gone", lambda: not lease(leaving))
    assert "was not opened by the operator" in steady.until_reason("Open", "Placed")
    steady.wait("condition=Ready")


@pytest.mark.usefixtures("operator")
def test_observe_shows_the_plan_and_off_makes_none(kube, seen_and_left):
    observed, left_alone = seen_and_left
    place = streamjobs.place_of(observed.executor())
    assert place["node"] == ""
    assert place["why"].startswith("placement.mode is Observe; consolidate would send it to ")
    assert place["why"].split(" to ")[1].split(":")[0] in kube.kubectl("get", "nodes", "-o", "name")
    assert observed.condition("Placed")["reason"] == "Observed"

    pod = left_alone.executor()
    assert streamjobs.place_of(pod) == {}
    assert left_alone.condition("Placed")["reason"] == "Off"
    template = kube.kubectl("-n", left_alone.namespace, "get", "cm", "-l", f"{names.JOB}=left-alone", "-o", "yaml")
    assert names.GATE not in template


@pytest.mark.usefixtures("operator")
def test_later_batches_are_shown_as_well(steady, first_shown):
    plain_spark.until(
        "a later batch is shown", lambda: (query(steady) or first_shown)["batch"] > first_shown["batch"], 120
    )


def test_a_namespace_with_running_jobs_goes_and_the_operator_stays(kube, operator, steady, seen_and_left):
    assert seen_and_left
    kube.kubectl("delete", "namespace", namespaces.LEAVING, "--timeout=120s")
    steady.change(suspend=True)
    steady.wait("jsonpath={.status.phase}=Suspended")
    assert set(operator.restarts()) == {0}
    steady.delete()
