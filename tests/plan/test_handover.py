"""What is next while one driver takes over from another: from what both say to orders, steps and a sentence."""

import dataclasses

import pytest

from plan import made
from plan.handovers import (
    BOTH,
    GATED,
    NEW_NAME,
    OLD,
    OPEN,
    QUERY,
    READY,
    RUNS,
    WAITS,
    begun,
    created,
    deleted,
    draining,
    its_executor,
    judge,
    new,
    running,
    taking,
    told,
    view,
    written,
)
from sluice.plan import changes
from sluice.values import handoff, records, reports, streamjob


def test_it_is_recorded_with_closed_gate_before_the_driver_is_made_which_must_have_the_plugin():
    seen = view(OLD, made.executor(), told={OLD.name: OPEN})
    verdict = judge(seen)
    assert (verdict.phase, verdict.ready, verdict.driver.attempt) == ("Running", True, 1)
    assert (verdict.handoff.phase, verdict.handoff.pod) == (handoff.PREPARING, NEW_NAME)
    assert told(seen) == {OLD.name: OPEN, NEW_NAME: WAITS}
    pod = created(verdict)[-1]
    assert pod["metadata"]["name"] == NEW_NAME
    assert {"name": "SLUICE_ONLY_MANAGED", "value": "true"} in pod["spec"]["containers"][0]["env"]
    assert deleted(verdict) == set()


NOT = {
    "the strategy is Recreate": ({}, {"strategy": "Recreate"}),
    "the old driver was started without the plugin": ({"told": {}}, {}),
    "nobody hears it": ({"said": {}}, {}),
    "it is plain Spark": ({"said": {OLD.name: reports.Report(made.NOW_S, "Unmanaged")}}, {}),
    "a query of it is unprotected": ({"said": {OLD.name: reports.Report(made.NOW_S, "Running", problem="x")}}, {}),
    "there was no room for both": ({"now": dataclasses.replace(begun(handoff.CANCELLED), degraded=True)}, {}),
}


@pytest.mark.parametrize(("seen", "update"), NOT.values(), ids=NOT)
def test_the_old_driver_ends_first_where(seen, update):
    found = view(OLD, made.executor(), **({"told": {OLD.name: OPEN}} | seen))
    spec = dataclasses.replace(found.job.spec, update=dataclasses.replace(found.job.spec.update, **update))
    found = dataclasses.replace(found, job=dataclasses.replace(found.job, spec=spec))
    assert judge(found).reason == "SpecChanged"


def test_another_checkpoint_is_not_taken_over():
    elsewhere = made.spec(checkpoint=dataclasses.replace(made.spec().checkpoint, location="s3a://b/other"))
    found = dataclasses.replace(view(OLD, told={OLD.name: OPEN}), former=elsewhere)
    assert judge(found).reason == "SpecChanged"


MISSING = {
    "its pod": ({"pod": {"phase": "Pending", "ready": False}}, "its pod is Pending"),
    "its query": ({"said": ()}, "0 of 1 queries are at its gate"),
    "its warmth": ({"said": (dataclasses.replace(GATED, warm=False),)}, "clicks warms up"),
    "its executor": ({"executor": {"phase": "Pending"}}, "0 of 1 executors run"),
    "its Spark": ({"phase": "Starting", "said": ()}, "its program has not started Spark"),
}


@pytest.mark.parametrize(("lacks", "words"), MISSING.values(), ids=MISSING)
def test_the_old_driver_is_not_asked_while_the_new_one_lacks(lacks, words):
    said = dataclasses.replace(READY, phase=lacks.get("phase", "Waiting"), queries=lacks.get("said", (GATED,)))
    heard = {OLD.name: RUNS, NEW_NAME: said}
    pods = (OLD, made.executor(), new(**lacks.get("pod", {})), its_executor(**lacks.get("executor", {})))
    seen = view(*pods, now=begun(), said=heard)
    verdict = judge(seen)
    assert verdict.handoff.phase == handoff.PREPARING
    assert verdict.message.endswith(words)
    assert told(seen) == {OLD.name: OPEN, NEW_NAME: WAITS}


