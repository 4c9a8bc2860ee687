"""The mirror: what is known, who is woken by what, and what late news does (nothing)."""

import pytest

from observe import bodies
from sluice.observe import mirror
from sluice.values import names, outcomes, steps
from sluice.values import records as slim

CLICKS, TAPS = ("team", "clicks"), ("team", "taps")
FLEET = "fleet"


class Seen:
    """A mirror, and who was woken since one last asked."""

    def __init__(self, *found):
        self._woken = []
        self.mirror = mirror.Mirror(self._woken.append, lambda: self._woken.append(FLEET))
        self.see(*found)
        self.woken()

    def see(self, *found, kind=None):
        doors = {names.KIND: self.mirror.see_streamjob, "Pod": self.mirror.see_pod, "Node": self.mirror.see_node}
        for body in found:
            doors[body["kind"]](kind, body)

    def woken(self):
        since, self._woken[:] = list(self._woken), []
        return since

    def view(self, key=CLICKS):
        return self.mirror.job_view(key, 0.0)

    def pods(self, key=CLICKS):
        return [pod.name for pod in self.view(key).pods]

    def used(self):
        return {node: has.cpu_m for node, has in self.mirror.fleet_view(0.0).used.items()}


def again(body, **changed):
    """A later version of a body, with some of its parts replaced."""
    meta = {**body["metadata"], "resourceVersion": bodies.meta("x")["resourceVersion"], **changed.pop("metadata", {})}
    return {**body, **changed, "metadata": meta}


def running(body, node="node1"):
    return again(body, spec={**body["spec"], "nodeName": node}, status={"phase": "Running"})


def over(body):
    return again(body, status={"phase": "Failed"})


def test_a_job_is_seen_with_its_own_pods_and_no_other():
    seen = Seen(
        bodies.streamjob("clicks"),
        bodies.of_job("clicks", names.DRIVER),
        bodies.of_job("clicks", names.EXECUTOR, "e1"),
        bodies.of_job("taps", names.DRIVER),
        bodies.pod("kafka-0"),
    )
    assert seen.view().job.name == "clicks"
    assert seen.pods() == ["clicks-driver", "e1"]


def test_a_job_nobody_knows_has_no_view():
    assert Seen().view() is None


BODIES = {
    "a job that is new": (None, bodies.streamjob()),
    "a changed spec": (bodies.streamjob(), bodies.streamjob(image="clicks:2")),
    "a status that somebody else wrote": (bodies.streamjob(), bodies.streamjob(status={"phase": "Failed"})),
    "the order to restart": (bodies.streamjob(), bodies.streamjob(meta_={"annotations": {names.RESTARTED: "now"}})),
    "a pod that is new": (None, bodies.of_job("clicks", names.DRIVER)),
    "a pod that runs": (old := bodies.of_job("clicks", names.DRIVER), running(old)),
    "a pod that is over": (old := bodies.of_job("clicks", names.DRIVER), over(old)),
}


@pytest.mark.parametrize(("before", "now"), BODIES.values(), ids=BODIES)
def test_what_a_decision_is_made_of_wakes_the_job(before, now):
    seen = Seen(*([before] if before else []))
    seen.see(now)
    assert seen.woken() == [CLICKS]


QUIET = {
    "the same again": (old := bodies.of_job("clicks", names.DRIVER), old),
    "a later version of the same": (old := bodies.of_job("clicks", names.DRIVER), again(old)),
    "an annotation of somebody else's": (
        old := bodies.streamjob(),
        again(old, metadata={"annotations": {"team.example/seen": "yes"}}),
    ),
    "a pod of nobody's job": (old := bodies.pod("kafka-0"), running(old)),
    "a node's heartbeat": (old := bodies.node("node1"), again(old)),
}


@pytest.mark.parametrize(("before", "now"), QUIET.values(), ids=QUIET)
def test_what_changes_no_decision_wakes_nobody(before, now):
    seen = Seen(before)
    seen.see(now)
    assert seen.woken() == []


def test_older_news_changes_nothing():
    early = bodies.of_job("clicks", names.DRIVER)
    late = running(early)
    seen = Seen(bodies.streamjob(), late)
    seen.see(early, kind="MODIFIED")
    assert seen.view().pods[0].phase == "Running"
    assert seen.woken() == []


