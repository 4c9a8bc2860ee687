"""What a driver says of itself, as its job's status has it: queries, three conditions, a few words in the message."""

import dataclasses

import pytest

from crds import schema
from plan import made
from sluice import build
from sluice.plan import life, status
from sluice.values import reports, streamjob

PLUGGED = build.Surroundings(agent_image="agent:1", plugin_image="plugin:1")
DRIVER = made.driver().name
TOLD = {"orders": {"version": 1, "serial": 1, "drivers": {DRIVER: {"gate": {"open": True}}}}}
QUERY = reports.Query("q-1", "clicks", "MicroBatch", "running", 1, 41, batch=42, batch_ms=1500, lag=70.0)


def query(**change):
    return dataclasses.replace(QUERY, **change)


def report(*queries, phase="Running", **more):
    return reports.Report(made.NOW_S - 5, phase, queries=queries or (QUERY,), **more)


BOTH = made.driver(), made.executor()


def view(said=None, pods=BOTH, told=TOLD, **job):
    of = made.job(status={**made.begun(), **told}, **job)
    return made.view(of, *pods, said={DRIVER: said} if said else {})


def wanted(of):
    return status.wanted(of, life.judge(of, PLUGGED))


def condition(of, kind):
    found = {one["type"]: one for one in wanted(of)["conditions"]}[kind]
    return found["status"], found["reason"], found["message"]


def test_queries_stand_in_the_status_and_what_is_not_known_of_them_does_not():
    found = wanted(view(report(query(lag=None, epoch=3))))["queries"]
    assert found == [
        {
            "id": "q-1",
            "name": "clicks",
            "engine": "MicroBatch",
            "phase": "running",
            "epoch": 3,
            "committed": 41,
            "batch": 42,
            "batchMs": 1500,
        }
    ]


def test_every_field_of_a_query_is_one_of_the_schema():
    whole = query(problem="p", input_rows_per_s=1.5, processed_rows_per_s=2.5)
    (found,) = wanted(view(report(whole)))["queries"]
    (declared,) = [node for path, node in schema.walk(schema.root()) if path == "status.queries[]"]
    assert found.keys() == declared["properties"].keys()


def test_when_the_driver_is_gone_so_are_its_queries():
    before = view(report(), told={**TOLD, "queries": wanted(view(report()))["queries"]}, pods=())
    assert wanted(before)["queries"] == []


def test_without_a_plugin_the_status_has_neither_queries_nor_orders():
    assert {"queries", "orders"}.isdisjoint(wanted(view(told={})))


def test_what_a_driver_of_an_earlier_job_of_the_name_said_does_not_count():
    old = dataclasses.replace(report(), at_s=made.driver().created_s - 2)
    assert wanted(view(old))["queries"] == []
    assert condition(view(old), "Protected")[:2] == ("Unknown", "NotHeard")


NOBODY = made.view(made.job(status={**made.begun(phase="Suspended"), **TOLD}, suspend=True))
PROTECTED = {
    "all is as it should be": (view(report()), "True", "Guarded"),
    "it drains": (view(report(phase="Draining")), "True", "Guarded"),
    "it has said nothing yet": (view(), "Unknown", "NotHeard"),
    "its plugin has said nothing yet": (view(reports.Report(made.NOW_S, "Starting")), "Unknown", "NotHeard"),
    "it has no query yet": (view(reports.Report(made.NOW_S, "Running")), "Unknown", "NoQuery"),
    "plain Spark": (view(reports.Report(made.NOW_S, "Unmanaged", problem="Spark 3.5 runs here")), "False", "Unmanaged"),
    "a query went its own way": (view(report(problem="query q-1 runs without gate")), "False", "QueryUnprotected"),
    "a store that excludes nobody": (view(report(query(problem="a second writer"))), "False", "NotExclusive"),
    "silence": (view(report(phase="Silent")), "Unknown", "Silent"),
    "a driver of before the plugin": (view(told={}), "False", "NoPlugin"),
    "another driver had it": (view(told={"orders": {**TOLD["orders"], "drivers": {}}}), "False", "NoPlugin"),
    "it is about to start": (made.view(), "Unknown", "NotHeard"),
    "no driver": (NOBODY, "Unknown", "NoDriver"),
}


@pytest.mark.parametrize(("of", "holds", "reason"), PROTECTED.values(), ids=PROTECTED)
def test_protected_says_whether_every_query_drains_and_is_fenced(of, holds, reason):
    assert condition(of, "Protected")[:2] == (holds, reason)


def test_why_a_job_is_not_protected_is_in_the_plugins_words():
    plain = reports.Report(made.NOW_S, "Unmanaged", problem="this image has Spark 3.5.7, and Sluice knows 4.3")
    assert condition(view(plain), "Protected")[2] == "this image has Spark 3.5.7, and Sluice knows 4.3"
    assert condition(view(report(query(problem="a second writer"))), "Protected")[2] == "clicks: a second writer"
    assert "sluice restart" in condition(view(told={"orders": {**TOLD["orders"], "drivers": {}}}), "Protected")[2]


