"""A job's whole life, with everything that is around it in a cluster."""

import pytest

from cycle import play
from fakes import calls
from fakes.clock import by_the_clock
from sluice.values import names

pytestmark = pytest.mark.timeout(10)  # a play is made of a hundred requests
OBJECTS = ("ConfigMap", "ServiceAccount", "RoleBinding", "Service", "PodDisruptionBudget", "Lease", "Pod")


def names_of(at, kind):
    return [body["metadata"]["name"] for body in at.kube.objects(kind, play.TEAM)]


def kinds_left(at):
    return [kind for kind in OBJECTS if at.kube.objects(kind)]


@by_the_clock
async def test_a_job_is_ready_once_its_driver_and_all_executors_run():
    async with play.begin() as at:
        at.apply(play.job(count=2))
        await at.until(at.ready)
        assert at.story == [
            ("clicks", "Starting", "DriverStarting"),
            ("clicks", "Running", "ExecutorsMissing"),
            ("clicks", "Running", "Running"),
        ]
        driver = at.status()["driver"]["pod"]
        assert at.drivers() == [driver]
        assert at.executors() == {f"{driver}-exec-1": "node1", f"{driver}-exec-2": "node1"}
        assert {kind: names_of(at, kind) for kind in OBJECTS[:-1]} == {
            "ConfigMap": [f"clicks-{at.status()['revision']}"],
            "ServiceAccount": ["clicks-driver"],
            "RoleBinding": ["clicks-driver"],
            "Service": ["clicks-ui"],
            "PodDisruptionBudget": ["clicks", "clicks-driver"],
            "Lease": ["clicks"],
        }


@by_the_clock
async def test_a_job_at_rest_is_left_alone_and_by_a_new_operator_too():
    async with play.begin() as at:
        at.apply(play.job(count=2))
        await at.until(at.ready)
        await at.later(60)
        before = at.kube.writes()
        await at.later(3600)
        await at.restart()
        await at.later(3600)
        assert at.kube.writes() == before


@by_the_clock
async def test_a_suspended_job_has_no_pods_and_comes_back_as_the_next_attempt():
    async with play.begin() as at:
        at.apply(play.job())
        await at.until(at.ready)
        first = at.drivers()
        at.apply(play.job(suspend=True))
        await at.until(lambda: at.status()["phase"] == "Suspended" and not names_of(at, "Pod"))
        at.apply(play.job())
        await at.until(at.ready)
        assert at.drivers() == [first[0].removesuffix("1") + "2"]
        assert [line[1:] for line in at.story[3:7]] == [
            ("Stopping", "Suspending"),
            ("Suspended", "Suspended"),
            ("Starting", "DriverStarting"),
            ("Running", "ExecutorsMissing"),
        ]


@by_the_clock
async def test_another_image_is_another_revision_once_the_first_driver_has_ended():
    async with play.begin() as at:
        at.apply(play.job())
        await at.until(at.ready)
        before = at.status()["revision"]
        at.apply(play.job(image="clicks:2"))
        await at.until(lambda: at.ready() and at.status()["revision"] != before)
        assert ("clicks", "Restarting", "SpecChanged") in at.story
        told = [e["message"] for e in at.kube.objects("Event") if e["reason"] == "SpecChanged"]
        assert len(told) == 1
        assert "image: clicks:1 → clicks:2: hand over the driver" in told[0]
        (driver,) = at.world.pods(names.DRIVER, "clicks")
        assert driver["spec"]["containers"][0]["image"] == "clicks:2"
        assert at.status()["driver"]["attempt"] == 2


@by_the_clock
async def test_a_changed_spec_that_restarts_nothing_is_told_of_field_by_field():
    async with play.begin() as at:
        at.apply(play.job())
        await at.until(at.ready)
        driver = at.drivers()
        at.apply(play.job(slo={"lag": 5}, placement={"mode": "Observe"}))
        await at.until(at.ready)
        await at.later(60)
        (event,) = [event for event in at.kube.objects("Event") if event["reason"] == "SpecTakenUp"]
        assert event["message"].split("; ") == [
            "placement.mode: Act → Observe: nothing to restart",
            "slo.lag: nothing → 5: nothing to restart",
        ]
        assert (event["count"], event["type"], at.drivers()) == (1, "Normal", driver)


@by_the_clock
async def test_another_number_of_executors_is_had_by_a_restart():
    async with play.begin() as at:
        at.apply(play.job(count=1))
        await at.until(at.ready)
        at.apply(play.job(count=3))
        await at.until(at.ready)
        assert len(at.executors()) == 3
        assert at.kube.get("PodDisruptionBudget", play.TEAM, "clicks")["spec"]["minAvailable"] == 2


@by_the_clock
async def test_of_a_deleted_job_nothing_is_left():
    async with play.begin() as at:
        at.apply(play.job(count=2))
        await at.until(at.ready)
        at.delete()
        await at.until(lambda: not names_of(at, "Pod"))
        assert "Lease" in kinds_left(at)  # it outlives its job: who drains still answers there
        await at.later(60)
        assert kinds_left(at) == []


@by_the_clock
async def test_a_job_made_again_under_its_name_waits_for_the_driver_of_before():
    async with play.begin() as at:
        at.apply(play.job())
        await at.until(at.ready)
        at.world.asleep = True  # a driver that takes its time
        at.delete()
        await at.later(5)
        at.apply(play.job())
        await at.until(lambda: at.condition() == ("False", "PredecessorStopping"))
        at.world.asleep = False
        await at.until(at.ready)
        assert [c for c in names_of(at, "Pod") if "exec" not in c] == at.drivers()


