"""Of all jobs with measured traffic each gets at most one wish: one executor, one node, what it saves and why."""

import dataclasses

import pytest

from plan import crews, made, measured
from sluice.plan import wishes
from sluice.values import driver_state, moves, names, records, streamjob

KEY = (made.NAMESPACE, "clicks")
TORN = ("node1", "node2", "node2")


def wished(fleet, traffic):
    found = wishes.plan(fleet, {KEY: traffic}).get(KEY)
    return found and (found.executor.rpartition("-")[2], found.source, found.target)


def torn(state=None, nodes=TORN, **spec):
    return measured.fleet(measured.job(len(nodes), state, **spec), measured.executors(*nodes))


def test_an_executor_goes_to_those_it_talks_to():
    found = wishes.plan(torn(), {KEY: measured.told(measured.alike(3))})[KEY]
    assert (found.executor, found.source, found.target) == (f"{crews.DRIVER.name}-exec-1", "node1", "node2")
    assert found.why == "consolidate: 100% of the bytes that it exchanges with other nodes would stay on one, 13333 B/s"
    assert found.cause == moves.TRAFFIC
    assert found.before == moves.Measures(100, 800.0, 90_000, 4_000_000, 4_000_000)


def test_what_one_sends_to_itself_and_to_those_that_are_gone_draws_nobody():
    pairs = {"1": {"1": 10**9, "9": 10**9}, "2": {"3": 1_000_000}, "9": {"1": 10**9}}
    assert wished(torn(), measured.told(pairs)) is None


CROSSWISE = {"1": {"3": 10_000, "2": 10}, "2": {"4": 10_000}, "3": {"4": 10}}
POLICIES = {"consolidate": True, "turbostream": True, "stromax": True, "stay": False}


@pytest.mark.parametrize(("policy", "moves_one"), POLICIES.items())
def test_a_policy_that_is_named_decides(policy, moves_one):
    placement = streamjob.Placement(policy=policy)
    fleet = torn(nodes=("node1", "node1", "node2", "node2"), placement=placement)
    assert (wished(fleet, measured.told(CROSSWISE)) is not None) is moves_one


def test_all_at_one_place_stay():
    assert wished(torn(nodes=("node2",) * 3), measured.told(measured.alike(3))) is None


@pytest.mark.parametrize(("saved", "goes"), [(7_000, False), (9_000, True)])
def test_a_move_that_saves_little_of_what_it_exchanges_is_not_worth_a_restart(saved, goes):
    """It talks most to one whose node is full; the policy itself would go for less, to one whose node is not."""
    pairs = {"1": {"2": 100_000 - saved, "3": saved}, "3": {"4": 1}}
    nodes = ("node1", "node2") + ("node3",) * 7
    full = records.Resources(4000, 4 << 30, 4)
    room = {"node1": full, "node2": full, "node3": records.Resources(7000, 7 << 30, 7)}
    there = (made.node("node1"), made.node("node2"), made.node("node3", cpu_m=16_000, memory_gib=64))
    fleet = dataclasses.replace(torn(nodes=nodes), used=room, nodes=there)
    assert (wished(fleet, measured.told(pairs)) == ("1", "node1", "node3")) is goes


ROOM = {
    "the node is full": ({"used": {"node2": records.Resources(4000, 0, 0)}}, {}),
    "one executor each": ({}, {"executors": streamjob.Executors(3, max_per_node=2)}),
    "the node is cordoned": (
        {"nodes": (made.node("node1"), made.node("node2", taints=(records.Taint(records.CORDON),)))},
        {},
    ),
    "the node has another label": (
        {"nodes": (made.node("node1", labels={"zone": "a"}), made.node("node2"))},
        {"executors": streamjob.Executors(3, template={"spec": {"nodeSelector": {"zone": "a"}}})},
    ),
}


@pytest.mark.parametrize(("there", "spec"), ROOM.values(), ids=ROOM)
def test_nobody_goes_where_there_is_no_room(there, spec):
    traffic = measured.told(measured.alike(3))
    one_way = dataclasses.replace(torn(), nodes=(made.node("node1", cpu_m=1000), made.node("node2")))
    assert wished(one_way, traffic) == ("1", "node1", "node2")
    fleet = dataclasses.replace(torn(**spec), **{"nodes": one_way.nodes, **there})
    assert wished(fleet, traffic) is None


def test_who_sits_beside_what_the_job_wants_to_be_near_stays():
    broker = records.Pod("kafka", "broker-0", "uid-broker", node="node1", phase="Running")
    fleet = dataclasses.replace(torn(), near={KEY: (broker,)})
    assert wished(fleet, measured.told(measured.alike(3))) != ("1", "node1", "node2")


def ago(seconds):
    return driver_state.timestamp(made.NOW_S - seconds)


def past(outcome, seconds, source="node1", target="node2"):
    return {"at": ago(seconds), "ended": ago(seconds), "from": source, "to": target, "outcome": outcome}


def in_status(*lines):
    return {"placement": {"moves": list(lines)}}


