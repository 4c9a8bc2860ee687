"""How many executors the load takes if batches are to keep the SLO: advice with its reckoning that does not flicker."""

import dataclasses

import pytest

from plan import crews, made, measured
from sluice.plan import life, status
from sluice.values import driver_state, reports, streamjob

PAIRS = {"1": {"2": 1}, "2": {"3": 1}}
SLO = streamjob.Slo(batch_latency_s=2.0)


def seen(slo=SLO, busy=0.5, state=None, reports_=None, spec=None, **told):
    """Three executors of two cores, each slot busy for a part of the time; a batch each three seconds."""
    executors = streamjob.Executors(3, cores=2)
    run_ms = dict.fromkeys("123", busy * 2 * 300_000.0)
    usual = {"batches": 100, "seconds": 300.0, "batch_ms": 1000.0 + busy * 3000.0, "run_ms": run_ms}
    wanted = {"executors": executors, "slo": slo, **(spec or {})}
    said = {crews.DRIVER.name: reports_} if reports_ else {}
    more = {"said": {crews.DRIVER.name: reports.Report(made.NOW_S, "Running")} | said}
    traffic = measured.told(PAIRS, **(usual | told))
    return measured.view(measured.executors("node1", "node2", "node3"), state, traffic=traffic, spec=wanted, **more)


def advice(view):
    return life.judge(view, crews.AROUND).sizing


def executors(view):
    found = advice(view)
    return found and found["executors"]


LOADS = {
    "half busy, and the latency has room": (0.5, streamjob.Slo(batch_latency_s=3.0), 3),
    "nobody is to be busier than 80 %": (0.5, streamjob.Slo(batch_latency_s=60.0), 2),
    "twice as much takes twice as many": (1.0, streamjob.Slo(batch_latency_s=60.0), 4),
    "a shorter latency takes more": (0.5, streamjob.Slo(batch_latency_s=1.5), 5),
    "what may wait comes in within a time": (0.5, streamjob.Slo(lag=450), 5),
}


@pytest.mark.parametrize(("busy", "slo", "expected"), LOADS.values(), ids=LOADS)
def test_so_many_are_needed(busy, slo, expected):
    assert executors(seen(slo, busy)) == expected


def test_the_reckoning_is_told_with_the_advice():
    found = advice(seen())
    assert (found["executors"], found["cores"]) == (4, 2)
    assert found["why"] == (
        "300 rows come a second, a slot serves 100: with 4 x 2 slots they are 38% busy, "
        "a batch takes about 1809 ms of 2000 ms (spec.slo.batchLatency)"
    )
    (decision,) = life.judge(seen(), crews.AROUND).decisions
    assert (decision.kind, decision.what) == ("Size", "4 executors of 2 cores are needed")
    assert status.wanted(seen(), life.judge(seen(), crews.AROUND))["sizing"] == found


def test_what_comes_in_and_waits_is_to_be_worked_off_too():
    query = reports.Query("q-1", "clicks", "MicroBatch", "running", input_rows_per_s=600.0)
    behind = seen(reports_=reports.Report(made.NOW_S, "Running", queries=(query,)), slo=streamjob.Slo(60.0))
    assert executors(behind) == 4


def test_a_query_that_waits_between_its_batches_takes_fewer():
    query = reports.Query("q-1", "clicks", "MicroBatch", "running", input_rows_per_s=75.0)
    idle = seen(reports_=reports.Report(made.NOW_S, "Running", queries=(query,)), slo=streamjob.Slo(60.0))
    assert executors(idle) == 1


def test_a_goal_that_no_number_keeps_is_said():
    found = advice(seen(streamjob.Slo(batch_latency_s=0.5)))
    assert "no number keeps spec.slo.batchLatency: 500 ms of a batch are not work of executors" in found["why"]
    assert found["executors"] == 2


def test_a_number_above_the_users_most_is_named_with_it():
    most = {"executors": streamjob.Executors(3, maximum=3, cores=2)}
    assert advice(seen(busy=1.0, slo=streamjob.Slo(60.0), spec=most))["why"].endswith("; spec.executors.max is 3")


def test_slots_are_cores_by_what_a_task_takes():
    assert executors(seen(slo=streamjob.Slo(60.0), spec={"spark_conf": {"spark.task.cpus": "2"}})) == 4


NONE = {
    "nothing is wanted": {"slo": streamjob.Slo()},
    "in Real-Time Mode": {"spec": {"real_time": True}},
    "nineteen batches say nothing": {"batches": 19},
    "nothing ran": {"run_ms": {"1": 0.0}},
    "nothing was read": {"rows": {"1": 0}},
}


@pytest.mark.parametrize("case", NONE.values(), ids=NONE)
def test_there_is_no_advice_when(case):
    assert advice(seen(**case)) is None


def given(executors_, ago_s, cores=2):
    at = driver_state.timestamp(made.NOW_S - ago_s)
    return {"sizing": {"executors": executors_, "cores": cores, "at": at, "why": "as it was"}}


STEADY = {
    "as before: nothing is written": (given(4, 60), None),
    "more: at once": (given(3, 60), 4),
    "fewer: not at once": (given(5, 3500), None),
    "fewer: after an hour": (given(5, 3700), 4),
    "of other cores: at once": (given(4, 60, cores=1), 4),
}


@pytest.mark.parametrize(("state", "expected"), STEADY.values(), ids=STEADY)
def test_the_advice_does_not_follow_every_swing(state, expected):
    assert executors(seen(state=state)) == expected


def test_who_asks_for_nothing_any_more_is_advised_no_more():
    gone = seen(slo=streamjob.Slo(), state=given(3, 60))
    found = status.difference(gone.job.status, status.wanted(gone, life.judge(gone, crews.AROUND)))
    assert found["sizing"] == {"executors": None, "cores": None, "at": None, "why": None}
    left = dataclasses.replace(gone, job=dataclasses.replace(gone.job, status={**gone.job.status, "sizing": {}}))
    assert advice(left) is None