def test_fewer_queries_than_before_are_all_once_no_more_come_for_ten_seconds():
    old = dataclasses.replace(RUNS, queries=(QUERY, dataclasses.replace(QUERY, id="q-2")))
    heard = {OLD.name: old, NEW_NAME: READY}
    for waited_s, phase in ((5, handoff.PREPARING), (11, handoff.DRAINING)):
        now = begun(waiting=1, waiting_s=made.NOW_S - waited_s)
        assert judge(view(*BOTH, now=now, said=heard)).handoff.phase == phase


def test_once_it_is_ready_the_old_one_is_asked_to_end_its_batch_and_both_stay():
    seen = view(*BOTH, now=begun(), said={OLD.name: RUNS, NEW_NAME: READY})
    assert judge(seen).handoff.phase == handoff.DRAINING
    drain = {"id": "handover-2", "timeoutMs": 60_000, "calmMs": 10_000, "stop": False}
    assert told(seen) == {OLD.name: {**OPEN, "drain": drain}, NEW_NAME: WAITS}
    assert deleted(judge(seen)) == set()


def test_when_it_is_quiet_one_write_makes_the_new_one_the_driver_and_opens_its_gate():
    seen = draining(drain="quiet")
    verdict = judge(seen)
    assert (verdict.handoff.phase, verdict.driver.pod, verdict.driver.attempt) == (handoff.TAKING, NEW_NAME, 2)
    drain = {"id": "handover-2", "timeoutMs": 60_000, "calmMs": 10_000, "stop": False}
    assert told(seen) == {OLD.name: {**OPEN, "drain": drain}, NEW_NAME: OPEN}
    assert deleted(verdict) == set()


STILL = {
    "another drain is quiet": {"drain": "quiet", "drain_id": "else"},
    "its batch goes on": {"drain": "draining"},
}


@pytest.mark.parametrize("old", STILL.values(), ids=STILL)
def test_nobody_takes_over_while(old):
    assert judge(draining(**old)).handoff.phase == handoff.DRAINING


def test_a_drain_that_timed_out_is_taken_back_with_the_new_driver_and_not_tried_again_at_once():
    seen = draining(drain="timed-out", drain_problem="batch 42 still runs")
    verdict = judge(seen)
    assert verdict.handoff.phase == handoff.CANCELLED
    assert "batch 42 still runs" in verdict.handoff.message
    assert verdict.given_up is None
    assert told(seen)[OLD.name] == OPEN
    assert deleted(verdict) == {NEW_NAME, f"{NEW_NAME}-exec-1"}
    later = view(OLD, made.executor(), now=verdict.handoff, told={OLD.name: OPEN})
    assert judge(later).handoff is None
    assert "tried again at" in judge(later).message


TROUBLE = {
    "it ended": ({"pod": {"phase": "Failed", "ended": records.Ended(1, at_s=made.NOW_S)}}, "exit code 1", True),
    "somebody deleted it": ({"pod": {"deleting": True}}, "somebody deleted", False),
    "its query was refused": (
        {"said": (dataclasses.replace(GATED, phase="ended", problem="other sources"),)},
        "other sources",
        True,
    ),
    "its image cannot be pulled": ({"since_s": 61, "pod": {"waiting": "ErrImagePull", "ready": False}}, "pulled", True),
    "it fits nowhere": ({"since_s": 61, "pod": {"unschedulable": "no CPU", "ready": False}}, "no room for both", False),
    "its executor fits nowhere": (
        {"since_s": 61, "executor": {"phase": "Pending", "unschedulable": "no CPU"}},
        "no room for both",
        False,
    ),
    "the old one holds its claim": (
        {"since_s": 65, "pod": {"phase": "Pending", "ready": False, "bare_s": made.NOW_S - 61}, "said": ()},
        f"{NEW_NAME} cannot mount state",
        False,
    ),
    "the old one's executors hold it": (
        {"since_s": 90, "executor": {"phase": "Pending", "bare_s": made.NOW_S - 61}},
        "both cannot have the same volumes",
        False,
    ),
    "it hangs": ({"since_s": 601, "said": ()}, "after 10 minutes: 0 of 1 queries", True),
}


