"""act does what it is told, in that order, and stops where something is in the way."""

import asyncio
import itertools

import pytest

from act import manifests
from fakes import api, calls, loops
from sluice import act
from sluice.transport import failures
from sluice.values import names, outcomes, steps

CONFIG, POD = manifests.config_map(), manifests.pod()
TELL = steps.Tell("team", "clicks", manifests.UID, warning=False, reason="Started", message="clicks starts")


def steps_of(*stages):
    return steps.Steps(tuple(tuple(stage) for stage in stages))


async def do(kube, *stages):
    async with kube.wire() as line:
        return await act.carry_out(steps_of(*stages), line)


def refuse(status, reason, message, only="", **more):
    def hook(call):
        if only in call.words:
            raise calls.Refuse(status, reason, message, **more)

    return hook


def record(job, **status):
    meta = job["metadata"]
    return steps.RecordStatus("team", meta["name"], meta["uid"], meta["resourceVersion"], status)


@loops.in_a_loop
async def test_stages_come_one_after_another():
    async with api.FakeApi() as kube:
        job = kube.put(manifests.streamjob())
        done = await do(kube, [record(job, phase="Starting")], [steps.Create(CONFIG)], [steps.Create(POD)], [TELL])
        assert done.ok
        assert [type(step) for step in done.done] == [steps.RecordStatus, steps.Create, steps.Create, steps.Tell]
        assert [path.rsplit("/", 2)[-1] for path in kube.writes()] == ["status", "configmaps", "pods", "events"]


@loops.in_a_loop
async def test_the_steps_of_a_stage_are_under_way_together():
    all_there = asyncio.Barrier(8)
    async with api.FakeApi() as kube:
        kube.before_write = lambda _: all_there.wait()
        await do(kube, [steps.Create(manifests.config_map(f"c{i}")) for i in range(8)])
        assert [body["metadata"]["name"] for body in kube.objects("ConfigMap")] == [f"c{i}" for i in range(8)]


@loops.in_a_loop
async def test_after_a_failure_its_stage_is_finished_and_no_other_begun():
    async with api.FakeApi() as kube:
        kube.before_write = refuse(403, "Forbidden", "exceeded quota: pods", only="/pods")
        done = await do(kube, [steps.Create(POD), steps.Create(CONFIG)], [TELL])
        assert [step.manifest["kind"] for step in done.done] == ["ConfigMap"]
        assert done.failures == (outcomes.Failure(steps.Create(POD), "Refused", "exceeded quota: pods"),)
        assert kube.objects("Event") == []


FAILURES = {
    "a quota": (403, "Forbidden", "exceeded quota", "Refused"),
    "a webhook": (400, "BadRequest", "admission webhook denied the request", "Refused"),
    "a body it does not like": (422, "Invalid", "spec.containers: Required value", "Refused"),
    "a kind that is not served yet": (404, "NotFound", "could not find the requested resource", "Unavailable"),
    "a quota that was just counted": (409, "Conflict", "the object has been modified", "Conflict"),
    "a token that ran out": (401, "Unauthorized", "Unauthorized", "Unavailable"),
    "a server that has too much to do": (429, "TooManyRequests", "too many requests", "Unavailable"),
    "a server that is broken": (500, "InternalError", "failed calling webhook", "Unavailable"),
}


@pytest.mark.parametrize(("status", "reason", "message", "kind"), FAILURES.values(), ids=FAILURES)
@loops.in_a_loop
async def test_why_something_could_not_be_made_is_told_apart(status, reason, message, kind):
    async with api.FakeApi() as kube:
        kube.before_write = refuse(status, reason, message)
        done = await do(kube, [steps.Create(CONFIG)])
        assert [(failure.kind, message in failure.sentence) for failure in done.failures] == [(kind, True)]


