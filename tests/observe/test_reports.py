"""What drivers say in the Leases of their jobs: read with care, shown when it is news, seldom when it is numbers."""

import json

import pytest

from agent import plugin
from fakes import loops
from observe import bodies
from sluice.observe import mirror, reports
from sluice.values import reports as slim
from sluice_agent import balance, batches, board, heard, orders, report, tally

CLICKS = ("team", "clicks")


class Seen:
    """A mirror that knows a job, its Lease as it comes, and whether that woke the job."""

    def __init__(self, *jobs):
        self._woken = []
        self.mirror = mirror.Mirror(self._woken.append, lambda: None)
        for job in jobs or ("clicks",):
            self.mirror.see_streamjob(None, bodies.streamjob(job))
        self._woken.clear()

    def hears(self, lease, kind="MODIFIED"):
        self._woken.clear()
        self.mirror.see_lease(kind, lease)
        return bool(self._woken)

    def said(self, pod="d1"):
        return self.mirror.job_view(CLICKS, 0.0).said.get(pod)


def lease(at="10:00:00", **words):
    return bodies.lease("clicks", d1=bodies.report(at, **words))


def test_the_report_of_each_driver_is_in_the_view_of_its_job():
    seen = Seen()
    assert seen.hears(bodies.lease("clicks", d1=bodies.report(phase="Quiet"), d2=bodies.report(phase="Waiting")))
    assert (seen.said("d1").phase, seen.said("d2").phase) == ("Quiet", "Waiting")
    query = slim.Query("q-1", "clicks", "MicroBatch", "running", committed=4)
    assert seen.said("d1") == slim.Report(seen.said("d1").at_s, "Quiet", queries=(query,))


NEWS = {
    "a phase": {"phase": "Draining"},
    "a query that is another": {"queries": [{"id": "q-2"}]},
    "one query more": {"queries": [{}, {"id": "q-2"}]},
    "a query that ends": {"queries": [{"phase": "ended"}]},
    "what is wrong with a query": {"queries": [{"problem": "fenced by epoch 9"}]},
    "orders that are refused": {"refused": "orders 3: serial is -1"},
    "that a query is unprotected": {"problem": "query q-1 runs without gate"},
    "why a drain came to nothing": {"drain": {"id": "a", "state": "timed-out", "problem": "batch 9 still runs"}},
    "a drain": {"drain": {"id": "a"}},
    "how far a drain is": {"drain": {"state": "quiet"}},
    "a query that is warm": {"queries": [{"warm": True}]},
    "that its input is cut": {"queries": [{"split": ""}]},
    "who is slow": {"queries": [{"split": "", "slow": ["3"]}]},
    "why its input is left alone": {"queries": [{"split": "a source of the first version"}]},
    "the first commit": {"queries": [{"firstCommitAtMs": 1_000}]},
}


@pytest.mark.parametrize("words", NEWS.values(), ids=NEWS)
def test_news_wakes_the_job_at_once(words):
    seen = Seen()
    seen.hears(lease())
    assert seen.hears(lease("10:00:01", **words))
    assert seen.said() == reports.read(json.dumps(bodies.report("10:00:01", **words)))


@pytest.mark.parametrize(("at", "woken"), [("10:00:10", False), ("10:00:59", False), ("10:01:00", True)])
def test_numbers_wake_it_when_those_that_are_shown_have_grown_old(at, woken):
    seen = Seen()
    seen.hears(lease())
    assert seen.hears(lease(at, queries=[{"committed": 9, "batch": 9, "lag": 5}])) is woken
    assert seen.said().queries[0].committed == (9 if woken else 4)


def test_whether_shares_have_settled_wakes_nobody_and_is_known_at_once():
    seen = Seen()
    seen.hears(lease(queries=[{"split": "", "settled": False}]))
    assert not seen.hears(lease("10:00:10", queries=[{"split": "", "settled": True, "committed": 9}]))
    assert (seen.said().queries[0].settled, seen.said().queries[0].committed) == (True, 4)
    assert not seen.hears(lease("10:00:20", queries=[{"split": ""}]))
    assert seen.said().queries[0].settled is None