def on_a_claim(seen, **template):
    """The same with the state on a volume, in a handover to that; more volumes may have come with it."""
    place = streamjob.Checkpoint("/state/clicks", "state")
    was = dataclasses.replace(seen.former, checkpoint=place)
    driver = dataclasses.replace(seen.job.spec.driver, template=template)
    spec = dataclasses.replace(seen.job.spec, checkpoint=place, driver=driver)
    job = dataclasses.replace(seen.job, spec=spec)
    now = dataclasses.replace(handoff.read(seen.job.status), revision=changes.revision(job))
    job = dataclasses.replace(job, status={**job.status, "handoff": written(now)})
    return dataclasses.replace(seen, job=job, former=was)


NOT_YET = {
    "it has only just come to its node": ({"bare_s": made.NOW_S - 59}, {}),
    "its image is pulled": ({"bare_s": 0.0}, {}),
    "a volume is new, and may be what is missing": (
        {"bare_s": made.NOW_S - 90},
        {"spec": {"volumes": [{"name": "x"}]}},
    ),
}


@pytest.mark.parametrize(("pod", "template"), NOT_YET.values(), ids=NOT_YET)
def test_that_the_old_one_holds_a_claim_is_not_said_of_a_driver_when(pod, template):
    pods = (OLD, made.executor(), new(phase="Pending", ready=False, **pod))
    seen = on_a_claim(view(*pods, now=begun(since_s=95)), **template)
    assert judge(seen).handoff.phase == handoff.PREPARING


@pytest.mark.parametrize(("seen", "words", "is_its_fault"), TROUBLE.values(), ids=TROUBLE)
def test_the_old_driver_goes_on_alone_when(seen, words, is_its_fault):
    heard = {OLD.name: RUNS, NEW_NAME: dataclasses.replace(READY, queries=seen.get("said", (GATED,)))}
    pods = (OLD, made.executor(), new(**seen.get("pod", {})), its_executor(**seen.get("executor", {})))
    found = on_a_claim(view(*pods, now=begun(since_s=seen.get("since_s", 10)), said=heard))
    verdict = judge(found)
    assert verdict.handoff.phase == handoff.CANCELLED
    assert words in verdict.handoff.message
    assert (verdict.given_up is not None) == is_its_fault
    assert (verdict.ready, verdict.driver.pod) == (True, OLD.name)


SPARKS = {  # without a single executor: what it says, for how long its query is at the gate, since when it is there
    "Spark asks for executors in vain": (READY, 121, 150, "no room for both: the old driver ends first", False),
    "its program needs them before its query": (
        reports.Report(made.NOW_S, "Waiting"), 0, 601, "only 0 executors could be made", False,
    ),
    "its program hangs before Spark is there": (
        reports.Report(made.NOW_S, "Starting"), 0, 601, "after 10 minutes: its program has not started Spark", True,
    ),
}  # fmt: skip


@pytest.mark.parametrize(("said", "gate_s", "since_s", "words", "is_its_fault"), SPARKS.values(), ids=SPARKS)
def test_who_is_to_blame_when_executors_do_not_come(said, gate_s, since_s, words, is_its_fault):
    now = begun(since_s=since_s, waiting=len(said.queries), waiting_s=made.NOW_S - gate_s)
    verdict = judge(view(OLD, made.executor(), new(), now=now, said={OLD.name: RUNS, NEW_NAME: said}))
    assert verdict.handoff.phase == handoff.CANCELLED
    assert words in verdict.handoff.message
    assert (verdict.given_up is not None) == is_its_fault


@pytest.mark.parametrize("phase", ["Starting", "Waiting"])
def test_a_program_that_takes_its_time_is_not_short_of_room(phase):
    heard = {OLD.name: RUNS, NEW_NAME: reports.Report(made.NOW_S, phase)}
    seen = view(OLD, made.executor(), new(ready_s=made.NOW_S - 590), now=begun(since_s=599), said=heard)
    assert judge(seen).handoff.phase == handoff.PREPARING


def test_its_first_commit_ends_the_pause_and_the_old_driver_goes():
    verdict = judge(taking(running(committed=42, batch=42, committed_at_ms=1_800, first_commit_at_ms=1_800)))
    now = verdict.handoff
    assert (now.phase, now.from_batch, now.to_batch, now.pause_ms) == (handoff.PROVING, 41, 42, 800)
    assert deleted(verdict) == {OLD.name}


