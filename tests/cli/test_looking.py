"""`status` and `why`: what a person sees at 3 a.m."""

import json

import pytest
import urllib3
from kubernetes import client

from cli import fakes

RUNNING = fakes.stream_job(
    status={
        "observedGeneration": 3,
        "phase": "Running",
        "message": "All executors run.",
        "revision": "a1b2c3",
        "driver": {"pod": "clicks-a1b2c3-1", "attempt": 1, "restarts": 0},
        "executors": {"wanted": 4, "running": 4, "waiting": 0},
        "conditions": [
            {"type": "Ready", "status": "True", "reason": "Running", "message": "All executors run."},
            {"type": "Progressing", "status": "False", "reason": "Settled", "message": ""},
        ],
        "placement": {"policy": "consolidate", "nodes": {"node2": 1, "node1": 3}},
    }
)
FAILING = fakes.stream_job(
    "views",
    status={
        "observedGeneration": 2,
        "phase": "Restarting",
        "message": "The driver ran out of memory; it starts again in 40 s.",
        "revision": "0f0f0f",
        "driver": {
            "pod": "views-0f0f0f-3",
            "attempt": 3,
            "restarts": 2,
            "retryAt": "2026-11-18T13:30:40Z",
            "lastFailure": {
                "attempt": 3,
                "exitCode": 137,
                "reason": "OOMKilled",
                "at": "2026-11-18T13:30:00Z",
                "message": "first line\nlast line",
            },
        },
        "executors": {"wanted": 2, "running": 1, "waiting": 1},
        "placement": {"policy": "stay", "nodes": {}},
        "conditions": [
            {"type": "Ready", "status": "False", "reason": "OutOfMemory", "message": "Raise driver.memory."},
            {"type": "Progressing", "status": "True", "reason": "Restarting", "message": "Attempt 4 comes."},
            {"type": "Placed", "status": "True", "reason": "Placed"},
        ],
        "decisions": [
            {
                "at": "2026-11-18T13:30:00Z",
                "kind": "restart",
                "subject": "driver",
                "what": "attempt 4 in 40 s",
                "why": "exit code 137",
            }
        ],
    },
)
NEW = fakes.stream_job("brand-new", "lab")


def test_status_shows_the_jobs_of_the_namespace_a_line_each(desk):
    desk.holds(FAILING, RUNNING, NEW)
    cause = FAILING["status"]["message"]
    assert desk.type("status").splitlines() == [
        "NAME    PHASE       READY  EXECUTORS  RESTARTS  REVISION  AGE  MESSAGE",
        "clicks  Running     True   4/4        0         a1b2c3    3h   All executors run.",
        f"views   Restarting  False  1/2        2         0f0f0f    3h   {cause}",
    ]


def test_status_of_all_namespaces_names_them(desk):
    desk.holds(RUNNING, NEW)
    assert [line.split()[:3] for line in desk.type("status", "-A").splitlines()] == [
        ["NAMESPACE", "NAME", "PHASE"],
        ["ads", "clicks", "Running"],
        ["lab", "brand-new", "-"],
    ]


def test_status_of_one_job_shows_its_parts_and_conditions(desk):
    desk.holds(RUNNING)
    assert desk.type("status", "clicks").splitlines() == [
        "clicks in ads: Running",
        "  All executors run.",
        "revision   a1b2c3",
        "driver     clicks-a1b2c3-1, attempt 1",
        "executors  4/4 run",
        "placement  node1 3, node2 1 (consolidate)",
        "",
        "CONDITION    IS     REASON   MESSAGE",
        "Ready        True   Running  All executors run.",
        "Progressing  False  Settled  -",
    ]


def test_status_of_one_job_shows_the_executor_that_moves_and_the_advice(desk):
    move = {"executor": "clicks-1-exec-3", "from": "node1", "to": "node2", "phase": "Watched", "why": "consolidate: …"}
    sizing = {"executors": 5, "cores": 2, "why": "300 rows come a second"}
    for advice, told in ((sizing, ["advice     5 executors of 2 cores: 300 rows come a second"]), ({}, [])):
        desk.holds(fakes.stream_job(status={"placement": {"move": move}, "sizing": advice}))
        found = [line for line in desk.type("status", "clicks").splitlines() if line.startswith(("move", "advice"))]
        assert found == ["move       clicks-1-exec-3 from node1 to node2, Watched: consolidate: …", *told]


def test_status_of_one_job_shows_each_query_with_its_last_batch(desk):
    measured = {"id": "q-1", "name": "clicks", "phase": "running", "committed": 41, "batch": 42, "batchMs": 230}
    rates = {"processedRowsPerSecond": 870.5, "lag": 12}
    refused = {"id": "q-2", "phase": "ended", "committed": 7, "problem": "fenced by epoch 9"}
    desk.holds(fakes.stream_job(status={"queries": [{**measured, **rates}, refused]}))
    found = [line for line in desk.type("status", "clicks").splitlines() if line.startswith("query")]
    assert found == [
        "query      clicks: running, batch 42 in 230 ms, 870.5 rows/s, 12 wait",
        "query      q-2: ended, batch 7: fenced by epoch 9",
    ]


def test_status_says_what_waits_and_that_a_change_is_not_taken_up(desk):
    desk.holds(FAILING)
    said = desk.type("status", "views")
    assert "executors  1/2 run, 1 wait for a node" in said
    assert "revision   0f0f0f, and a change that the operator has not taken up yet" in said