def test_what_is_not_said_of_a_split_is_not_known():
    seen = Seen()
    seen.hears(lease())
    assert (seen.said().queries[0].split, seen.said().queries[0].settled) == (None, None)


def test_a_renewal_that_says_the_same_wakes_nobody_however_late():
    seen = Seen()
    seen.hears(lease())
    assert not seen.hears(lease("11:00:00"))


AT_REST = {"id": "", "state": "none", "problem": ""}
FIRST = {"committedAtMs": 1_000, "firstCommitAtMs": 1_000}


def test_a_driver_on_its_way_to_its_first_batch_is_not_looked_at_for_every_step():
    seen = Seen()
    steps = [
        lease("10:00:00", phase="Starting", queries=[]),
        lease("10:00:01", phase="Waiting", queries=[], order=1, application="spark-1", drain=AT_REST),
        lease("10:00:02", phase="Waiting", queries=[{"phase": "gate", "committed": -1}], drain=AT_REST),
        lease("10:00:03", queries=[{"committed": -1}], gateOpen=True, drain=AT_REST),
        lease("10:00:04", queries=[{**FIRST, "committed": 0}], gateOpen=True, drain=AT_REST),
        lease("10:00:05", queries=[{**FIRST, "committed": 1, "committedAtMs": 2_000, "inFlight": 2}], drain=AT_REST),
    ]
    assert [seen.hears(step) for step in steps] == [False, False, False, True, True, False]


def test_a_driver_that_waits_is_looked_at_the_moment_it_is_warm_and_not_each_time_it_loads_anew():
    seen = Seen()
    steps = [
        lease("10:00:00", phase="Waiting", queries=[{"phase": "gate"}]),
        lease("10:00:02", phase="Waiting", queries=[{"phase": "gate", "warm": True}]),
        lease("10:00:07", phase="Waiting", queries=[{"phase": "gate", "warm": True}], warmUp="loaded batch 9"),
        lease("10:00:09", queries=[{"warm": True}], gateOpen=True),
        lease("10:00:10", queries=[{"warm": True, **FIRST}], gateOpen=True),
    ]
    assert [seen.hears(step) for step in steps] == [False, True, False, True, True]


def test_whoever_starts_to_look_sees_a_warm_driver_at_once():
    assert Seen().hears(lease(phase="Waiting", queries=[{"phase": "gate", "warm": True}]))


def test_a_driver_that_waits_for_long_is_looked_at():
    seen = Seen()
    seen.hears(lease("10:00:00", phase="Starting", queries=[]))
    assert seen.hears(lease("10:01:10", phase="Waiting", queries=[{"phase": "gate"}]))


def test_what_is_said_of_a_lease_that_is_gone_is_forgotten():
    seen = Seen()
    gone = lease()
    seen.hears(gone)
    seen.hears(gone, kind="DELETED")
    assert seen.said() is None
    seen.hears(gone)
    seen.mirror.keep_leases("other", {}, 0)
    assert seen.said() is not None
    seen.mirror.keep_leases("team", {}, 0)
    assert seen.said() is None


def test_a_lease_of_another_name_says_nothing_of_the_job():
    seen = Seen()
    assert not seen.hears(bodies.lease("clicks", name="somebody", d1=bodies.report(phase="Ended")))
    assert seen.said() is None


def query(**more):
    return bodies.report(queries=[more])