@loops.in_a_loop
async def test_a_namespace_that_is_gone_is_told_from_a_kind_that_is_not_served():
    async with api.FakeApi() as kube:
        details = {"name": "team", "kind": "namespaces"}
        kube.before_write = refuse(404, "NotFound", 'namespaces "team" not found', details=details)
        assert [failure.kind for failure in (await do(kube, [steps.Create(CONFIG)])).failures] == ["Gone"]


@loops.in_a_loop
async def test_a_delete_of_a_kind_that_is_not_served_is_not_taken_for_done():
    async with api.FakeApi() as kube:
        kube.before_write = refuse(404, "NotFound", "could not find the requested resource")
        done = await do(kube, [steps.Delete("Lease", "team", "clicks", "u")])
        assert [failure.kind for failure in done.failures] == ["Unavailable"]


@loops.in_a_loop
async def test_a_namespace_on_its_way_out_is_gone_already():
    async with api.FakeApi() as kube, kube.wire() as line:
        causes = {"causes": [{"reason": "NamespaceTerminating"}]}
        kube.before_write = refuse(403, "Forbidden", "is being terminated", details=causes)
        done = await act.carry_out(steps_of([steps.Create(CONFIG)]), line)
        assert [failure.kind for failure in done.failures] == ["Gone"]


@loops.in_a_loop
async def test_what_is_there_already_and_ours_is_left_as_it_is():
    async with api.FakeApi() as kube:
        await do(kube, [steps.Create(manifests.config_map(a="1"))])
        done = await do(kube, [steps.Create(manifests.config_map(a="2"))])
        assert done.ok
        assert kube.get("ConfigMap", "team", "clicks-a1b2c3")["data"] == {"a": "1"}


OTHERS = {
    "a namesake's of before": manifests.config_map(uid="another"),
    "a user's": {**CONFIG, "metadata": {"name": CONFIG["metadata"]["name"], "namespace": "team"}},
}


@pytest.mark.parametrize("theirs", OTHERS.values(), ids=OTHERS)
@pytest.mark.parametrize("renew", [False, True])
@loops.in_a_loop
async def test_what_is_there_already_and_another_s_is_refused_and_untouched(theirs, renew):
    async with api.FakeApi() as kube:
        before = kube.put(theirs)
        done = await do(kube, [steps.Create(manifests.config_map(a="2"), renew=renew)])
        assert [failure.kind for failure in done.failures] == ["Refused"]
        assert "ConfigMap clicks-a1b2c3 is there already" in done.failures[0].sentence
        assert kube.get("ConfigMap", "team", "clicks-a1b2c3") == before


@loops.in_a_loop
async def test_what_has_no_controller_is_known_by_our_labels():
    async with api.FakeApi() as kube:
        kube.put(manifests.config_map(uid=None))
        assert (await do(kube, [steps.Create(manifests.config_map(uid=None))])).ok


@loops.in_a_loop
async def test_ours_that_is_on_its_way_out_is_waited_for():
    async with api.FakeApi() as kube:
        kube.put(manifests.pod())
        kube.change("Pod", "team", "clicks-a1b2c3-1", metadata={"deletionTimestamp": "2026-11-18T10:00:00Z"})
        done = await do(kube, [steps.Create(POD)])
        assert [failure.kind for failure in done.failures] == ["Conflict"]


@loops.in_a_loop
async def test_a_conflict_over_what_is_known_by_its_name_is_met_anew_at_once():
    twice = [calls.Refuse(409, "Conflict", "the quota has been modified") for _ in range(2)]

    def hook(_):
        if twice:
            raise twice.pop()

    async with api.FakeApi() as kube:
        kube.before_write = hook
        assert (await do(kube, [steps.Create(POD)])).ok
        assert len(kube.calls) == 3


@loops.in_a_loop
async def test_a_conflict_over_a_version_is_for_the_next_look():
    async with api.FakeApi() as kube:
        job = kube.put(manifests.streamjob())
        kube.before_write = refuse(409, "Conflict", "the object has been modified")
        assert [failure.kind for failure in (await do(kube, [record(job)])).failures] == ["Conflict"]
        assert len(kube.calls) == 1


