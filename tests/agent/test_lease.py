"""The Lease says who runs the job, and each driver's agent says there how it goes."""

import json

import pytest

from agent import fake_api, loops, plugin
from sluice_agent import balance, board, client, heard, lease, main, report, settings, tally

OLD, NEW = "clicks-5f3a9c-1", "clicks-77aa01-1"


class Clock:
    def __init__(self):
        self.now_s = 5.0  # since this machine's start, say

    def __call__(self):
        return self.now_s


@pytest.fixture
def api():
    with fake_api.serving() as fake:
        yield fake


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def agent(api, clock, tmp_path):
    lines = []

    def make(pod):
        lines.append(client.Client(api.url, tmp_path))
        told = settings.Driver("clicks", "shop", pod, f"uid-of-{pod}", "127.0.0.1", tmp_path, tmp_path)
        return lease.Lease(lines[-1], told, clock)

    yield make
    for line in lines:
        line.close()


def told(phase="Running", leads=True, epoch=1, **words):
    return report.Report({"phase": phase, **words}, (phase, epoch), epoch, leads)


def spec(api):
    return api.lease["spec"]


def later(api, clock, seconds):
    clock.now_s += seconds
    api.now_s += seconds


def test_the_driver_that_runs_takes_a_lease_nobody_holds_in_the_api_servers_time(api, agent):
    agent(OLD).write(told(epoch=7))
    assert spec(api) == {
        "holderIdentity": f"{OLD}_uid-of-{OLD}",
        "leaseDurationSeconds": 30,
        "acquireTime": "2027-01-15T08:00:00.000000Z",
        "renewTime": "2027-01-15T08:00:00.000000Z",
        "leaseTransitions": 1,
    }
    assert api.lease["metadata"]["annotations"]["sluice.dev/epoch"] == "7"
    assert api.said_by(OLD) == {"version": 1, "at": "2027-01-15T08:00:00.000000Z", "phase": "Running"}


def test_it_renews_every_10_s_with_one_call(api, agent, clock):
    ours = agent(OLD)
    ours.write(told())
    asked = len(api.asked)
    assert ours.due_s(told()) == 10
    later(api, clock, 10)
    assert ours.due_s(told()) == 0
    ours.write(told())
    assert (spec(api)["renewTime"], spec(api)["leaseTransitions"]) == ("2027-01-15T08:00:10.000000Z", 1)
    assert [method for method, _ in api.asked[asked:]] == ["PATCH"]


def test_one_that_waits_only_speaks_every_15_s(api, agent):
    agent(OLD).write(told())
    waits = agent(NEW)
    waits.write(told("Waiting", leads=False))
    assert (waits.due_s(told("Waiting", leads=False)), spec(api)["holderIdentity"].split("_")[0]) == (15, OLD)
    assert (api.said_by(OLD)["phase"], api.said_by(NEW)["phase"]) == ("Running", "Waiting")


def test_changes_of_phase_are_told_at_once_but_no_more_than_4_within_a_second(agent, clock):
    ours = agent(OLD)
    for _ in range(2):
        for phase in ("Draining", "Quiet"):
            assert ours.due_s(told(phase, leads=False)) == 0
            ours.write(told(phase, leads=False))
            clock.now_s += 0.125
    assert ours.due_s(told("Draining", leads=False)) == 0.5
    clock.now_s += 0.5
    assert ours.due_s(told("Draining", leads=False)) == 0


def test_that_a_driver_starts_is_told_when_it_takes_long(agent, clock):
    ours, starts = agent(OLD), report.Report({"phase": "Starting"}, None, 0, leads=False)
    assert ours.due_s(starts) == 15
    clock.now_s += 15
    assert ours.due_s(starts) == 0


def test_what_was_said_before_a_restart_is_read_back(api, agent):
    assert agent(OLD).before() == {}
    agent(OLD).write(told(order=42))
    assert (agent(OLD).before()["order"], agent(NEW).before()) == (42, {})
    api.lease["metadata"]["annotations"][f"agent.sluice.dev/{OLD}"] = "edited by hand"
    assert agent(OLD).before() == {}


@pytest.mark.parametrize(
    ("after_s", "epoch", "taken"), [(1, 2, True), (1, 1, False), (29, 1, False), (31, 1, True), (1, 0, False)]
)
def test_another_takes_it_with_a_higher_epoch_or_when_it_ran_out(api, agent, clock, after_s, epoch, taken):
    agent(OLD).write(told(epoch=1))
    later(api, clock, after_s)
    agent(NEW).write(told(epoch=epoch))
    assert spec(api)["holderIdentity"].split("_")[0] == (NEW if taken else OLD)
    assert spec(api)["leaseTransitions"] == (2 if taken else 1)