NOW = moves.Move(measured.WISH, moves.WATCHED, made.NOW_S - 3600, made.NOW_S - 3500, crews.DRIVER.name, 3)
HELD = {
    "placement.mode is Off": ({}, {"placement": streamjob.Placement("Off")}, {}),
    "it is not Ready": ({"conditions": [{"type": "Ready", "status": "False"}]}, {}, {}),
    "it is about to be something else": (
        {"conditions": [measured.SETTLED[0], {"type": "Progressing", "status": "True"}]},
        {},
        {},
    ),
    "its driver was started nine minutes ago": (
        {"driver": {**measured.rests()["driver"], "since": ago(540)}},
        {},
        {},
    ),
    "one moved nine minutes ago": (in_status(past("Better", 540, "node5", "node6")), {}, {}),
    "one moves": ({"placement": {"move": NOW.write()}}, {}, {}),
    "the budget of the hour is spent": (
        in_status(past("Better", 3000, "node5", "node6")),
        {"placement": streamjob.Placement(max_moves_per_hour=1)},
        {},
    ),
    "there is no budget": ({}, {"placement": streamjob.Placement(max_moves_per_hour=0)}, {}),
    "it did not help yesterday": (
        in_status(past("Undone", 86_000), past("Undone", 86_000, "node2", "node1")), {}, {},
    ),
    "too much did not help": (in_status(*[past("Undone", 80_000, "a", str(n)) for n in range(32)]), {}, {}),
    "nineteen batches say nothing": ({}, {}, {"batches": 19}),
}  # fmt: skip


@pytest.mark.parametrize(("state", "spec", "told"), HELD.values(), ids=HELD)
def test_nobody_moves_when(state, spec, told):
    assert wished(torn(state, **spec), measured.told(measured.alike(3), **told)) is None


LETS_GO = {
    "eleven minutes after the last": in_status(past("Better", 660, "node5", "node6")),
    "an hour after one that did not arrive": in_status(past("Missed", 3700)),
    "a day after one that did not help": in_status(past("Undone", 86_500)),
    "to another node than the one that did not help": in_status(past("Undone", 7200, "node3", "node2")),
}


@pytest.mark.parametrize("state", LETS_GO.values(), ids=LETS_GO)
def test_one_moves_again(state):
    assert wished(torn(state), measured.told(measured.alike(3))) == ("1", "node1", "node2")


def test_nobody_moves_while_an_executor_is_missing_or_waits():
    pods = measured.executors(*TORN)
    fleet = measured.fleet(measured.job(4), pods)
    assert wished(fleet, measured.told(measured.alike(3))) is None
    gone = [pods[0], pods[1], dataclasses.replace(pods[2], deleting=True)]
    assert wished(measured.fleet(measured.job(3), gone), measured.told(measured.alike(3))) is None


def test_two_jobs_do_not_get_the_same_room():
    pods = measured.executors(*TORN)
    others = [as_views(pod) for pod in pods]
    jobs = {KEY: measured.job(3), (made.NAMESPACE, "views"): named_views(measured.job(3))}
    # One node takes the two executors that draw, and one more.
    nodes = (made.node("node1", cpu_m=2000), made.node("node2", cpu_m=5000))
    fleet = measured.fleet(measured.job(3), pods + others, jobs=jobs, nodes=nodes)
    traffic = measured.told(measured.alike(3))
    found = wishes.plan(fleet, {KEY: traffic, (made.NAMESPACE, "views"): traffic})
    assert [(wish.source, wish.target) for wish in found.values()] == [("node1", "node2")]


def named_views(job):
    begun = {**job.status["driver"], "pod": "views-1"}
    return dataclasses.replace(job, name="views", status={**job.status, "driver": begun})


def as_views(pod):
    name = f"views-1-exec-{pod.name.rpartition('-')[2]}"
    return dataclasses.replace(pod, name=name, uid=f"v-{pod.uid}", labels={**pod.labels, names.JOB: "views"})


def test_stromax_takes_one_off_a_node_that_does_more_than_its_share():
    placement = streamjob.Placement(policy="stromax")
    fleet = torn(nodes=("node1",) * 4 + ("node2", "node3"), placement=placement)
    traffic = measured.told(measured.alike(6), run_ms=dict.fromkeys("123456", 75_000.0))
    found = wishes.plan(fleet, {KEY: traffic})[KEY]
    assert (found.source, found.cause) == ("node1", moves.LOAD)
    assert found.why == "stromax: its node was above 560, 1.12 times the mean load"


def test_stromax_leaves_a_node_alone_that_does_twelve_percent_more():
    placement = streamjob.Placement(policy="stromax")
    busy = {"1": 110_000.0, "2": 100_000.0, "3": 90_000.0}
    fleet = torn(nodes=("node1", "node2", "node3"), placement=placement)
    found = wishes.plan(fleet, {KEY: measured.told({"1": {}, "2": {}, "3": {}}, run_ms=busy)})
    assert found == {}


def test_in_real_time_mode_nobody_moves_for_the_load_of_a_node():
    nodes, silent = ("node1",) * 4 + ("node2", "node3"), {str(number): {} for number in range(1, 7)}
    traffic = measured.told(silent, run_ms=dict.fromkeys("123456", 75_000.0))
    for real_time in (False, True):
        fleet = torn(nodes=nodes, placement=streamjob.Placement(policy="stromax"), real_time=real_time)
        assert (KEY in wishes.plan(fleet, {KEY: traffic})) is not real_time