@loops.in_a_loop
async def test_renewed_is_what_is_ours_fields_it_no_longer_has_go_and_others_fields_stay():
    async with api.FakeApi() as kube:
        await do(kube, [steps.Create(manifests.config_map(old="1", a="1"), renew=True)])
        kube.change("ConfigMap", "team", "clicks-a1b2c3", metadata={"annotations": {"team.example/owner": "ann"}})
        for _ in range(2):
            assert (await do(kube, [steps.Create(manifests.config_map(a="2"), renew=True)])).ok
        found = kube.get("ConfigMap", "team", "clicks-a1b2c3")
        assert (found["data"], found["metadata"]["annotations"]) == ({"a": "2"}, {"team.example/owner": "ann"})


@loops.in_a_loop
async def test_exactly_that_object_is_deleted():
    async with api.FakeApi() as kube:
        made = kube.put(POD)
        done = await do(
            kube, [steps.Delete("Pod", "team", made["metadata"]["name"], made["metadata"]["uid"], grace_s=7)]
        )
        assert done.ok
        assert kube.objects("Pod") == []
        assert kube.calls[-1].body["gracePeriodSeconds"] == 7


@loops.in_a_loop
async def test_another_of_the_same_name_stays_and_that_is_fine():
    async with api.FakeApi() as kube:
        kube.put(POD)
        done = await do(kube, [steps.Delete("Pod", "team", POD["metadata"]["name"], "an earlier one")])
        assert done.ok
        assert len(kube.objects("Pod")) == 1


@loops.in_a_loop
async def test_what_is_gone_is_deleted():
    async with api.FakeApi() as kube:
        assert (await do(kube, [steps.Delete("Lease", "team", "clicks", "u")])).ok


@loops.in_a_loop
async def test_a_status_is_patched_only_in_the_version_it_was_made_for():
    async with api.FakeApi() as kube:
        job = kube.put(manifests.streamjob())
        assert (await do(kube, [record(job, phase="Starting", message="a")])).ok
        done = await do(kube, [record(job, phase="Failed")])
        assert [failure.kind for failure in done.failures] == ["Conflict"]
        assert kube.get(names.KIND, "team", "clicks")["status"] == {"phase": "Starting", "message": "a"}


@loops.in_a_loop
async def test_a_status_of_what_is_gone_is_gone():
    async with api.FakeApi() as kube:
        job = kube.put(manifests.streamjob())
        kube.remove(names.KIND, "team", "clicks")
        assert [failure.kind for failure in (await do(kube, [record(job)])).failures] == ["Gone"]


@loops.in_a_loop
async def test_a_pod_s_gate_and_place_change_together_in_the_version_that_was_decided_on():
    async with api.FakeApi() as kube:
        gates = [{"name": "user.example/wait"}, {"name": names.GATE}]
        meta = kube.put(manifests.pod(schedulingGates=gates))["metadata"]
        patch = {
            "metadata": {"annotations": {names.PLACED: "{}"}},
            "spec": {"schedulingGates": gates[:1], "affinity": {"nodeAffinity": {}}},
        }
        step = steps.PatchPod("team", meta["name"], meta["uid"], meta["resourceVersion"], patch)
        done = await do(kube, [step])
        assert done.ok
        pod = kube.get("Pod", "team", meta["name"])
        assert (pod["spec"]["schedulingGates"], pod["spec"]["affinity"]) == (gates[:1], {"nodeAffinity": {}})
        assert pod["metadata"]["annotations"] == {names.PLACED: "{}"}
        again = await do(kube, [step])
        assert [failure.kind for failure in again.failures] == ["Conflict"]