def test_what_is_gone_does_not_come_back_by_late_news_of_it():
    pod = bodies.of_job("clicks", names.DRIVER)
    seen = Seen(bodies.streamjob(), pod)
    seen.see(again(pod), kind="DELETED")
    seen.see(again(pod), kind="MODIFIED")
    seen.mirror.learn(outcomes.Outcome(bodies=(again(pod),)))
    assert seen.pods() == []


def test_a_deleted_streamjob_does_not_come_back_by_the_answer_to_our_own_status():
    job = bodies.streamjob()
    seen = Seen(job)
    seen.see(again(job), kind="DELETED")
    seen.mirror.learn(outcomes.Outcome(bodies=(again(job, status={"phase": "Running"}),)))
    assert seen.view() is None


def test_the_end_of_a_namesake_s_predecessor_is_not_its_own():
    seen = Seen(bodies.streamjob(meta_={"uid": "new"}))
    seen.see(bodies.streamjob(meta_={"uid": "old"}), kind="DELETED")
    assert seen.view().job.uid == "new"


def test_our_own_writes_count_before_their_echo_and_the_echo_wakes_nobody():
    job = bodies.streamjob()
    seen = Seen(job)
    answer, pod = again(job, status={"phase": "Starting"}), bodies.of_job("clicks", names.DRIVER)
    seen.mirror.learn(outcomes.Outcome(bodies=(answer, pod)))
    assert seen.view().job.status == {"phase": "Starting"}
    assert seen.view().job.resource_version == answer["metadata"]["resourceVersion"]
    assert seen.pods() == ["clicks-driver"]
    assert seen.woken() == [CLICKS]  # of the pod; nobody need hear of the status he wrote himself
    seen.see(answer, pod, kind="MODIFIED")
    assert seen.woken() == []


def test_a_list_takes_away_what_is_no_longer_in_it_and_leaves_what_we_made_since():
    gone, kept = bodies.of_job("clicks", names.EXECUTOR, "e1"), bodies.of_job("clicks", names.EXECUTOR, "e2")
    listed_at = int(bodies.meta("x")["resourceVersion"])
    made_since, elsewhere = bodies.of_job("clicks", names.EXECUTOR, "e3"), bodies.of_job("clicks", names.EXECUTOR, "e4")
    elsewhere["metadata"]["namespace"] = "other"
    seen = Seen(bodies.streamjob(), gone, kept, made_since, elsewhere)
    seen.mirror.keep_pods("team", {kept["metadata"]["uid"]: "e2"}, listed_at)
    assert seen.pods() == ["e2", "e3"]
    assert [pod.name for pod in seen.mirror.leftovers()] == ["e4"]


def test_a_streamjob_that_went_while_nobody_watched_is_found_out_by_the_next_list():
    seen = Seen(bodies.streamjob(), bodies.of_job("clicks", names.DRIVER))
    seen.mirror.keep_streamjobs("", {}, int(bodies.meta("x")["resourceVersion"]))
    assert seen.view() is None
    assert seen.woken() == [CLICKS]


@pytest.mark.parametrize(("uid", "known"), [("uid-of-clicks", False), ("a namesake's of before", True)])
def test_a_streamjob_whose_status_finds_it_gone_is_gone(uid, known):
    seen = Seen(bodies.streamjob())
    step = steps.RecordStatus(*CLICKS, uid, "1", {})
    seen.mirror.learn(outcomes.Outcome(failures=(outcomes.Failure(step, "Gone", 'streamjobs "clicks" not found'),)))
    assert (seen.view() is not None) is known
    assert seen.woken() == ([] if known else [CLICKS])


def test_pods_of_a_streamjob_that_is_no_more_are_left_over_and_those_of_a_living_one_are_not():
    leaving = bodies.of_job("gone", names.EXECUTOR, "e2", deletionTimestamp="2026-11-18T10:00:00Z")
    seen = Seen(
        bodies.streamjob("clicks"),
        bodies.of_job("clicks", names.DRIVER),
        bodies.of_job("gone", names.DRIVER),
        bodies.of_job("gone", names.EXECUTOR, "e1"),
        leaving,
    )
    assert [pod.name for pod in seen.mirror.leftovers()] == ["e1", "e2", "gone-driver"]
    assert [pod.name for pod in seen.mirror.leftovers(("team", "gone"))] == ["e1", "e2", "gone-driver"]
    assert seen.mirror.leftovers(CLICKS) == ()


