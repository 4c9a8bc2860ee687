"""Of every body, only what a decision is made of is kept."""

import datetime

import pytest

from observe import bodies
from sluice.observe import records
from sluice.values import names
from sluice.values import records as slim

MI = 1 << 20


def test_a_pod_is_read_with_its_place_its_state_and_its_owner():
    pod = records.read_pod(
        bodies.of_job(
            "clicks",
            names.DRIVER,
            "clicks-a1b2c3-1",
            spec={"nodeName": "node1"},
            status={
                "phase": "Running",
                "conditions": [{"type": "Ready", "status": "True", "lastTransitionTime": "2026-11-18T10:00:05Z"}],
            },
            annotations={names.PLACED: '{"node":"node1"}'},
        )
    )
    assert (pod.namespace, pod.name, pod.uid) == ("team", "clicks-a1b2c3-1", "uid-of-clicks-a1b2c3-1")
    assert (pod.job, pod.role, pod.owner_uid) == ("clicks", "driver", "uid-of-clicks")
    assert (pod.phase, pod.node, pod.placed) == ("Running", "node1", '{"node":"node1"}')
    assert (pod.ready, pod.ready_s - pod.created_s) == (True, 5.0)
    assert pod.requests == slim.Resources(1000, bodies.GI, 1)
    assert (pod.deleting, pod.gates, pod.wishes, pod.ended, pod.waiting) == (False, (), None, None, "")


DELETED = {
    "with its grace": ({"deletionTimestamp": "2026-11-18T10:01:20Z", "deletionGracePeriodSeconds": 80}, "10:00:00"),
    "at once": ({"deletionTimestamp": "2026-11-18T10:01:20Z", "deletionGracePeriodSeconds": 0}, "10:01:20"),
    "by who says no grace": ({"deletionTimestamp": "2026-11-18T10:01:20Z"}, "10:01:20"),
}


@pytest.mark.parametrize(("meta", "asked"), DELETED.values(), ids=DELETED)
def test_a_pod_on_its_way_out_tells_when_that_was_asked_for(meta, asked):
    pod = records.read_pod(bodies.pod("a", **meta))
    moment = datetime.datetime.fromisoformat(f"2026-11-18T{asked}Z").timestamp()
    assert (pod.deleting, pod.deleted_s) == (True, moment)
    assert records.read_pod(bodies.pod("a")).deleted_s == 0.0


def test_a_pod_behind_our_gate_says_where_it_may_go():
    body = bodies.gated("clicks", "e1")
    body["spec"] |= {
        "nodeSelector": {"disk": "fast"},
        "tolerations": [{"key": "spot"}],
        "affinity": {"nodeAffinity": {}},
    }
    assert records.read_pod(body).wishes == slim.Wishes({"disk": "fast"}, {"nodeAffinity": {}}, ({"key": "spot"},))


def test_a_pod_behind_another_s_gate_does_not_wait_for_us():
    pod = records.read_pod(bodies.pod("p", spec={"schedulingGates": [{"name": "quota.example/wait"}]}))
    assert (pod.gates, pod.gated, pod.wishes) == (("quota.example/wait",), False, None)


@pytest.mark.parametrize(
    ("states", "waiting"),
    [
        ([("ContainerCreating", "")], ""),
        ([("PodInitializing", "")], ""),
        ([("ImagePullBackOff", "no such image")], "ImagePullBackOff"),
        ([("PodInitializing", ""), ("CreateContainerConfigError", "no secret")], "CreateContainerConfigError"),
    ],
)
def test_the_first_container_that_waits_for_something_unusual_is_named(states, waiting):
    found = [
        {"name": f"c{i}", "state": {"waiting": {"reason": reason, "message": message}}}
        for i, (reason, message) in enumerate(states)
    ]
    pod = records.read_pod(bodies.pod("p", status={"containerStatuses": found}))
    assert (pod.waiting, pod.waiting_message) == (waiting, next((m for r, m in states if r == waiting), ""))


def test_an_init_container_waits_before_the_others():
    waits = lambda reason: {"name": reason, "state": {"waiting": {"reason": reason}}}  # noqa: E731
    status = {
        "initContainerStatuses": [waits("ErrImagePull")],
        "containerStatuses": [waits("CreateContainerError")],
    }
    assert records.read_pod(bodies.pod("p", status=status)).waiting == "ErrImagePull"


def test_the_end_of_the_container_that_bears_spark_counts_whatever_else_is_in_the_pod():
    ends = lambda name, code: {  # noqa: E731
        "name": name,
        "state": {"terminated": {"exitCode": code, "reason": "Error", "message": "x" * 5000 + "the end"}},
    }
    body = bodies.pod(
        "p",
        spec={"containers": [{"name": "mesh"}, {"name": "driver"}]},
        status={"phase": "Failed", "containerStatuses": [ends("driver", 137), ends("mesh", 0)]},
    )
    ended = records.read_pod(body).ended
    assert (ended.exit_code, ended.reason, len(ended.message), ended.message[-7:]) == (137, "Error", 1024, "the end")


@pytest.mark.parametrize(("reason", "sentence"), [("Unschedulable", "0/3 nodes"), ("SchedulingGated", "")])
def test_only_the_scheduler_s_no_is_kept(reason, sentence):
    found = {"type": "PodScheduled", "status": "False", "reason": reason, "message": "0/3 nodes"}
    assert records.read_pod(bodies.pod("p", status={"conditions": [found]})).unschedulable == sentence


