"""A move is recorded, carried out by a roll, watched over as many batches as before, and kept or undone once."""

import dataclasses

import pytest

from plan import crews, made, measured
from sluice.plan import announced, changes, life
from sluice.values import handoff, moves, streamjob

TORN = ("node1", "node2", "node2")
FIRST = measured.WISH.executor


def record(now=None, *past):
    return {"placement": moves.Record(now, past).write()}


def begun(phase=moves.MOVING, ago_s=100.0, **change):
    at_s = made.NOW_S - ago_s
    return dataclasses.replace(
        moves.Move(measured.WISH, phase, at_s, at_s, crews.DRIVER.name, 3, "" if phase == moves.MOVING else FOURTH),
        **change,
    )


FOURTH = f"{crews.DRIVER.name}-exec-4"


def arrived():
    """Its replacement works on the other node, and it is gone."""
    return [*measured.executors(*TORN)[1:], crews.executor(4, node="node2")]


def handed(**how):
    return {name: said for name, said in handoff.Handoff(**how).write().items() if said is not None}


def judged(seen):
    return life.judge(seen, crews.AROUND)


def moved(seen):
    return judged(seen).moved


def told(seen):
    return [(one.kind, one.subject.rpartition("-")[2], one.what) for one in judged(seen).decisions]


def resting(**more):
    return measured.view(measured.executors(*TORN), wish=measured.WISH, **more)


def test_a_wish_is_recorded_before_anything_is_done_about_it():
    seen = resting()
    found = moved(seen)
    assert found.now == moves.Move(measured.WISH, moves.MOVING, made.NOW_S, made.NOW_S, crews.DRIVER.name, 3)
    assert told(seen) == [("Move", "1", "goes from node1 to node2")]
    assert (judged(seen).told, judged(seen).look_again_s) == ({}, 0.0)
    assert moves.read(measured.after(seen)).now.wish == measured.WISH


def test_once_it_is_recorded_one_more_executor_is_asked_for_and_then_it_goes():
    seen = measured.view(measured.executors(*TORN), record(begun()))
    assert crews.ordered(seen) == (4, [])
    assert "executor 1 to be replaced: it moves to node2" in judged(seen).message
    there = [*measured.executors(*TORN), crews.executor(4, node="node2")]
    assert crews.ordered(measured.view(there, record(begun()), orders=crews.told(4))) == (3, ["1"])


def test_without_room_for_one_more_nobody_goes_before():
    there = [*measured.executors(*TORN), crews.executor(4, **crews.FULL)]
    seen = measured.view(there, record(begun()), orders=crews.told(4), since_s=130)
    assert crews.ordered(seen) == (4, [])


NOT_NOW = {
    "the executor is gone": {"pods": measured.executors(*TORN)[1:]},
    "it sits elsewhere by now": {"pods": measured.executors("node3", *TORN[1:])},
    "its driver is not heard": {"said": {}},
    "executors come or go": {"pods": [*measured.executors(*TORN), crews.executor(4)], "orders": crews.told(4)},
    "one has to be replaced": {"cordoned": frozenset({"node1"})},
    "another driver is coming": {"state": {"handoff": handed(phase=handoff.PREPARING)}},
    "one has just moved": {
        "state": record(None, moves.Past(made.NOW_S - 700, made.NOW_S - 500, "node5", "node6", moves.BETTER))
    },
    "it did not help before": {
        "state": record(None, moves.Past(made.NOW_S - 9000, made.NOW_S - 8000, "node1", "node2", moves.UNDONE))
    },
}


@pytest.mark.parametrize("case", NOT_NOW.values(), ids=NOT_NOW)
def test_a_wish_is_passed_over_when(case):
    case = dict(case)
    seen = measured.view(case.pop("pods", measured.executors(*TORN)), wish=measured.WISH, **case)
    assert moved(seen) is None


def test_under_observe_it_is_said_once_and_left():
    spec = crews.wanted(placement=streamjob.Placement("Observe"))
    seen = resting(spec=spec)
    past = moves.Past(made.NOW_S, made.NOW_S, "node1", "node2", moves.OBSERVED)
    assert moved(seen) == moves.Record(None, (past,))
    assert told(seen) == [("Move", "1", "would go from node1 to node2, but placement.mode is Observe")]
    again = measured.view(measured.executors(*TORN), record(None, past), wish=measured.WISH, spec=spec)
    assert moved(again) is None


def test_it_is_watched_once_its_replacement_works_there():
    seen = measured.view(arrived(), record(begun()), orders=crews.told(3))
    assert moved(seen).now == begun(moves.WATCHED, since_s=made.NOW_S)


