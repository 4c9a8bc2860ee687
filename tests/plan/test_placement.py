"""Where executors go that wait at their gate: node, reason and open gate in one patch each."""

import dataclasses
import json

import pytest

from plan import made
from sluice.plan import placed, placement
from sluice.values import names, records, streamjob

TIMEOUT_S = 30.0
REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"


def patches(fleet):
    stages = placement.plan(fleet, TIMEOUT_S).stages
    return {step.name: step.patch for stage in stages for step in stage}


def nodes(fleet):
    """Where each executor is sent; None if the scheduler decides."""
    return {name.split("-exec-")[1]: node_of(patch) for name, patch in patches(fleet).items()}


def node_of(patch):
    if "affinity" not in patch["spec"]:
        return None
    terms = patch["spec"]["affinity"]["nodeAffinity"][REQUIRED]["nodeSelectorTerms"]
    return terms[0]["matchFields"][-1]["values"][0]


def why(fleet, name="1"):
    found = {
        n.split("-exec-")[1]: json.loads(p["metadata"]["annotations"][names.PLACED]) for n, p in patches(fleet).items()
    }
    return found[name]["why"]


def some(count, **change):
    return [made.waiting(number, **change) for number in range(1, count + 1)]


def with_job(fleet, **change):
    return dataclasses.replace(fleet, jobs={(made.NAMESPACE, "clicks"): made.job(**change)})


def test_executors_of_one_job_sit_together_with_their_driver_while_there_is_room():
    assert nodes(made.fleet(*some(3))) == {"1": "node1", "2": "node1", "3": "node1"}


def test_what_does_not_fit_beside_them_goes_to_one_other_node():
    found = nodes(made.fleet(*some(6)))
    assert sorted(found.values()) == ["node1"] * 4 + ["node2"] * 2


def test_gate_node_and_reason_come_in_one_patch_of_exactly_this_version():
    step = placement.plan(made.fleet(made.waiting()), TIMEOUT_S).stages[0][0]
    assert (step.uid, step.resource_version) == (made.waiting().uid, "9")
    assert step.patch["spec"]["schedulingGates"] == []
    assert placed.read(made.waiting(placed=step.patch["metadata"]["annotations"][names.PLACED])).node == "node1"


def test_gates_of_others_stay():
    fleet = made.fleet(made.waiting(gates=("queue/admitted", names.GATE)))
    assert patches(fleet)[made.waiting().name]["spec"]["schedulingGates"] == [{"name": "queue/admitted"}]


def test_memory_counts_as_well_as_cpu():
    room = (made.node("node1", 4000, 2), made.node("node2", 4000, 8), made.node("node3", 1000, 1))
    found = nodes(made.fleet(*some(6), nodes=room))
    assert sorted(found.values()) == ["node1"] * 2 + ["node2"] * 4


def test_what_sits_on_a_node_already_is_not_given_away_again():
    used = {name: records.Resources(3500, 0, 0) for name in ("node1", "node2")}
    assert set(nodes(made.fleet(*some(2), used=used)).values()) == {"node3"}


def test_no_node_gets_more_executors_of_a_job_than_it_says_with_those_there_already():
    limit = streamjob.Executors(count=6, max_per_node=2)
    there = made.executor(9, node="node1")
    fleet = with_job(made.fleet(*some(5), placed=(made.driver(), there)), executors=limit)
    assert sorted(nodes(fleet).values()) == ["node1", "node2", "node2", "node3", "node3"]


def test_where_no_node_has_room_the_gate_opens_and_says_what_is_short():
    fleet = made.fleet(*some(13))
    found = list(nodes(fleet).values())
    assert found.count(None) == 1
    open_one = next(name for name, node in nodes(fleet).items() if node is None)
    assert "none of 3 nodes has 1000m CPU and 1024 MiB left" in why(fleet, open_one)


NODES = [
    ("a cordoned node", {"taints": (records.Taint("node.kubernetes.io/unschedulable"),)}, {}),
    ("a node that is not ready", {"ready": False}, {}),
    ("a taint", {"taints": (records.Taint("gpu", "yes"),)}, {}),
    ("another label", {"labels": {"zone": "b"}}, {"node_selector": {"zone": "a"}}),
    (
        "an affinity",
        {"labels": {"zone": "b"}},
        {"affinity": {"nodeAffinity": {REQUIRED: {"nodeSelectorTerms": [{"matchExpressions": [
            {"key": "zone", "operator": "In", "values": ["a"]}]}]}}}},
    ),
]  # fmt: skip


@pytest.mark.parametrize(("node", "wishes"), [n[1:] for n in NODES], ids=[n[0] for n in NODES])
def test_a_node_that_the_scheduler_would_refuse_is_not_planned(node, wishes):
    usual = {"labels": {"zone": "a"}}
    room = (made.node("node1", **(usual | node)), made.node("node2", **usual))
    assert nodes(made.fleet(made.waiting(wishes=records.Wishes(**wishes)), nodes=room)) == {"1": "node2"}