@by_the_clock
async def test_a_stream_that_has_read_all_there_was_is_completed_and_not_begun_again():
    async with play.begin() as at:
        at.apply(play.job(restart={"policy": "OnFailure"}))
        await at.until(at.ready)
        at.end_driver(exit_code=0)
        await at.until(lambda: at.status()["phase"] == "Completed")
        await at.later(600)
        assert (at.status()["phase"], at.drivers(), at.executors()) == ("Completed", [], {})


@by_the_clock
async def test_a_driver_that_fails_comes_back_ever_more_slowly_and_says_why():
    async with play.begin() as at:
        at.apply(play.job(restart={"backoff": {"initial": "10s", "max": "30s"}}))
        begun = []
        at.kube.before_write = lambda call: begun.append(at_s(at)) if call.words.endswith("/pods") else None
        for attempt in (1, 2, 3, 4):
            await at.until(lambda: at.ready() and at.status()["driver"]["attempt"] == attempt)  # noqa: B023
            at.end_driver(exit_code=1, words="no such topic")
            begun.append(at_s(at))
        await at.until(lambda: at.ready() and at.status()["driver"]["attempt"] == 5)
        pauses = [round(begun[i + 1] - begun[i]) for i in (1, 3, 5, 7)]
        assert pauses == [10, 20, 30, 30]
        failed = at.status()["driver"]["lastFailure"]
        assert (failed["attempt"], failed["exitCode"], failed["reason"]) == (4, 1, "ApplicationError")
        assert failed["message"].endswith("no such topic")
        assert ("clicks", "Restarting", "ApplicationError") in at.story
        (event,) = [event for event in at.kube.objects("Event") if event["reason"] == "ApplicationError"]
        assert (event["count"], event["type"]) == (4, "Warning")
        assert "Attempt 5 begins" in event["message"]


def at_s(at):
    return at.operator.task.get_loop().time()


@by_the_clock
async def test_of_two_jobs_on_one_checkpoint_the_second_waits_and_names_the_first():
    async with play.begin() as at:
        shared = {"location": "s3a://state/shared"}
        at.apply(play.job("first", checkpoint=shared))
        await at.until(lambda: at.ready("first"))
        at.apply(play.job("second", checkpoint=shared))
        await at.until(lambda: at.condition(name="second") == ("False", "CheckpointInUse"))
        assert at.status("second")["message"].startswith("team/first writes s3a://state/shared")
        await at.later(600)
        assert at.drivers("second") == []
        at.apply(play.job("first", checkpoint=shared, suspend=True))
        await at.until(lambda: at.ready("second"))
        assert at.drivers("first") == []


@by_the_clock
async def test_what_a_quota_refuses_is_said_and_tried_again_until_there_is_room():
    def full(call):
        if call.words == "POST /api/v1/namespaces/team/pods":
            raise calls.Refuse(403, "Forbidden", "pods clicks is forbidden: exceeded quota: team")

    async with play.begin() as at:
        at.kube.before_write = full
        at.apply(play.job())
        await at.until(lambda: at.condition() == ("False", "Refused"))
        assert "exceeded quota: team" in at.status()["message"]
        await at.later(600)
        tried = [words for words in at.kube.writes() if words == "POST /api/v1/namespaces/team/pods"]
        assert 8 <= len(tried) <= 20  # ever more slowly, and at least once a minute
        at.kube.before_write = lambda _: None
        await at.until(at.ready, within_s=70)
        assert at.status()["driver"]["attempt"] == 1


@by_the_clock
async def test_an_operator_of_some_namespaces_lets_the_pods_of_other_jobs_be():
    async with play.begin(namespaces=("another",)) as at:
        labels = {**names.MANAGED, names.JOB: "clicks", names.ROLE: names.DRIVER}
        spec = {"nodeName": "node1", "containers": [{"name": names.DRIVER_CONTAINER}]}
        meta = {"name": "clicks-a1b2c3-1", "namespace": play.TEAM, "labels": labels}
        at.apply(play.job())
        at.kube.put({"kind": "Pod", "metadata": meta, "spec": spec, "status": {"phase": "Running"}})
        await at.later(600)
        assert at.drivers() == ["clicks-a1b2c3-1"]
        assert at.kube.writes() == []


GONE = "gone"


def shut(call):
    """As for a namespace that was deleted, and the operator's rights there with it."""
    if f"/namespaces/{GONE}/" in call.path:
        raise calls.Refuse(403, "Forbidden", f"streamjobs.sluice.dev is forbidden: no rights in {GONE}")


@by_the_clock
async def test_a_namespace_that_may_not_be_read_holds_up_no_job_elsewhere():
    async with play.begin(namespaces=(GONE, play.TEAM), reads=shut) as at:
        at.apply(play.job())
        await at.until(at.ready)


@by_the_clock
async def test_no_driver_is_made_where_one_might_run_unseen_until_all_can_be_read():
    def leases_shut(call):
        if "/namespaces/team/leases" in call.path:
            raise calls.Refuse(403, "Forbidden", "leases.coordination.k8s.io is forbidden")

    async with play.begin(namespaces=(play.TEAM,), reads=leases_shut) as at:
        at.apply(play.job())
        await at.later(300)
        assert at.kube.writes() == []
        at.kube.before_read = lambda _: None
        await at.until(at.ready, within_s=120)