NONSENSE = {
    "no JSON": "{",
    "no object": "[]",
    "another version": {**bodies.report(), "version": 2},
    "no time": {**bodies.report(), "at": "soon"},
    "a time that is a number": {**bodies.report(), "at": 7},
    "no phase": {"version": 1, "at": "2026-11-18T10:00:00Z"},
    "a phase of a query that nobody knows": query(phase="flying"),
    "a query without an id": query(id=""),
    "a batch that is text": query(batch="9"),
    "a batch that is no number": query(batch=True),
    "less than nothing": query(lag=-1),
    "more than the API server counts": query(committed=1 << 70),
    "queries that are none": {**bodies.report(), "queries": {"id": "q"}},
    "a query that is none": {**bodies.report(), "queries": ["q"]},
    "a drain that is none": bodies.report(drain="quiet"),
    "a drain that nobody knows": bodies.report(drain={"state": "over"}),
    "a drain's state that is no text": bodies.report(drain={"state": 1}),
    "a drain's id that is no text": bodies.report(drain={"id": 1}),
    "an order that is text": bodies.report(order="9"),
    "a gate that is a number": bodies.report(gateOpen=1),
    "an application that is none": bodies.report(application=["spark-1"]),
    "a query that is warm as text": query(warm="true"),
    "a batch in flight that is text": query(inFlight="9"),
    "a commit before 1970": query(committedAtMs=-1),
    "a first commit that is text": query(firstCommitAtMs="now"),
    "a split that is no text": query(split=True),
    "shares that are settled as text": query(settled="true"),
    "slow executors as text": query(slow="12"),
    "a slow executor that is no number": query(slow=["all"]),
    "a slow executor that is not text": query(slow=[3]),
    "too much": bodies.report(refused="x" * (65 << 10)),
}


@pytest.mark.parametrize("said", NONSENSE.values(), ids=NONSENSE)
def test_what_makes_no_sense_says_nothing_and_harms_nobody(said):
    seen = Seen()
    assert not seen.hears(bodies.lease("clicks", d1=said))
    assert seen.said() is None
    assert seen.hears(bodies.lease("clicks", d1=said, d2=bodies.report()))
    assert seen.said("d2").phase == "Running"


def test_texts_are_cut_to_what_a_status_may_hold_and_queries_counted():
    many = [{"id": f"q-{number}", "name": "n" * 999, "problem": "p" * 999} for number in range(30)]
    found = reports.read(json.dumps(bodies.report(queries=many)))
    assert len(found.queries) == 20
    assert (len(found.queries[0].name), len(found.queries[0].problem)) == (128, 512)
    assert len(reports.read(json.dumps(query(split="s" * 999))).queries[0].split) == 256
    slow = reports.read(json.dumps(query(slow=["9" * 99] * 99))).queries[0].slow
    assert (len(slow), len(slow[0])) == (32, 10)


@loops.in_a_loop
async def test_what_the_agent_writes_is_what_the_operator_reads():
    states, sums = heard.Heard(lambda: 0.0), tally.Tally(lambda: 0.0)
    warm = plugin.query(problem="p", warm=True, committedAtMs=2_000, firstCommitAtMs=1_000)
    drain = {"id": "over-1", "state": "quiet", "problem": ""}
    states.take(heard.read(plugin.state(queries=[warm, plugin.query(id="q-2", name="views")], drain=drain)))
    sums.add(batches.read(plugin.batch(number=42, name="views")))
    on = board.Board(states.ring)
    balancer = balance.Balancer(on)
    on.put(orders.read({"version": 1, "serial": 3, "drivers": {"d": {"balance": {"act": True, "lever": True}}}}, "d"))
    balancer.after(batches.read(plugin.batch(cut={"pieces": 0, "own": "V1"})))
    made = report.make(report.Known(states, on, sums, balancer), 3)
    found = reports.read(made.text("2026-11-18T10:00:00.000000Z"))
    queries = (
        slim.Query(
            "q-1", "clicks", "MicroBatch", "running", 7, 41, "p",
            warm=True, in_flight=42, committed_at_ms=2_000, first_commit_at_ms=1_000, split="V1", settled=False,
        ),
        slim.Query("q-2", "views", "MicroBatch", "running", 7, 41, "", 42, 230, 17.0, 200.0, 870.5, in_flight=42),
    )  # fmt: skip
    assert found == slim.Report(
        found.at_s, "Quiet", "", "", "", queries, order=3, gate_open=True, drain_id="over-1", drain="quiet",
        application="spark-1",
    )  # fmt: skip
