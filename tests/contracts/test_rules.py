"""The rules of the API server that Sluice leans on, held against the real one and the fake."""

import asyncio
import contextlib

import pytest

from act import manifests
from contracts import servers
from contracts.asking import do, gated, get, kinds, make, patch, wait_for
from fakes import loops
from sluice.observe import listwatch
from sluice.transport import paths, wire
from sluice.values import names, steps

BOTH = pytest.mark.parametrize("which", [servers.FAKE, servers.REAL])
ON_THE_REAL_ONE = pytest.mark.parametrize("which", [servers.REAL])


def config(namespace, name="config", **data):
    """Of nobody: what belongs to a StreamJob that is not there is collected within a second."""
    return manifests.config_map(name, namespace, uid=None, **data)


@BOTH
@loops.in_a_loop
async def test_a_name_is_given_once(which):
    async with servers.connect(which) as (line, namespace):
        body = await make(line, config(namespace))
        again = await line.call("POST", paths.collection("ConfigMap", namespace), config(namespace))
        assert (again.status, again.body["reason"]) == (409, "AlreadyExists")
        assert (await get(line, {**body, "kind": "ConfigMap"})).body["metadata"]["uid"] == body["metadata"]["uid"]


@BOTH
@loops.in_a_loop
async def test_an_object_is_deleted_by_its_uid_and_no_other(which):
    async with servers.connect(which) as (line, namespace):
        body = {**await make(line, config(namespace)), "kind": "ConfigMap"}
        path = paths.item("ConfigMap", namespace, "config")
        other = await line.call("DELETE", path, {"preconditions": {"uid": manifests.UID}})
        assert (other.status, (await get(line, body)).ok) == (409, True)
        own = await line.call("DELETE", path, {"preconditions": {"uid": body["metadata"]["uid"]}})
        assert (own.ok, (await get(line, body)).status) == (True, 404)
        gone = await line.call("DELETE", path, {})
        assert (gone.status, gone.body["details"]["name"]) == (404, "config")


@BOTH
@loops.in_a_loop
async def test_a_patch_is_made_for_one_version(which):
    async with servers.connect(which) as (line, namespace):
        body = {**await make(line, config(namespace, a="1")), "kind": "ConfigMap"}
        meta = {key: body["metadata"][key] for key in ("uid", "resourceVersion")}
        assert (await patch(line, body, {"metadata": meta, "data": {"a": "2"}})).ok
        late = await patch(line, body, {"metadata": meta, "data": {"a": "3"}})
        assert (late.status, late.body["reason"]) == (409, "Conflict")
        assert (await get(line, body)).body["data"] == {"a": "2"}


@BOTH
@loops.in_a_loop
async def test_a_lease_is_taken_by_one_of_two(which):
    async with servers.connect(which) as (line, namespace):
        meta = {"name": "lead", "namespace": namespace}
        lease = {"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": meta, "spec": {}}
        made, path = await make(line, lease), paths.item("Lease", namespace, "lead")
        taken = [await line.call("PUT", path, {**made, "spec": {"holderIdentity": who}}) for who in ("one", "two")]
        assert [answer.status for answer in taken] == [200, 409]
        assert (await get(line, lease)).body["spec"] == {"holderIdentity": "one"}


@BOTH
@loops.in_a_loop
async def test_a_patch_is_made_for_one_uid(which):
    async with servers.connect(which) as (line, namespace):
        body = {**await make(line, config(namespace, a="1")), "kind": "ConfigMap"}
        other = await patch(line, body, {"metadata": {"uid": manifests.UID}, "data": {"a": "2"}})
        assert other.status in (409, 422)
        assert (await get(line, body)).body["data"] == {"a": "1"}


@BOTH
@loops.in_a_loop
async def test_a_patch_that_changes_nothing_makes_no_version(which):
    async with servers.connect(which) as (line, namespace):
        body = {**await make(line, config(namespace, a="1")), "kind": "ConfigMap"}
        same = await patch(line, body, {"data": {"a": "1"}})
        assert same.body["metadata"]["resourceVersion"] == body["metadata"]["resourceVersion"]


@BOTH
@loops.in_a_loop
async def test_a_lean_answer_says_who_it_is_and_which_version(which):
    async with servers.connect(which) as (line, namespace):
        body = config(namespace)
        found = await line.call("POST", paths.collection("ConfigMap", namespace), body, lean=True)
        assert found.body["kind"] == "PartialObjectMetadata"
        assert "data" not in found.body
        assert {"uid", "resourceVersion", "name"} <= found.body["metadata"].keys()