BARE = {
    "its volumes are not there yet": ("Pending", "False", 1_795_000_000.0),
    "its image is pulled": ("Pending", "True", 0.0),
    "it has ended": ("Failed", "False", 0.0),
}


@pytest.mark.parametrize(("phase", "status", "since_s"), BARE.values(), ids=BARE)
def test_since_when_a_pod_waits_for_its_volumes(phase, status, since_s):
    found = {"type": "PodReadyToStartContainers", "status": status, "lastTransitionTime": "2026-11-18T11:06:40Z"}
    assert records.read_pod(bodies.pod("p", status={"phase": phase, "conditions": [found]})).bare_s == since_s


def container(name, cpu, memory="0", **more):
    return {"name": name, "resources": {"requests": {"cpu": cpu, "memory": memory}}, **more}


SIDECAR = {"restartPolicy": "Always"}


@pytest.mark.parametrize(
    ("spec", "cpu_m"),
    [
        ({"containers": [container("a", "1"), container("b", "500m")]}, 1500),
        ({"containers": [{"name": "a"}]}, 0),
        ({"containers": [container("a", "1")], "initContainers": [container("i", "3")]}, 3000),
        ({"containers": [container("a", "1")], "initContainers": [container("s", "1", **SIDECAR)]}, 2000),
        # A sidecar that is up already runs beside the init containers after it, not before it.
        (
            {
                "containers": [container("a", "1")],
                "initContainers": [container("i", "2"), container("s", "1", **SIDECAR), container("j", "2")],
            },
            3000,
        ),
        ({"containers": [container("a", "1")], "overhead": {"cpu": "250m"}}, 1250),
        ({"containers": [container("a", "1")], "resources": {"requests": {"cpu": "2"}}}, 2000),
    ],
)
def test_requests_are_counted_as_the_scheduler_counts_them(spec, cpu_m):
    assert records.read_pod(bodies.pod("p", spec=spec)).requests.cpu_m == cpu_m


@pytest.mark.parametrize(
    ("asked", "allocated", "actual", "memory_mib"),
    [("1Gi", "2Gi", "2Gi", 2048), ("2Gi", "1Gi", "1Gi", 2048), ("1Gi", "1Gi", "3Gi", 3072)],
)
def test_a_container_that_is_resized_counts_with_the_most_it_has_or_asks_for(asked, allocated, actual, memory_mib):
    held = {"name": "a", "allocatedResources": {"memory": allocated}, "resources": {"requests": {"memory": actual}}}
    body = bodies.pod("p", spec={"containers": [container("a", "1", asked)]}, status={"containerStatuses": [held]})
    assert records.read_pod(body).requests.memory_bytes == memory_mib * MI


def test_a_resize_that_can_never_be_counts_for_nothing():
    held = {"name": "a", "allocatedResources": {"cpu": "1"}, "resources": {"requests": {"cpu": "1"}}}
    never = {"type": "PodResizePending", "status": "True", "reason": "Infeasible"}
    body = bodies.pod(
        "p",
        spec={"containers": [container("a", "1000")]},
        status={"containerStatuses": [held], "conditions": [never]},
    )
    assert records.read_pod(body).requests.cpu_m == 1000


def test_a_node_is_what_it_can_give_and_whom_it_keeps_off():
    body = bodies.node("node1", cpu="3920m", memory="8Gi")
    body["spec"] = {"unschedulable": True, "taints": [{"key": "gpu", "value": "yes", "effect": "NoExecute"}]}
    assert records.read_node(body) == slim.Node(
        name="node1",
        allocatable=slim.Resources(3920, 8 * bodies.GI, 110),
        taints=(
            slim.Taint("gpu", "yes", "NoExecute"),
            slim.Taint("node.kubernetes.io/unschedulable", "", "NoSchedule"),
        ),
        ready=True,
    )


@pytest.mark.parametrize("status", ["False", "Unknown"])
def test_a_node_that_does_not_answer_is_not_ready(status):
    body = bodies.node("node1")
    body["status"]["conditions"] = [{"type": "Ready", "status": status}]
    assert not records.read_node(body).ready


def test_a_streamjob_keeps_its_status_and_what_makes_a_revision():
    job = records.read_streamjob(
        bodies.streamjob(status={"phase": "Running"}, meta_={"annotations": {names.RESTARTED: "now"}, "generation": 7})
    )
    assert (job.key, job.uid, job.generation) == (("team", "clicks"), "uid-of-clicks", 7)
    assert (job.status, job.restarted, job.unreadable) == ({"phase": "Running"}, "now", "")
    assert job.spec.image == "clicks:1"


@pytest.mark.parametrize(
    ("spec", "sentence"),
    [
        ({"driver": {"memory": "lots"}}, "spec.driver.memory='lots': allowed is a quantity"),
        ({"application": {}}, "spec.application.file is missing"),
        ({"executors": "many"}, "no attribute 'get'"),
        ({"serviceAccount": {"shoe": 1}}, "unexpected keyword"),
    ],
)
def test_a_spec_that_the_schema_let_through_and_nobody_can_read_is_a_sentence_not_an_end(spec, sentence):
    job = records.read_streamjob(bodies.streamjob(**spec))
    assert sentence in job.unreadable
    assert job.spec.image == ""
