"""What the operator is told: one word for where the driver stands, the order it has carried out, and each query."""

import threading

import pytest

from agent import plugin
from sluice_agent import balance, batches, heard, orders, report, tally

GATE, RUNNING = plugin.query(phase="gate", epoch=0, committed=-1), plugin.query()


@pytest.fixture
def now():
    return [0.0]


@pytest.fixture
def states(now):
    return heard.Heard(lambda: now[0])


@pytest.fixture
def sums():
    return tally.Tally(lambda: 0.0)


@pytest.fixture
def balancer(on):
    return balance.Balancer(on)


@pytest.fixture
def known(states, on, sums, balancer):
    return report.Known(states, on, sums, balancer)


def drained(state):
    return {"drain": {"id": "d", "state": state, "problem": ""}}


PHASES = [
    ({"queries": [], "gateOpen": False}, "Waiting", False),
    ({"queries": [GATE], "gateOpen": False}, "Waiting", False),
    ({"queries": [], "gateOpen": True}, "Running", True),
    ({"queries": [GATE, RUNNING]}, "Running", True),
    ({"queries": [plugin.query(phase="parked")]}, "Running", True),
    ({"queries": [plugin.query(phase="ended", problem="fenced")]}, "Ended", True),
    (drained("draining"), "Draining", True),
    (drained("quiet"), "Quiet", True),
    (drained("stopped"), "Stopped", False),
    (drained("timed-out"), "DrainTimedOut", True),
]


@pytest.mark.parametrize(("said", "phase", "leads"), PHASES, ids=[f"{said}"[:60] for said, _, _ in PHASES])
def test_a_driver_stands_where_its_plugin_says(states, said, phase, leads, known):
    states.take(heard.read(plugin.state(**said)))
    found = report.make(known, 0)
    assert (found.words["phase"], found.leads) == (phase, leads)


def test_before_the_plugins_first_word_it_starts_and_after_a_minute_without_one_it_is_silent(now, states, known):
    assert report.make(known, 0).words["phase"] == "Starting"
    states.take(heard.read(plugin.state()))
    now[0] = 61.0
    found = report.make(known, 0)
    assert (found.words["phase"], found.leads) == ("Silent", False)
    states.take(heard.read(plugin.state()))
    assert report.make(known, 0).words["phase"] == "Running"


def test_a_driver_that_runs_as_plain_spark_runs_the_job_all_the_same(states, known):
    states.take_unmanaged("Spark 3.5 is not known here")
    found = report.make(known, 0)
    assert (found.words["phase"], found.words["problem"], found.leads) == (
        "Unmanaged",
        "Spark 3.5 is not known here",
        True,
    )


def test_an_order_is_observed_when_the_plugin_has_carried_it_out_and_not_when_it_was_only_given(states, on, known):
    given = orders.read({"version": 1, "serial": 42, "drivers": {"d": {"gate": {"open": True}}}}, "d")
    on.put(given)
    states.take(heard.read(plugin.state(serial=7)))
    assert report.make(known, 41).words["order"] == 41
    states.take(heard.read(plugin.state(serial=given.serial)))
    assert report.make(known, 41).words["order"] == 42


@pytest.mark.parametrize(("agents", "plugins", "told"), [("a", "b", "a"), ("", "b", "b"), ("", "", "")])
def test_whoever_refuses_orders_is_quoted(states, on, agents, plugins, told, known):
    on.refuse(agents)
    states.take(heard.read(plugin.state(refusedOrders=plugins)))
    assert report.make(known, 0).words["refused"] == told


def test_a_query_is_told_with_its_last_batch(states, sums, known):
    states.take(heard.read(plugin.state()))
    sums.add(batches.read(plugin.batch(42)))
    assert report.make(known, 0).words["queries"] == [
        {
            "id": "q-1",
            "name": "clicks",
            "engine": "MicroBatch",
            "phase": "running",
            "epoch": 7,
            "committed": 41,
            "inFlight": 42,
            "problem": "",
            "batch": 42,
            "batchMs": 230,
            "lag": 17.0,
            "inputRowsPerSecond": 200.0,
            "processedRowsPerSecond": 870.5,
        }
    ]


def test_a_query_whose_input_is_left_alone_is_told_with_the_reason(on, states, balancer, known):
    on.put(orders.read({"version": 1, "serial": 1, "drivers": {"d": {"balance": {"act": True, "lever": True}}}}, "d"))
    states.take(heard.read(plugin.state()))
    balancer.after(batches.read(plugin.batch(42, cut={"pieces": 0, "own": "V1"})))
    (found,) = report.make(known, 0).words["queries"]
    assert (found["split"], found["settled"]) == ("V1", False)