UNDER_WAY = {
    "nothing has come yet": (measured.executors(*TORN), crews.told(4)),
    "its replacement waits": ([*measured.executors(*TORN), measured.at_gate(4)], crews.told(4)),
    "its replacement warms up": (
        [*measured.executors(*TORN), crews.executor(4, node="node2", ready_s=made.NOW_S - 3)],
        crews.told(4),
    ),
    "it ends its tasks": ([*measured.executors(*TORN), crews.executor(4, node="node2")], crews.told(3, "1")),
}


@pytest.mark.parametrize(("pods", "orders"), UNDER_WAY.values(), ids=UNDER_WAY)
def test_it_is_under_way_while(pods, orders):
    assert moved(measured.view(pods, record(begun()), orders=orders)) is None


SENT = '{"at": "2027-01-15T07:59:00Z", "node": "node2", "policy": "consolidate", "why": "an executor moves there"}'
IN_VAIN = {
    "its replacement is sent elsewhere": (
        {"pods": [*measured.executors(*TORN), crews.executor(4, node="node3")], "orders": crews.told(4)},
        "node2 did not take its replacement",
    ),
    "the node turned its replacement away": (
        {
            "pods": [
                *measured.executors(*TORN),
                crews.executor(4, **crews.FULL, placed=SENT),
            ],
            "orders": crews.told(4),
        },
        "node2 did not take its replacement",
    ),
    "it takes too long": ({"now": begun(ago_s=250)}, "it did not arrive within 4 minutes"),
    "it may not move any more": (
        {"spec": crews.wanted(placement=streamjob.Placement("Off"))}, "placement.mode is Off",
    ),
    "the spec was changed": ({"spec": crews.wanted(4), "former": crews.wanted(3)}, "the spec was changed"),
    "another driver runs": ({"now": begun(driver="clicks-other-9")}, f"{crews.DRIVER.name} runs the job now"),
}  # fmt: skip


@pytest.mark.parametrize(("case", "why"), IN_VAIN.values(), ids=IN_VAIN)
def test_it_is_given_up_when(case, why):
    case = dict(case)
    pods, now = case.pop("pods", measured.executors(*TORN)), case.pop("now", begun())
    case.setdefault("orders", crews.told(4))
    seen = measured.view(pods, record(now), **case)
    assert moved(seen).now is None
    assert [one.outcome for one in moved(seen).past] == [moves.MISSED]
    assert [(one.what, one.why) for one in judged(seen).decisions if one.kind == "Abandon"] == [
        ("does not go to node2", why)
    ]


def test_given_up_the_one_that_came_too_many_goes_and_it_stays():
    pods = [*measured.executors(*TORN), crews.executor(4, node="node3")]
    seen = measured.view(pods, record(), orders=crews.told(4))
    assert crews.ordered(seen) == (3, ["4"])


def watched(batch_ms=800.0, **told_by):
    """Some minutes of it; 2, 3 and 4 sit together."""
    traffic = measured.told({"2": {"3": 1_000_000}, "4": {"2": 1_000_000}}, batch_ms=batch_ms, **told_by)
    since = begun(moves.WATCHED, ago_s=400)
    return measured.view(arrived(), record(since), traffic=traffic, orders=crews.told(3))


def test_what_helped_stays():
    seen = watched()
    assert moved(seen) == moves.Record(
        None, (moves.Past(made.NOW_S - 400, made.NOW_S, "node1", "node2", moves.BETTER),)
    )
    assert told(seen) == [("Keep", "4", "stays on node2")]
    assert "100.0% of its bytes crossed between nodes before, 0.0% after" in judged(seen).decisions[0].why


def test_what_did_not_help_goes_back_and_is_left_alone():
    seen = watched(batch_ms=1000.0)
    found = moved(seen)
    assert [one.outcome for one in found.past] == [moves.UNDONE]
    assert (found.now.wish.executor, found.now.wish.source, found.now.wish.target) == (FOURTH, "node2", "node1")
    assert (found.now.phase, found.now.undoes) == (moves.MOVING, True)
    assert told(seen) == [("Undo", "4", "goes back from node2 to node1")]


def test_the_way_back_is_not_judged():
    back = dataclasses.replace(measured.WISH, executor=FOURTH, source="node2", target="node1")
    pods = [*measured.executors(*TORN)[1:], crews.executor(5, node="node1")]
    now = begun(wish=back, undoes=True, newest=4)
    undone = moves.Past(made.NOW_S - 900, made.NOW_S - 100, "node1", "node2", moves.UNDONE)
    found = moved(measured.view(pods, record(now, undone), orders=crews.told(3)))
    assert (found.now, [one.outcome for one in found.past]) == (None, [moves.UNDONE, moves.UNDO])