def test_a_job_that_no_operator_has_seen_says_so(desk):
    desk.holds(NEW)
    assert "no operator has seen it" in desk.type("status", "brand-new", "-n", "lab")
    assert "No operator has written its status" in desk.type("why", "brand-new", "-n", "lab")


def test_no_jobs_is_an_answer(desk):
    assert desk.type("status") == "there are no StreamJobs in namespace ads\n"
    assert desk.type("status", "-A") == "there are no StreamJobs\n"


def test_status_as_json_is_what_the_api_server_has(desk):
    desk.holds(RUNNING)
    (found,) = json.loads(desk.type("status", "-o", "json"))
    assert found == {"namespace": "ads", "name": "clicks", "generation": 3, "status": RUNNING["status"]}
    assert json.loads(desk.type("status", "clicks", "-o", "json")) == found


def test_why_says_what_is_amiss_what_failed_and_what_was_decided(desk):
    desk.holds(FAILING)
    desk.core.told = [
        {"metadata": {}, "lastTimestamp": "2026-11-18T13:30:01Z", "reason": "Later", "message": "second"},
        {"metadata": {}, "lastTimestamp": "2026-11-18T13:29:01Z", "reason": "Earlier", "message": "first"},
    ]
    assert desk.type("why", "views").splitlines() == [
        "views is Restarting: The driver ran out of memory; it starts again in 40 s.",
        "- Ready is False, OutOfMemory: Raise driver.memory.",
        "- Progressing is True, Restarting: Attempt 4 comes.",
        "- Attempt 3 failed at 2026-11-18T13:30:00Z: OOMKilled, exit code 137",
        "    first line",
        "    last line",
        "- It starts again at 2026-11-18T13:30:40Z.",
        "",
        "Decided, the latest at the end:",
        "  2026-11-18T13:30:00Z  restart driver: attempt 4 in 40 s, because exit code 137",
        "",
        "Told, the latest at the end:",
        "  2026-11-18T13:29:01Z  Earlier: first",
        "  2026-11-18T13:30:01Z  Later: second",
    ]
    assert desk.core.asked == [
        {"namespace": "ads", "field_selector": "involvedObject.kind=StreamJob,involvedObject.name=views"}
    ]


def test_why_of_a_healthy_job_finds_nothing_amiss(desk):
    desk.holds(RUNNING)
    assert desk.type("why", "clicks") == "clicks is Running: All executors run.\n"
    assert json.loads(desk.type("why", "clicks", "-o", "json"))["amiss"] == []


HANDED_OVER = {
    "phase": "RolledBack",
    "since": "2026-11-18T13:00:00Z",
    "message": "revision b2c3d4 is given up, a1b2c3 runs again: no such column",
}
NOT_AGAIN = "revision b2c3d4 is not tried again, a1b2c3 runs, until spec is changed or a restart asked for"
GIVEN_UP = {"revision": "b2c3d4", "instead": "a1b2c3", "at": "2026-11-18T13:00:00Z", "why": "no such column"}


def test_how_the_last_handover_went_is_said_in_a_sentence_and_what_is_not_tried_again(desk):
    status = {**RUNNING["status"], "handoff": HANDED_OVER, "givenUp": GIVEN_UP}
    desk.holds(fakes.stream_job(status=status))
    assert desk.type("why", "clicks").splitlines()[1:] == [
        f"- Handover, RolledBack since 2026-11-18T13:00:00Z: {HANDED_OVER['message']}",
        f"- Since 2026-11-18T13:00:00Z {NOT_AGAIN}: no such column",
    ]
    assert f"handover   RolledBack: {HANDED_OVER['message']}" in desk.type("status", "clicks").splitlines()
    assert json.loads(desk.type("why", "clicks", "-o", "json"))["givenUp"] == GIVEN_UP


def broken(status, body=None, reason=""):
    why = client.ApiException(status=status, reason=reason)
    why.body = body
    return why


@pytest.mark.parametrize(
    ("fails", "says"),
    [
        (
            broken(404, "404 page not found\n"),
            "this cluster knows no StreamJobs; install the chart first: charts/sluice",
        ),
        (
            broken(403, json.dumps({"message": "streamjobs is forbidden: User x cannot list"})),
            "cannot list StreamJobs: streamjobs is forbidden: User x cannot list",
        ),
        (broken(503, "<html>", "Service Unavailable"), "cannot list StreamJobs: 503 Service Unavailable"),
        (
            urllib3.exceptions.ProtocolError("cut"),
            "cannot list StreamJobs, the API server does not answer: cut",
        ),
    ],
    ids=["no CRD", "forbidden", "proxy", "down"],
)
def test_what_goes_wrong_is_a_sentence(desk, fails, says):
    desk.custom.fails = fails
    assert desk.complaint("status") == says


def test_a_job_that_is_not_there_is_named_with_its_namespace(desk):
    assert desk.complaint("why", "nobody") == "cannot look at StreamJob nobody in namespace ads: there is none"


def test_one_job_of_all_namespaces_makes_no_sense(desk):
    assert desk.complaint("status", "clicks", "-A") == (
        "one job has one namespace: say -n NAMESPACE, or leave out -A"
    )  # fmt: skip