def test_who_is_slow_is_told(on, states, balancer, known):
    on.put(orders.read({"version": 1, "serial": 1, "drivers": {"d": {"balance": {"act": True, "lever": True}}}}, "d"))
    states.take(heard.read(plugin.state()))
    slow = {"1": plugin.work(scanRows=900, scanMs=500), "2": plugin.work(scanRows=100, scanMs=500)}
    for number in range(3):
        assert "slow" not in report.make(known, 0).words["queries"][0]
        balancer.after(batches.read(plugin.batch(number, executors=slow, crew={"1": 1, "2": 1})))
    assert report.make(known, 0).words["queries"][0]["slow"] == ["2"]


URGENT = [
    ({"queries": [plugin.query(committed=42, inFlight=43)]}, False),
    ({"queries": [plugin.query(phase="parked")]}, True),
    ({"queries": [plugin.query(epoch=8)]}, True),
    ({"queries": [plugin.query(problem="slow")]}, True),
    ({"queries": [plugin.query(warm=True)]}, True),
    ({"queries": [plugin.query(committedAtMs=1_000, firstCommitAtMs=1_000)]}, True),
    ({"gateOpen": False}, True),
    ({"warmUp": "warmed up"}, True),
    ({"refusedOrders": "no"}, True),
    (drained("draining"), True),
    ({"unprotected": {"q-2": "another file manager"}}, True),
]


@pytest.mark.parametrize(("said", "urgent"), URGENT, ids=[f"{said}"[:60] for said, _ in URGENT])
def test_everything_but_a_batch_that_is_not_the_first_is_told_at_once(states, said, urgent, known):
    states.take(heard.read(plugin.state()))
    before = report.make(known, 0).urgent
    states.take(heard.read(plugin.state(**said)))
    assert (report.make(known, 0).urgent != before) is urgent


def test_after_the_first_commit_no_other_is_told_at_once(states, known):
    states.take(heard.read(plugin.state(queries=[plugin.query(committedAtMs=1_000, firstCommitAtMs=1_000)])))
    first = report.make(known, 0)
    states.take(
        heard.read(plugin.state(queries=[plugin.query(committed=42, committedAtMs=2_000, firstCommitAtMs=1_000)]))
    )
    second = report.make(known, 0)
    assert (second.urgent, second.words["queries"][0]["committedAtMs"]) == (first.urgent, 2_000)


def test_a_query_is_told_as_warm_and_with_its_commits_times_once_it_has_them(states, known):
    late = {"warm": True, "committedAtMs": 2_000, "firstCommitAtMs": 1_000}
    states.take(heard.read(plugin.state(queries=[plugin.query(**late)])))
    assert late.items() <= report.make(known, 0).words["queries"][0].items()
    states.take(heard.read(plugin.state(queries=[plugin.query(warm=False, committedAtMs=0, firstCommitAtMs=0)])))
    assert late.keys().isdisjoint(report.make(known, 0).words["queries"][0])


def test_the_word_that_a_drain_is_quiet_has_the_last_commit_with_it(states, known):
    states.take(heard.read(plugin.state(**drained("draining"), queries=[plugin.query(committedAtMs=1_000)])))
    before = report.make(known, 0)
    last = plugin.query(committed=42, inFlight=-1, committedAtMs=2_000)
    states.take(heard.read(plugin.state(**drained("quiet"), queries=[last])))
    found = report.make(known, 0)
    assert (found.urgent != before.urgent, found.words["phase"], found.words["drain"]["state"]) == (
        True,
        "Quiet",
        "quiet",
    )
    assert {"committed": 42, "inFlight": -1, "committedAtMs": 2_000}.items() <= found.words["queries"][0].items()


def test_phase_and_queries_are_of_one_moment_though_the_plugin_speaks_meanwhile(on, sums, balancer):
    meanwhile = []

    def clock():
        if meanwhile:
            speaks = threading.Thread(target=states.take, args=(meanwhile.pop(),))
            speaks.start()
            speaks.join(0.05)
        return 0.0

    states = heard.Heard(clock)
    states.take(heard.read(plugin.state()))
    meanwhile.append(heard.read(plugin.state(**drained("quiet"), queries=[plugin.query(committed=42)])))
    found = report.make(report.Known(states, on, sums, balancer), 0).words
    assert (found["phase"], found["queries"][0]["committed"]) == ("Running", 41)


def test_the_annotation_is_small_whatever_the_job_does(states, known):
    many = [plugin.query(id=f"q-{n}", name="n" * 5000, problem="é" * 5000) for n in range(1000)]
    states.take(heard.read(plugin.state(queries=many, warmUp="w" * 5000, refusedOrders="r" * 5000)))
    assert len(report.make(known, 0).text("now").encode()) < 64 << 10