def test_a_taint_that_is_tolerated_keeps_nobody_off():
    tainted = made.node("node1", taints=(records.Taint("gpu", "yes"),))
    wishes = records.Wishes(tolerations=({"key": "gpu", "operator": "Exists"},))
    assert nodes(made.fleet(made.waiting(wishes=wishes), nodes=(tainted,))) == {"1": "node1"}


def test_the_users_own_terms_are_each_narrowed_to_the_node():
    zones = [{"matchExpressions": [{"key": "zone", "operator": "In", "values": [zone]}]} for zone in "ab"]
    affinity = {"nodeAffinity": {REQUIRED: {"nodeSelectorTerms": zones}}}
    room = (made.node("node1", labels={"zone": "a"}),)
    fleet = made.fleet(made.waiting(wishes=records.Wishes(affinity=affinity)), nodes=room)
    terms = patches(fleet)[made.waiting().name]["spec"]["affinity"]["nodeAffinity"][REQUIRED]["nodeSelectorTerms"]
    field = {"key": "metadata.name", "operator": "In", "values": ["node1"]}
    assert terms == [{**zone, "matchFields": [field]} for zone in zones]


def test_brokers_that_a_job_wants_to_be_near_draw_it():
    broker = records.Pod("kafka", "broker-0", "uid-broker", node="node3", phase="Running")
    fleet = made.fleet(*some(2), placed=(), near={(made.NAMESPACE, "clicks"): (broker,)})
    assert set(nodes(fleet).values()) == {"node3"}


def test_observe_shows_the_plan_and_lets_the_scheduler_decide():
    fleet = with_job(made.fleet(made.waiting()), placement=streamjob.Placement("Observe"))
    assert nodes(fleet) == {"1": None}
    assert why(fleet).startswith("placement.mode is Observe; consolidate would send it to node1: ")


OPEN = [
    ("placement is off", {"placement": streamjob.Placement("Off")}, {}, "placement.mode is Off"),
    ("the policy moves nothing", {"placement": streamjob.Placement(policy="stay")}, {}, "policy stay moves nothing"),
    ("it waited too long", {}, {"created_s": made.NOW_S - 31}, "it waited for more than 30 s"),
    (
        "two nodes turned executors of the job away",
        {"status": {"placement": {"avoid": [{"node": n, "at": "2027-01-15T07:59:00Z"} for n in ("node1", "node2")]}}},
        {},
        "node1, node2 could not take executors of this job",
    ),
]


@pytest.mark.parametrize(("job", "pod", "sentence"), [o[1:] for o in OPEN], ids=[o[0] for o in OPEN])
def test_a_gate_opens_without_a_node_when(job, pod, sentence):
    fleet = with_job(made.fleet(made.waiting(**pod)), **job)
    assert nodes(fleet) == {"1": None}
    assert sentence in why(fleet)


def test_a_node_that_turned_an_executor_away_is_left_out_for_a_while():
    status = {"placement": {"avoid": [{"node": "node1", "at": "2027-01-15T07:59:00Z"}]}}
    assert nodes(with_job(made.fleet(made.waiting()), status=status)) == {"1": "node2"}
    forgotten = {"placement": {"avoid": [{"node": "node1", "at": "2027-01-15T07:49:00Z"}]}}
    assert nodes(with_job(made.fleet(made.waiting()), status=forgotten)) == {"1": "node1"}


def test_an_executor_whose_job_is_gone_waits_for_nobody():
    assert nodes(made.fleet(made.waiting(), jobs={})) == {"1": None}


@pytest.mark.parametrize("policy", ["consolidate", "stromax", "turbostream"])
def test_whatever_the_policy_no_node_is_given_more_than_it_has(policy):
    fleet = with_job(made.fleet(*some(12)), placement=streamjob.Placement(policy=policy))
    found = list(nodes(fleet).values())
    assert {node: found.count(node) for node in set(found)} == {"node1": 4, "node2": 4, "node3": 4}


def test_all_jobs_that_wait_are_planned_together():
    other = made.job("views")
    pods = [dataclasses.replace(pod, name=pod.name.replace("clicks", "views"), uid=f"v-{pod.uid}") for pod in some(4)]
    theirs = [dataclasses.replace(pod, labels={**pod.labels, names.JOB: "views"}) for pod in pods]
    jobs = {(made.NAMESPACE, "clicks"): made.job(), (made.NAMESPACE, "views"): other}
    room = (made.node("node1"), made.node("node2"))
    found = {name: node_of(p) for name, p in patches(made.fleet(*some(4), *theirs, jobs=jobs, nodes=room)).items()}
    by_job = {job: {node for name, node in found.items() if name.startswith(job)} for job in ("clicks", "views")}
    assert by_job == {"clicks": {"node1"}, "views": {"node2"}}