@pytest.mark.parametrize("drain", ["none", "draining", "timed-out"])
def test_of_an_old_driver_that_was_killed_before_it_told_its_last_commit_no_pause_is_told(drain):
    seen = taking(running(committed=42, batch=42, committed_at_ms=61_800, first_commit_at_ms=61_800))
    silent = dataclasses.replace(seen.said[OLD.name], drain=drain)
    verdict = judge(dataclasses.replace(seen, said={**seen.said, OLD.name: silent}))
    now = verdict.handoff
    assert (now.phase, now.from_batch, now.to_batch, now.pause_ms) == (handoff.PROVING, None, 42, None)
    assert "pause" not in verdict.decisions[-1].what


@pytest.mark.parametrize(("since_s", "goes"), [(5, set()), (11, {OLD.name})])
def test_the_old_driver_leaves_the_new_ones_first_batch_alone_but_waits_for_none_that_takes_long(since_s, goes):
    assert deleted(judge(taking(running(committed=-1, in_flight=42), since_s))) == goes


BEGINS = {
    "it works on its first batch": (running(committed=-1, in_flight=42), 5, handoff.TAKING),
    "it does so for too long": (running(committed=-1, in_flight=42), 121, handoff.ROLLED_BACK),
    "it has nothing to do": (running(committed=-1), 121, handoff.PROVING),
    "its query fails": (running(phase="ended", problem="no such column"), 5, handoff.ROLLED_BACK),
}


@pytest.mark.parametrize(("said", "since_s", "phase"), BEGINS.values(), ids=BEGINS)
def test_after_its_gate_opened(said, since_s, phase):
    verdict = judge(taking(said, since_s))
    assert verdict.handoff.phase == phase
    assert (verdict.given_up is not None) == (phase == handoff.ROLLED_BACK)


def test_a_driver_on_a_silent_node_is_followed_at_once_if_each_query_has_its_epoch():
    current = {**made.begun(), "orders": {"version": 1, "serial": 5, "drivers": {OLD.name: OPEN}}}
    lost = made.view(
        made.job(status=current), OLD, made.executor(), lost_nodes=frozenset({"node1"}), said={OLD.name: RUNS}
    )
    verdict = judge(lost)
    assert (verdict.phase, verdict.driver.attempt) == ("Starting", 2)
    assert deleted(verdict) == {OLD.name, made.executor().name}
    assert created(verdict)[-1]["metadata"]["name"] == made.driver(2).name
    for query in (dataclasses.replace(QUERY, epoch=0), dataclasses.replace(QUERY, problem="no exclusive create")):
        unfenced = dataclasses.replace(RUNS, queries=(query,))
        assert judge(dataclasses.replace(lost, said={OLD.name: unfenced})).reason == "NodeLost"
    assert judge(dataclasses.replace(lost, said={})).reason == "NodeLost"


def test_what_is_written_is_read_back():
    now = dataclasses.replace(
        begun(waiting=2, waiting_s=made.NOW_S), from_batch=1, to_batch=2, pause_ms=3, slo_met=True
    )
    assert handoff.read({"handoff": written(now)}) == now


REFUSED = {
    "a quota": ('pods "x" is forbidden: exceeded quota: small', True, False),
    "anything else": ("spec.containers[0].volumeMounts: Not found", False, True),
}


@pytest.mark.parametrize(("sentence", "degraded", "is_its_fault"), REFUSED.values(), ids=REFUSED)
def test_a_driver_that_is_refused_by(sentence, degraded, is_its_fault):
    now = dataclasses.replace(begun(), uid="")
    verdict = judge(view(OLD, made.executor(), now=now, refused=sentence))
    assert (verdict.handoff.phase, verdict.handoff.degraded) == (handoff.CANCELLED, degraded)
    assert (verdict.given_up is not None) == is_its_fault
    assert sentence in verdict.message


def test_a_job_that_has_no_room_for_both_drivers_ends_the_old_one_and_only_then_starts_the_new():
    cancelled = dataclasses.replace(begun(handoff.CANCELLED), degraded=True)
    verdict = judge(view(OLD, made.executor(), now=cancelled, told={OLD.name: OPEN}))
    assert (verdict.phase, deleted(verdict)) == ("Restarting", {OLD.name})
    started = judge(view(now=cancelled, told={}, said={}))
    assert (started.phase, started.driver.attempt) == ("Starting", 3)