def test_the_spec_that_a_status_was_written_of_is_kept_until_the_next_is():
    def clicks(image, generation, observed):
        seen.mirror.see_streamjob(
            "MODIFIED",
            bodies.streamjob(image=image, status={"observedGeneration": observed}, meta_={"generation": generation}),
        )
        before = seen.mirror.job_view(CLICKS, 0.0).job.before
        return before and before.image

    seen = Seen()
    steps = [("a", 1, 0), ("a", 1, 1), ("b", 2, 1), ("c", 3, 1), ("c", 3, 3), ("c", 3, 3)]
    assert [clicks(*step) for step in steps] == [None, None, "a", "a", None, None]


@pytest.mark.parametrize(("status", "ready"), [("True", True), ("False", False)])
def test_the_phase_of_every_job_is_known_and_whether_it_is_ready(status, ready):
    said = {"phase": "Running", "conditions": [{"type": "Ready", "status": status}]}
    seen = Seen(bodies.streamjob("clicks", status=said), bodies.streamjob("taps"))
    assert seen.mirror.standing() == {CLICKS: ("Running", ready), TAPS: ("", False)}


def test_room_is_what_all_pods_of_a_node_ask_for_until_they_are_over_or_gone():
    kafka = running(bodies.pod("kafka-0"))
    seen = Seen(bodies.node("node1"), kafka, running(bodies.of_job("clicks", names.DRIVER)), bodies.pod("nowhere"))
    assert seen.used() == {"node1": 2000}
    seen.see(over(kafka))
    assert seen.used() == {"node1": 1000}
    seen.see(again(bodies.of_job("clicks", names.DRIVER)), kind="DELETED")
    assert seen.used() == {}


def test_an_executor_that_was_sent_to_a_node_takes_its_room_before_it_is_there():
    body = bodies.gated("clicks", "e1")
    seen = Seen(bodies.streamjob(), bodies.node("node1"), body)
    assert seen.used() == {}
    sent = again(
        body, spec={**body["spec"], "schedulingGates": []}, metadata={"annotations": {names.PLACED: '{"node":"node1"}'}}
    )
    seen.see(sent)
    assert seen.used() == {"node1": 1000}
    seen.see(running(sent, "node2"))
    assert seen.used() == {"node2": 1000}


def test_the_fleet_is_the_executors_behind_the_gate_with_their_jobs_and_all_nodes():
    near = {"near": {"matchLabels": {"app": "kafka"}}}
    leaving = bodies.gated("clicks", "e3")
    leaving["metadata"]["deletionTimestamp"] = "2026-11-18T10:00:00Z"
    seen = Seen(
        bodies.streamjob("clicks", placement=near),
        bodies.streamjob("taps"),
        running(bodies.of_job("clicks", names.DRIVER)),
        running(bodies.of_job("taps", names.DRIVER)),
        running(bodies.pod("kafka-0", labels={"app": "kafka"}), "node2"),
        bodies.pod("kafka-1", labels={"app": "kafka"}),
        bodies.gated("clicks", "e2"),
        bodies.gated("clicks", "e1"),
        leaving,
        bodies.gated("gone", "e9"),
        bodies.node("node2"),
        bodies.node("node1"),
    )
    fleet = seen.mirror.fleet_view(7.0)
    assert list(fleet.jobs) == [CLICKS]
    assert [pod.name for pod in fleet.waiting] == ["e1", "e2"]
    assert [pod.name for pod in fleet.placed] == ["clicks-driver"]
    assert [pod.name for pod in fleet.near[CLICKS]] == ["kafka-0"]
    assert [node.name for node in fleet.nodes] == ["node1", "node2"]
    assert fleet.used == {name: slim.Resources(1000 * n, n * bodies.GI, n) for name, n in (("node1", 2), ("node2", 1))}
    assert fleet.now_s == 7.0


def test_the_fleet_is_woken_when_an_executor_waits_and_when_there_may_be_room_for_it():
    kafka = running(bodies.pod("kafka-0"))
    seen = Seen(bodies.streamjob(), kafka, bodies.node("node1"))
    seen.see(bodies.gated("clicks", "e1"))
    assert seen.woken() == [FLEET, CLICKS]
    seen.see(over(kafka))
    assert seen.woken() == [FLEET]
    seen.see(bodies.node("node2"))
    assert seen.woken() == [FLEET]
    seen.see(running(bodies.pod("another")))
    assert seen.woken() == []


def test_the_fleet_is_woken_when_what_its_job_wants_has_changed():
    seen = Seen(bodies.streamjob(), bodies.gated("clicks", "e1"))
    seen.see(bodies.streamjob(placement={"mode": "Off"}))
    assert seen.woken() == [FLEET, CLICKS]