def slo(said, latency_s=None, lag=None):
    return view(said, slo=streamjob.Slo(latency_s, lag))


OTHER = query(id="q-2", name="views")
SLO = {
    "nothing is asked for": (slo(report()), "True", "NoSLO"),
    "fast enough": (slo(report(), 1.5), "True", "Met"),
    "too slow": (slo(report(), 1.499), "False", "BatchTooSlow"),
    "few enough wait": (slo(report(), None, 70), "True", "Met"),
    "too many wait": (slo(report(), 9.0, 69), "False", "LagTooHigh"),
    "one of two is too slow": (slo(report(QUERY, query(name="b", batch_ms=9000)), 2.0), "False", "BatchTooSlow"),
    "one of two has ended": (slo(report(QUERY, query(phase="ended", batch_ms=9000)), 2.0), "True", "Met"),
    "no batch yet": (slo(report(query(batch=None, batch_ms=None, lag=None)), 2.0), "Unknown", "NoBatch"),
    "one of two has none": (slo(report(QUERY, query(batch=None, batch_ms=None)), 2.0), "Unknown", "NoBatch"),
    "none lives": (slo(report(query(phase="ended")), 2.0), "Unknown", "NoBatch"),
    "sources that tell no lag": (slo(report(query(lag=None)), None, 5), "Unknown", "NotMeasured"),
    "a batch of Real-Time Mode": (slo(report(query(engine="RealTime")), 1.0), "Unknown", "NotMeasured"),
    "its lag": (slo(report(query(engine="RealTime")), None, 70), "True", "Met"),
    "plain Spark": (slo(reports.Report(made.NOW_S, "Unmanaged", problem="x"), 2.0), "Unknown", "NotMeasured"),
    "silence": (slo(report(phase="Silent"), 2.0), "Unknown", "Silent"),
    "no plugin": (view(told={}, slo=streamjob.Slo(2.0)), "Unknown", "NotMeasured"),
    "no driver": (NOBODY, "Unknown", "NoDriver"),
}


@pytest.mark.parametrize(("of", "holds", "reason"), SLO.values(), ids=SLO)
def test_slo_met_says_whether_the_last_batch_of_each_query_is_as_wanted(of, holds, reason):
    assert condition(of, "SLOMet")[:2] == (holds, reason)


def test_what_misses_an_slo_is_said_in_its_numbers():
    assert (
        condition(slo(report(), 1.0), "SLOMet")[2]
        == "batch 42 of clicks took 1500 ms, spec.slo.batchLatency is 1000 ms"
    )
    assert condition(slo(report(), None, 5), "SLOMet")[2] == "70 records wait for clicks, spec.slo.lag is 5"


CHECKPOINTS = {
    "batches are committed": (view(report()), "True", "Committed"),
    "one query has none yet": (view(report(QUERY, query(committed=-1))), "Unknown", "NoBatch"),
    "no query yet": (view(reports.Report(made.NOW_S, "Running")), "Unknown", "NoBatch"),
    "a query was refused": (
        view(report(QUERY, query(phase="ended", problem="it lost a source"))),
        "False",
        "QueryRefused",
    ),
    "a query ended as it should": (view(report(QUERY, query(phase="ended"))), "True", "Committed"),
    "no plugin": (view(told={}), "Unknown", "NotMeasured"),
    "no driver": (NOBODY, "Unknown", "NoDriver"),
}


@pytest.mark.parametrize(("of", "holds", "reason"), CHECKPOINTS.values(), ids=CHECKPOINTS)
def test_checkpoint_healthy_says_whether_every_query_goes_on_from_its_checkpoint(of, holds, reason):
    assert condition(of, "CheckpointHealthy")[:2] == (holds, reason)


RUNS = f"{DRIVER} runs with 1 of 1 executors"
MESSAGES = {
    "all is as usual": (view(report()), RUNS),
    "it waits": (view(report(phase="Waiting")), f"{RUNS}: Waiting at the gate"),
    "somebody else drains it": (view(report(phase="Draining")), f"{RUNS}: Draining"),
    "nothing runs in it": (view(report(phase="Ended")), f"{RUNS}: All of its queries have ended, its program goes on"),
    "it follows no orders": (view(report(refused="serial is -1")), f"{RUNS}: its orders are refused: serial is -1"),
}
for _phase in ("Draining", "Quiet", "Stopped"):
    MESSAGES[f"it is stopped and {_phase}"] = (
        view(report(phase=_phase), suspend=True),
        f"{DRIVER} stops: spec.suspend is true: {_phase}",
    )
MESSAGES["its drain came to nothing"] = (
    view(report(phase="DrainTimedOut", drain_problem="batch 9 still runs"), suspend=True),
    f"{DRIVER} stops: spec.suspend is true: DrainTimedOut: batch 9 still runs",
)


@pytest.mark.parametrize(("of", "message"), MESSAGES.values(), ids=MESSAGES)
def test_the_message_says_where_the_driver_stands_when_that_matters(of, message):
    assert wanted(of)["message"] == message