@loops.in_a_loop
async def test_the_same_story_again_is_one_event_counted_up_and_another_is_another():
    async with api.FakeApi() as kube:
        other = steps.Tell("team", "clicks", manifests.UID, warning=True, reason="Failed", message="clicks failed")
        await do(kube, [TELL], [TELL], [other])
        told = {event["reason"]: (event["type"], event["count"]) for event in kube.objects("Event")}
        assert told == {"Started": ("Normal", 2), "Failed": ("Warning", 1)}
        assert kube.objects("Event")[0]["involvedObject"]["uid"] == manifests.UID


@loops.in_a_loop
async def test_a_story_in_other_words_is_the_same_event_and_the_last_words_stand():
    async with api.FakeApi() as kube:
        for attempt in (1, 2, 3):
            message = f"clicks-a1b2c3-{attempt} ended, attempt {attempt + 1} begins at 10:0{attempt}:00 UTC."
            await do(kube, [steps.Tell("team", "clicks", manifests.UID, True, "ApplicationError", message)])
        await do(kube, [steps.Tell("team", "clicks", manifests.UID, False, "ApplicationError", "of no account")])
        told = sorted((event["type"], event["count"], event["message"][:15]) for event in kube.objects("Event"))
        assert told == [("Normal", 1, "of no account"), ("Warning", 3, "clicks-a1b2c3-3")]


@loops.in_a_loop
async def test_what_became_of_streamjobs_and_pods_is_handed_back():
    async with api.FakeApi() as kube:
        job = kube.put(manifests.streamjob())
        done = await do(kube, [record(job, phase="Starting")], [steps.Create(CONFIG)], [steps.Create(POD)])
        assert list(done.bodies) == [kube.get(names.KIND, "team", "clicks"), kube.get("Pod", "team", "clicks-a1b2c3-1")]


@loops.in_a_loop
async def test_who_no_longer_leads_writes_nothing():
    async with api.FakeApi() as kube, kube.wire(may_write=lambda: False) as line:
        kube.put(CONFIG)
        for step in (steps.Create(POD), steps.Delete("ConfigMap", "team", "clicks-a1b2c3", "u"), TELL):
            with pytest.raises(failures.LostLeadership):
                await act.carry_out(steps_of([step]), line)
        assert kube.calls == []


@loops.in_a_loop
async def test_who_loses_the_lead_between_two_tries_makes_no_second():
    leads = itertools.chain([True], itertools.repeat(False))
    async with api.FakeApi() as kube, kube.wire(may_write=lambda: next(leads)) as line:
        kube.before_write = refuse(503, "ServiceUnavailable", "not now")
        with pytest.raises(failures.LostLeadership):
            await act.carry_out(steps_of([steps.Create(POD)]), line)
        assert len(kube.writes()) == 1


@loops.in_a_loop
async def test_a_write_whose_answer_is_lost_is_found_done():
    async with api.FakeApi() as kube:
        lost = iter([calls.Cut()])

        def lose(_):
            for cut in lost:
                raise cut

        kube.after_write = lose
        done = await do(kube, [steps.Create(POD)])
        assert done.ok
        assert [call.status for call in kube.calls] == [0, 409, 200]


@loops.in_a_loop
async def test_an_api_server_that_never_answers_is_unavailable_after_a_few_tries():
    async with api.FakeApi() as kube:

        def cut(_):
            raise calls.Cut

        kube.before_write = cut
        done = await do(kube, [steps.Create(POD), steps.Create(CONFIG)])
        assert [failure.kind for failure in done.failures] == ["Unavailable", "Unavailable"]
        assert len(kube.calls) == 8


@loops.in_a_loop
async def test_a_stage_is_finished_even_when_one_of_it_loses_the_lead():
    leads = itertools.chain([True], itertools.repeat(False))
    async with api.FakeApi() as kube, kube.wire(may_write=lambda: next(leads)) as line:
        with pytest.raises(failures.LostLeadership):
            await act.carry_out(steps_of([steps.Create(CONFIG), steps.Create(POD)]), line)
        assert [body["kind"] for body in kube.objects("ConfigMap")] == ["ConfigMap"]
        assert kube.objects("Pod") == []