def test_a_pod_whose_labels_name_another_job_is_that_job_s():
    pod = bodies.of_job("clicks", names.EXECUTOR, "e1")
    seen = Seen(bodies.streamjob("clicks"), bodies.streamjob("taps"), pod)
    seen.see(again(bodies.of_job("taps", names.EXECUTOR, "e1")))
    assert (seen.pods(CLICKS), seen.pods(TAPS)) == ([], ["e1"])
    assert seen.woken() == [CLICKS, TAPS]


def test_nobody_is_woken_for_room_while_nobody_waits():
    kafka = running(bodies.pod("kafka-0"))
    seen = Seen(bodies.streamjob(), kafka)
    seen.see(over(kafka), bodies.node("node1"))
    assert seen.woken() == []


def test_a_lost_node_wakes_the_jobs_on_it_and_is_named_in_their_views():
    here, there = bodies.of_job("clicks", names.DRIVER), bodies.of_job("taps", names.DRIVER)
    seen = Seen(bodies.streamjob("clicks"), bodies.streamjob("taps"), bodies.node("node1"), bodies.node("node2"))
    seen.see(running(here, "node1"), running(there, "node2"))
    seen.woken()
    seen.see(bodies.node("node1", ready=False))
    assert seen.woken() == [CLICKS]
    assert (seen.view().lost_nodes, seen.view(TAPS).lost_nodes) == ({"node1"}, set())
    seen.mirror.keep_nodes("", {"uid-of-node1": "node1"}, 0)
    assert seen.woken() == [TAPS]
    assert seen.view(TAPS).lost_nodes == {"node2"}


def test_a_node_is_lost_once_the_scheduler_keeps_off_it_too():
    seen = Seen(bodies.streamjob(), bodies.node("node1"), running(bodies.of_job("clicks", names.DRIVER), "node1"))
    seen.woken()
    seen.see(again(bodies.node("node1", ready=False), spec={}))
    assert (seen.woken(), seen.view().lost_nodes) == ([], set())
    seen.see(bodies.node("node1", ready=False))
    assert (seen.woken(), seen.view().lost_nodes) == ([CLICKS], {"node1"})


def test_a_cordoned_node_wakes_the_jobs_on_it_and_is_named_in_their_views():
    here, there = bodies.of_job("clicks", names.EXECUTOR), bodies.of_job("taps", names.EXECUTOR)
    seen = Seen(bodies.streamjob("clicks"), bodies.streamjob("taps"), bodies.node("node1"), bodies.node("node2"))
    seen.see(running(here, "node1"), running(there, "node2"))
    seen.woken()
    cordoned = again(bodies.node("node1"), spec={"unschedulable": True})
    seen.see(cordoned)
    assert seen.woken() == [CLICKS]
    assert (seen.view().cordoned, seen.view(TAPS).cordoned) == ({"node1"}, set())
    seen.see(again(cordoned, spec={"taints": [{"key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule"}]}))
    assert seen.woken() == []
    seen.see(bodies.node("node1"))
    assert (seen.woken(), seen.view().cordoned) == ([CLICKS], set())


def test_where_nodes_may_not_be_read_none_is_lost():
    seen = Seen(bodies.streamjob(), running(bodies.of_job("clicks", names.DRIVER)))
    assert seen.view().lost_nodes == set()


def test_a_spec_that_became_unreadable_leaves_the_last_one_in_place():
    seen = Seen(bodies.streamjob(image="clicks:1"))
    seen.see(bodies.streamjob(driver={"memory": "lots"}))
    assert "lots" in seen.view().job.unreadable
    assert seen.view().job.spec.image == "clicks:1"


def test_pods_of_jobs_that_another_operator_looks_after_only_take_up_room():
    woken = []
    seen = mirror.Mirror(woken.append, lambda: woken.append(FLEET), namespaces=("team",))
    theirs = {"namespace": "others"}
    seen.see_pod(None, running(bodies.of_job("clicks", names.DRIVER, **theirs)))
    seen.see_pod(None, bodies.of_job("clicks", names.EXECUTOR, "e1", **theirs))
    assert seen.leftovers() == seen.leftovers(("others", "clicks")) == ()
    assert {node: has.cpu_m for node, has in seen.fleet_view(0.0).used.items()} == {"node1": 1000}
    assert woken == []