@BOTH
@loops.in_a_loop
async def test_applying_to_one_uid_does_not_make_another(which):
    async with servers.connect(which) as (line, namespace):
        body = config(namespace)
        lost = {**body, "metadata": {**body["metadata"], "uid": manifests.UID}}
        said = await patch(line, body, lost, wire.APPLY, {"fieldManager": "sluice", "force": "true"})
        assert (said.status, (await get(line, body)).status) == (409, 404)


@BOTH
@loops.in_a_loop
async def test_applying_is_for_one_version_too(which):
    async with servers.connect(which) as (line, namespace):
        body = {**await make(line, config(namespace, a="1")), "kind": "ConfigMap"}
        this = {key: body["metadata"][key] for key in ("uid", "resourceVersion")}
        await patch(line, body, {"data": {"a": "2"}})
        late = {**config(namespace, a="3"), "metadata": {**config(namespace)["metadata"], **this}}
        said = await patch(line, body, late, wire.APPLY, {"fieldManager": "sluice", "force": "true"})
        assert (said.status, said.body["reason"]) == (409, "Conflict")
        assert (await get(line, body)).body["data"] == {"a": "2"}


@BOTH
@loops.in_a_loop
async def test_what_is_renewed_loses_our_old_fields_and_keeps_those_of_others(which):
    async with servers.connect(which) as (line, namespace):
        assert (await do(line, steps.Create(config(namespace, a="1", old="1")))).ok
        note = {"metadata": {"annotations": {"team.example/owner": "ann"}}}
        await patch(line, config(namespace), note, query={"fieldManager": "ann"})
        for _ in range(2):
            assert (await do(line, steps.Create(config(namespace, a="2"), renew=True))).ok
        found = (await get(line, config(namespace))).body
        assert (found["data"], found["metadata"]["annotations"]) == ({"a": "2"}, {"team.example/owner": "ann"})


@BOTH
@loops.in_a_loop
async def test_many_are_listed_in_chunks_of_one_version(which):
    async with servers.connect(which) as (line, namespace):
        for i in range(5):
            await make(line, config(namespace, f"c{i}"))
        selected = {"labelSelector": f"{names.JOB}=clicks", "limit": "2"}
        found, versions, page = [], set(), {}
        while not page or page["metadata"].get("continue"):
            more = {"continue": page["metadata"]["continue"]} if page else {}
            answer = await line.call("GET", paths.collection("ConfigMap", namespace), query={**selected, **more})
            page = answer.body
            found += [body["metadata"]["name"] for body in page["items"]]
            versions.add(page["metadata"]["resourceVersion"])
        assert (found, len(versions)) == ([f"c{i}" for i in range(5)], 1)


@BOTH
@loops.in_a_loop
async def test_a_watch_tells_every_change_in_order_and_a_deletion_is_a_version_of_its_own(which):
    async with servers.connect(which) as (line, namespace):
        first = {**await make(line, config(namespace, a="1")), "kind": "ConfigMap"}
        since = first["metadata"]["resourceVersion"]
        path = paths.collection("ConfigMap", namespace)
        query = {"watch": "true", "resourceVersion": since, "fieldSelector": "metadata.name=config"}
        async with contextlib.aclosing(line.stream(path, query)) as lines:
            await patch(line, first, {"data": {"a": "2"}})
            await line.call("DELETE", paths.item("ConfigMap", namespace, "config"), {})
            second = await make(line, config(namespace))
            told = [await anext(lines) for _ in range(3)]
        assert [event["type"] for event in told] == ["MODIFIED", "DELETED", "ADDED"]
        assert told[-1]["object"]["metadata"]["uid"] == second["metadata"]["uid"]
        versions = [int(event["object"]["metadata"]["resourceVersion"]) for event in told]
        assert int(since) < versions[0] < versions[1] < versions[2]