TOO_EARLY = {
    "the batches began before it arrived": {"seconds": 500.0},
    "too few batches have ended": {"batches": 49},
    "one is among them in which it still worked": {"run_ms": {"1": 5.0, "2": 9.0}},
}


@pytest.mark.parametrize("told_by", TOO_EARLY.values(), ids=TOO_EARLY)
def test_it_is_not_judged_while(told_by):
    assert moved(watched(batch_ms=1000.0, **told_by)) is None


def test_a_way_back_that_the_budget_does_not_allow_waits():
    once = streamjob.Placement(max_moves_per_hour=1)
    traffic = watched(batch_ms=1000.0).traffic
    for ago_s, goes_back in ((400, False), (3700, True)):
        state = record(begun(moves.WATCHED, ago_s=ago_s))
        spec = crews.wanted(placement=once)
        seen = measured.view(arrived(), state, traffic=traffic, orders=crews.told(3), spec=spec)
        assert (moved(seen) is not None) is goes_back


DISTURBED = {
    "its replacement is gone": ({"pods": measured.executors(*TORN)}, "clicks-exec-4 is gone"),
    "executors come or go": ({"cordoned": frozenset({"node2"})}, "other executors come or go"),
    "too few batches end in half a day": (
        {"state": record(begun(moves.WATCHED, ago_s=50_000))}, "too few batches ended to judge it",
    ),
    "another driver runs": (
        {"state": record(begun(moves.WATCHED, driver="clicks-other-9"))}, f"{crews.DRIVER.name} runs the job now",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("case", "why"), DISTURBED.values(), ids=DISTURBED)
def test_it_stays_unjudged_when(case, why):
    case = {"state": record(begun(moves.WATCHED)), "orders": crews.told(3), **case}
    seen = measured.view(case.pop("pods", arrived()), **case)
    assert (moved(seen).now, [one.outcome for one in moved(seen).past]) == (None, [moves.UNJUDGED])
    (said,) = [one for one in judged(seen).decisions if one.kind == "Abandon"]
    assert (said.what, said.why) == ("is not judged", why.replace("clicks-exec-4", FOURTH))


def test_what_is_over_and_counts_no_more_is_forgotten():
    old = [
        moves.Past(made.NOW_S - age_s, made.NOW_S - age_s, "a", outcome, outcome)
        for outcome, age_s in ((moves.BETTER, 3700), (moves.UNDO, 3700), (moves.UNDONE, 86_500), (moves.UNDONE, 80_000))
    ]
    seen = measured.view(measured.executors(*TORN), record(None, *old), wish=measured.WISH)
    assert [one.ended_s for one in moved(seen).past] == [made.NOW_S - 80_000]


def test_a_record_reads_as_it_was_written():
    past = moves.Past(made.NOW_S - 500, made.NOW_S - 400, "node1", "node2", moves.UNDONE)
    whole = moves.Record(begun(moves.WATCHED, undoes=True), (past,))
    assert moves.read({"placement": whole.write()}) == whole
    assert moves.read({}) == moves.Record()


def test_in_real_time_mode_a_recorded_move_is_a_handover():
    spec = crews.wanted(real_time=True)
    seen = resting(spec=spec)
    assert moved(seen).now.phase == moves.MOVING
    seen = measured.view(measured.executors(*TORN), record(begun()), spec=spec)
    assert judged(seen).handoff.phase == handoff.PREPARING
    assert judged(seen).handoff.why == f"{FIRST} moves from node1 to node2"


def test_in_real_time_mode_nothing_moves_where_no_driver_may_come_beside():
    recreate = crews.wanted(real_time=True, update=streamjob.Update("Recreate"))
    assert moved(resting(spec=recreate)) is None


def test_a_handover_that_came_to_nothing_is_the_end_of_its_move():
    spec = crews.wanted(real_time=True)
    revision = changes.revision(made.job(**spec))
    failed = handed(phase=handoff.CANCELLED, since_s=made.NOW_S - 50, message="in vain", revision=revision)
    seen = measured.view(measured.executors(*TORN), {**record(begun()), "handoff": failed}, spec=spec)
    assert [one.outcome for one in moved(seen).past] == [moves.MISSED]


def test_each_decision_is_an_event():
    assert [step.reason for step in announced.tell(resting(), judged(resting()))] == ["ExecutorMoves"]
    (undone,) = announced.tell(watched(), judged(watched(batch_ms=1000.0)))
    assert (undone.reason, undone.warning) == ("MoveUndone", True)