def test_a_driver_that_wakes_up_late_does_not_take_it_back(api, agent, clock):
    old = agent(OLD)
    old.write(told(epoch=1))
    later(api, clock, 60)
    agent(NEW).write(told(epoch=2))
    old.write(told(epoch=1))
    assert spec(api)["holderIdentity"].split("_")[0] == NEW
    assert api.said_by(OLD)["phase"] == "Running"  # it says so; the operator sees who holds


def test_a_restarted_agent_goes_on_holding(api, agent, clock):
    agent(OLD).write(told())
    later(api, clock, 5)
    agent(OLD).write(told())
    assert (spec(api)["leaseTransitions"], spec(api)["renewTime"]) == (1, "2027-01-15T08:00:05.000000Z")


def test_who_takes_it_removes_what_drivers_long_gone_have_said(api, agent, clock):
    ancient = "clicks-000000-1"
    for number, pod in enumerate((ancient, OLD, NEW)):
        later(api, clock, 60)
        agent(pod).write(told(epoch=number))
    spoken = [name for name in api.lease["metadata"]["annotations"] if name.startswith("agent.")]
    assert sorted(spoken) == [f"agent.sluice.dev/{OLD}", f"agent.sluice.dev/{NEW}"]


def test_when_another_writes_in_between_it_looks_and_writes_again(api, agent):
    ours = agent(OLD)
    ours.write(told())

    def meddle():
        api.before_patch = None
        api.lease["metadata"]["resourceVersion"] = "77"
        api.lease["spec"]["leaseTransitions"] = 8

    api.before_patch = meddle
    ours.write(told("Draining"))
    assert (api.said_by(OLD)["phase"], spec(api)["leaseTransitions"]) == ("Draining", 8)


def test_no_lease_no_rights_no_server_are_said_and_survived(api, agent):
    ours, there = agent(OLD), api.lease
    api.lease = None
    with pytest.raises(lease.Refused, match="cannot read the Lease: not found"):
        ours.write(told())
    api.lease = there
    api.failing = [403]
    with pytest.raises(lease.Refused, match="cannot read the Lease: no"):
        ours.write(told())
    api.failing = [500]
    with pytest.raises(client.Unavailable):
        ours.write(told())
    ours.write(told())
    assert api.said_by(OLD)["phase"] == "Running"


def test_the_annotation_is_json_on_one_line(api, agent):
    agent(OLD).write(told(queries=[{"name": 'a "b"\n'}]))
    text = api.lease["metadata"]["annotations"][f"agent.sluice.dev/{OLD}"]
    assert "\n" not in text
    assert json.loads(text)["queries"] == [{"name": 'a "b"\n'}]


@pytest.fixture
def telling(agent, clock):
    with loops.Loop() as loop:

        def make():
            async def on():
                return board.Board(states.ring)

            states = heard.Heard(clock)
            here = loop.run(on())

            known = report.Known(states, here, tally.Tally(clock), balance.Balancer(here))
            return states, main._Telling(agent(OLD), known)

        yield make


def test_a_restarted_agent_knows_from_the_lease_that_spark_runs_plain_and_which_order_was_observed(api, telling, clock):
    agent_dies = {"version": 1, "phase": "Unmanaged", "order": 42, "problem": "Spark 3.5 is not known here"}
    api.lease["metadata"]["annotations"] = {f"agent.sluice.dev/{OLD}": json.dumps(agent_dies)}
    states, loop = telling()
    clock.now_s += 15  # the plugin says nothing any more
    loop.step()
    assert states.unmanaged == "Spark 3.5 is not known here"
    loop.step()
    assert {**api.said_by(OLD), **agent_dies} == api.said_by(OLD)
    assert spec(api)["holderIdentity"].split("_")[0] == OLD


def test_what_the_plugin_says_now_outweighs_what_the_lease_says_of_before(api, telling):
    api.lease["metadata"]["annotations"] = {
        f"agent.sluice.dev/{OLD}": '{"version": 1, "phase": "Unmanaged", "order": 42}'
    }
    states, loop = telling()
    states.take(heard.read(plugin.state()))
    loop.step()
    loop.step()
    assert (api.said_by(OLD)["phase"], api.said_by(OLD)["order"]) == ("Running", 42)


@pytest.mark.parametrize("odd", ["[]", '{"version": 1, "order": "many"}', '{"version": 2}', "{"])
def test_an_annotation_that_somebody_edited_is_forgotten(api, telling, odd):
    api.lease["metadata"]["annotations"] = {f"agent.sluice.dev/{OLD}": odd}
    states, loop = telling()
    states.take(heard.read(plugin.state()))
    loop.step()
    loop.step()
    assert (api.said_by(OLD)["phase"], api.said_by(OLD)["order"]) == ("Running", 0)