@BOTH
@loops.in_a_loop
async def test_a_status_and_a_spec_do_not_touch_each_other(which):
    async with servers.connect(which) as (line, namespace):
        body = manifests.streamjob(namespace=namespace)
        body["spec"]["suspend"] = True
        await make(line, {**body, "status": {"message": "from the start"}})

        async def record():  # an operator that runs here may have written in between
            meta = (await get(line, body)).body["metadata"]
            status = {"message": "clicks starts"}
            return await do(line, steps.RecordStatus(namespace, "clicks", meta["uid"], meta["resourceVersion"], status))

        done = (await wait_for(record, lambda outcome: kinds(outcome) != ["Conflict"])).bodies[0]
        assert (done["status"]["message"], done["metadata"]["generation"]) == ("clicks starts", 1)
        changed = await patch(line, body, {"spec": {"image": "clicks:2"}, "status": {"message": "by the way"}})
        assert changed.body["metadata"]["generation"] == 2
        assert changed.body["status"]["message"] != "by the way"


@BOTH
@loops.in_a_loop
async def test_a_list_watch_follows_what_happens(which):
    async with servers.connect(which) as (line, namespace):
        heard = []
        memory = listwatch.Memory(lambda kind, body: heard.append((kind, body["metadata"]["name"])), lambda *_: None)
        await make(line, gated(namespace))
        feed = listwatch.ListWatch(line, paths.collection("Pod", namespace), memory)
        task = asyncio.create_task(feed.run())
        await feed.synced.wait()
        await patch(line, gated(namespace), {"spec": {"schedulingGates": None, "nodeSelector": {"no": "such"}}})
        await line.call("DELETE", paths.item("Pod", namespace, "waiting"), {"gracePeriodSeconds": 0})
        await loops.until(lambda: ("DELETED", "waiting") in heard, within_s=10)
        assert list(dict.fromkeys(heard)) == [(kind, "waiting") for kind in (None, "MODIFIED", "DELETED")]
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


@BOTH
@loops.in_a_loop
async def test_the_same_event_again_is_counted_up(which):
    async with servers.connect(which) as (line, namespace):
        tell = steps.Tell(namespace, "clicks", manifests.UID, warning=True, reason="Failed", message="clicks failed")
        for _ in range(3):
            assert (await do(line, tell)).ok
        found = (await line.call("GET", paths.collection("Event", namespace))).body["items"]
        assert [(event["reason"], event["type"], event["count"]) for event in found] == [("Failed", "Warning", 3)]


@ON_THE_REAL_ONE
@loops.in_a_loop
async def test_history_that_is_long_gone_is_an_error_410_in_the_watch(which):
    async with servers.connect(which) as (line, namespace):
        path = paths.collection("ConfigMap", namespace)
        async with contextlib.aclosing(line.stream(path, {"watch": "true", "resourceVersion": "1"})) as lines:
            told = await anext(lines)
        assert (told["type"], told["object"]["code"]) == ("ERROR", 410)


@ON_THE_REAL_ONE
@loops.in_a_loop
async def test_a_quota_refuses_with_a_sentence(which):
    async with servers.connect(which) as (line, namespace):
        quota = {"apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": "few", "namespace": namespace}}
        path = f"/api/v1/namespaces/{namespace}/resourcequotas"
        assert (await line.call("POST", path, {**quota, "spec": {"hard": {"pods": "0"}}})).ok
        await wait_for(lambda: line.call("GET", f"{path}/few"), lambda found: found.body.get("status"))
        done = await do(line, steps.Create(gated(namespace)))
        assert kinds(done) == ["Refused"]
        assert "quota" in done.failures[0].sentence


@ON_THE_REAL_ONE
@loops.in_a_loop
async def test_pod_security_refuses_with_a_sentence(which):
    async with servers.connect(which) as (line, namespace):
        labels = {"labels": {"pod-security.kubernetes.io/enforce": "restricted"}}
        await line.call("PATCH", f"/api/v1/namespaces/{namespace}", {"metadata": labels}, wire.MERGE)
        done = await do(line, steps.Create(gated(namespace, hostNetwork=True)))
        assert kinds(done) == ["Refused"]
        assert "violates PodSecurity" in done.failures[0].sentence


@ON_THE_REAL_ONE
@loops.in_a_loop
async def test_a_namespace_on_its_way_out_takes_nothing_more(which):
    async with servers.connect(which) as (line, namespace):
        held = config(namespace, "held")
        held["metadata"]["finalizers"] = ["sluice.dev/contracts"]
        await make(line, held)
        await line.call("DELETE", f"/api/v1/namespaces/{namespace}", {})
        try:
            assert kinds(await do(line, steps.Create(config(namespace)))) == ["Gone"]
        finally:
            await patch(line, held, {"metadata": {"finalizers": None}})
