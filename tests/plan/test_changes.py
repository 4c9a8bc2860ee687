"""What a changed spec asks for, and the name of what stands."""

import dataclasses

import hypothesis
import pytest
from hypothesis import strategies as st

from sluice.plan import changes
from sluice.values import fields, streamjob
from sluice.values.fields import Asks

SMALLEST = {"image": "clicks:1", "application": {"file": "local:///a.py"}, "checkpoint": {"location": "s3a://b/c"}}
CLAIM = {"location": "/c/d", "volume": {"persistentVolumeClaim": {"claimName": "c"}}}


def spec(**more):
    return streamjob.read_spec({**SMALLEST, **more})


def revision(found, restarted=""):
    return changes.revision(streamjob.StreamJob("shop", "clicks", found, restarted=restarted))


def application(**more):
    return {"application": {**SMALLEST["application"], **more}}


TABLE = [
    ({"image": "clicks:2"}, "image", "clicks:1", "clicks:2", Asks.HANDOVER),
    ({"imagePullPolicy": "Always"}, "imagePullPolicy", "IfNotPresent", "Always", Asks.HANDOVER),
    ({"imagePullSecrets": [{"name": "p"}]}, "imagePullSecrets", [], [{"name": "p"}], Asks.HANDOVER),
    ({"serviceAccount": {"name": "mine"}}, "serviceAccount.name", "", "mine", Asks.HANDOVER),
    ({"serviceAccount": {"annotations": {"a": "b"}}}, "serviceAccount.annotations.a", None, "b", Asks.HANDOVER),
    (application(file="local:///b.py"), "application.file", "local:///a.py", "local:///b.py", Asks.HANDOVER),
    (application(mainClass="org.A"), "application.mainClass", "", "org.A", Asks.HANDOVER),
    (application(args=["x"]), "application.args", [], ["x"], Asks.HANDOVER),
    (application(packages=["a:b:1"]), "application.packages", [], ["a:b:1"], Asks.HANDOVER),
    (application(pyFiles=["x.zip"]), "application.pyFiles", [], ["x.zip"], Asks.HANDOVER),
    ({"mode": "RealTime"}, "mode", "MicroBatch", "RealTime", Asks.HANDOVER),
    ({"checkpoint": {"location": "s3a://b/d"}}, "checkpoint.location", "s3a://b/c", "s3a://b/d", Asks.HANDOVER),
    ({"driver": {"cores": 2}}, "driver.cores", 1, 2, Asks.HANDOVER),
    ({"driver": {"memory": "2Gi"}}, "driver.memory", "1Gi", "2Gi", Asks.HANDOVER),
    ({"driver": {"template": {"spec": {"x": 1}}}}, "driver.template.spec.x", None, 1, Asks.HANDOVER),
    ({"executors": {"count": 4}}, "executors.count", 1, 4, Asks.SCALE),
    ({"executors": {"min": 1}}, "executors.min", None, 1, Asks.NOTHING),
    ({"executors": {"max": 9}}, "executors.max", None, 9, Asks.NOTHING),
    ({"executors": {"maxPerNode": 2}}, "executors.maxPerNode", None, 2, Asks.NOTHING),
    ({"executors": {"cores": 2}}, "executors.cores", 1, 2, Asks.HANDOVER),
    ({"executors": {"memory": "1500Mi"}}, "executors.memory", "1Gi", "1500Mi", Asks.HANDOVER),
    ({"executors": {"template": {"spec": {"x": 1}}}}, "executors.template.spec.x", None, 1, Asks.ROLL),
    ({"sparkConf": {"spark.a.b": "1"}}, "sparkConf[spark.a.b]", None, "1", Asks.HANDOVER),
    ({"slo": {"batchLatency": "2s"}}, "slo.batchLatency", None, "2s", Asks.NOTHING),
    ({"slo": {"lag": 5}}, "slo.lag", None, 5, Asks.NOTHING),
    ({"placement": {"mode": "Observe"}}, "placement.mode", "Act", "Observe", Asks.NOTHING),
    ({"placement": {"mode": "Off"}}, "placement.mode", "Act", "Off", Asks.ROLL),
    ({"placement": {"policy": "stay"}}, "placement.policy", "consolidate", "stay", Asks.NOTHING),
    ({"placement": {"near": {"matchLabels": {"a": "b"}}}}, "placement.near.matchLabels.a", None, "b", Asks.NOTHING),
    ({"placement": {"maxMovesPerHour": 1}}, "placement.maxMovesPerHour", 12, 1, Asks.NOTHING),
    ({"rebalance": {"mode": "Off"}}, "rebalance.mode", "Act", "Off", Asks.NOTHING),
    ({"rebalance": {"lever": {"enabled": False}}}, "rebalance.lever.enabled", True, False, Asks.NOTHING),
    ({"rebalance": {"lever": {"keepOrder": True}}}, "rebalance.lever.keepOrder", False, True, Asks.NOTHING),
    ({"rebalance": {"latency": {"enabled": False}}}, "rebalance.latency.enabled", True, False, Asks.NOTHING),
    ({"rebalance": {"latency": {"by": "p99"}}}, "rebalance.latency.by", "mean", "p99", Asks.NOTHING),
    ({"rebalance": {"timeout": {"enabled": False}}}, "rebalance.timeout.enabled", True, False, Asks.HANDOVER),
    ({"update": {"strategy": "Recreate"}}, "update.strategy", "Handover", "Recreate", Asks.NOTHING),
    ({"update": {"drainTimeout": "1500ms"}}, "update.drainTimeout", "60s", "1500ms", Asks.NOTHING),
    ({"update": {"warmUp": False}}, "update.warmUp", True, False, Asks.NOTHING),
    ({"update": {"rollback": {"batches": 3}}}, "update.rollback.batches", 20, 3, Asks.NOTHING),
    ({"restart": {"policy": "Never"}}, "restart.policy", "Always", "Never", Asks.NOTHING),
    ({"restart": {"backoff": {"initial": "1s"}}}, "restart.backoff.initial", "5s", "1s", Asks.NOTHING),
    ({"restart": {"backoff": {"max": "1m"}}}, "restart.backoff.max", "300s", "60s", Asks.NOTHING),
    ({"suspend": True}, "suspend", False, True, Asks.LIFE),
]


@pytest.mark.parametrize(("changed", "field", "before", "after", "asks"), TABLE)
def test_a_change_is_told_by_its_field_and_by_what_it_asks_for(changed, field, before, after, asks):
    assert changes.classify(spec(), spec(**changed)) == (changes.Change(field, before, after, asks),)
    assert changes.classify(spec(**changed), spec()) == (changes.Change(field, after, before, asks),)


@pytest.mark.parametrize(("changed", "asks"), [(changed, asks) for changed, *_, asks in TABLE])
def test_only_what_pods_would_notice_is_another_revision(changed, asks):
    assert (revision(spec(**changed)) != revision(spec())) == (asks >= Asks.SCALE)


def test_no_field_of_the_spec_is_forgotten():
    told = {field.path for changed in TABLE for field in fields.TABLE if changed[1].startswith(field.path)}
    claim = "checkpoint.volume.persistentVolumeClaim.claimName"
    assert told | {claim} == {field.path for field in fields.TABLE}
    assert {change.field for change in changes.classify(spec(), spec(checkpoint=CLAIM))} == {
        "checkpoint.location",
        claim,
    }


def leaves(found, at=""):
    for field in dataclasses.fields(found):
        value = getattr(found, field.name)
        if dataclasses.is_dataclass(value):
            yield from leaves(value, f"{at}{field.name}.")
        else:
            yield f"{at}{field.name}"


def test_every_leaf_of_a_spec_has_its_line_in_the_table():
    assert len(fields.TABLE) == len(list(leaves(spec())))


def test_a_restart_that_is_asked_for_is_another_revision_of_the_same_spec():
    assert (
        len({revision(spec()), revision(spec(), "2026-11-18T15:00:00Z"), revision(spec(), "2026-11-18T16:00:00Z")}) == 3
    )


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"driver": {"memory": "1Gi"}}, {"driver": {"memory": "1024Mi"}}),
        ({}, {"driver": {"cores": 1}, "suspend": False, "sparkConf": {}, "mode": "MicroBatch"}),
        ({"sparkConf": {"a": "1", "b": "2"}}, {"sparkConf": {"b": "2", "a": "1"}}),
        ({"executors": {"count": 2}}, {"executors": {"count": 2, "template": {}}}),
    ],
)
def test_the_same_job_in_other_words_is_the_same_revision(one, other):
    assert revision(spec(**one)) == revision(spec(**other))
    assert changes.classify(spec(**one), spec(**other)) == ()


@pytest.mark.parametrize(
    ("more", "known"),
    [({}, "f27bbd"), ({"executors": {"count": 4, "memory": "2Gi"}}, "5a0731"), ({"checkpoint": CLAIM}, "4f94b9")],
)
def test_revisions_stay_what_they_were_in_earlier_releases_or_an_upgrade_restarts_every_job(more, known):
    assert revision(spec(**more)) == known


@pytest.mark.parametrize(
    ("changed", "sentence"),
    [
        ({}, "nothing differs"),
        ({"slo": {"lag": 5}}, "nothing to restart"),
        ({"suspend": True}, "stop or start"),
        (
            {"image": "clicks:2", "slo": {"lag": 5}},
            "hand over the driver: driver and executors are restarted",
        ),
        (
            {"executors": {"template": {"spec": {}}}},
            "roll executors: driver and executors are restarted",
        ),
        (
            {"image": "clicks:2", "update": {"strategy": "Recreate"}},
            "hand over the driver: update.strategy is Recreate, so driver and executors are restarted",
        ),
        (
            {"image": "clicks:2", "suspend": True},
            "hand over the driver: the job is suspended, so it counts once the job is resumed",
        ),
    ],
)
def test_the_verdict_says_truly_what_will_be_done(changed, sentence):
    new = spec(**changed)
    assert changes.verdict(changes.classify(spec(), new), new) == sentence


ROLLED = {"executors": {"template": {"spec": {"x": 1}}}}
SCALED = {"executors": {"count": 4}}


@pytest.mark.parametrize(
    ("changed", "plugged", "sentence"),
    [
        (ROLLED, True, "roll executors one at a time: the driver runs on"),
        (SCALED, True, "scale executors: the driver runs on"),
        (SCALED | {"update": {"strategy": "Recreate"}}, True, "scale executors: the driver runs on"),
        (
            SCALED,
            None,
            "scale executors: the driver runs on; if it has no Sluice plugin, driver and executors are restarted",
        ),
        (SCALED, False, "scale executors: driver and executors are restarted"),
        (
            SCALED | {"image": "clicks:2"},
            True,
            "hand over the driver: another one comes up beside it and takes over between two batches",
        ),
        (
            SCALED | {"suspend": True},
            True,
            "scale executors: the job is suspended, so it counts once the job is resumed",
        ),
    ],
)
def test_executors_alone_are_changed_while_a_driver_with_the_plugin_runs_on(changed, plugged, sentence):
    new = spec(**changed)
    assert changes.verdict(changes.classify(spec(), new), new, plugged=plugged) == sentence


def test_in_real_time_mode_a_query_ends_with_its_executors_so_another_driver_takes_over():
    old, new = spec(mode="RealTime"), spec(mode="RealTime", **SCALED)
    said = changes.verdict(changes.classify(old, new), new, plugged=True)
    assert said == "scale executors: another one comes up beside it and takes over between two batches"


def executor_of(**container):
    return {"executors": {"template": {"spec": {"containers": [{"name": "executor", **container}]}}}}


@pytest.mark.parametrize(
    ("container", "asks"),
    [
        ({"resources": {"requests": {"cpu": "250m"}}}, Asks.HANDOVER),
        ({"resources": {"limits": {"cpu": "2"}}}, Asks.ROLL),
        ({"resources": "text"}, Asks.ROLL),
    ],
)
def test_the_cpu_that_executors_ask_for_is_what_the_driver_read_when_it_began(container, asks):
    assert [change.asks for change in changes.classify(spec(), spec(**executor_of(**container)))] == [asks]


@pytest.mark.parametrize(
    ("changed", "line"),
    [
        ({"image": "clicks:2"}, "image: clicks:1 → clicks:2: hand over the driver"),
        ({"slo": {"lag": 5}}, "slo.lag: nothing → 5: nothing to restart"),
        (
            {"update": {"drainTimeout": "90s"}},
            "update.drainTimeout: 60s → 90s: nothing to restart (counts for drivers made from now on)",
        ),
        (
            {"rebalance": {"mode": "Off"}},
            "rebalance.mode: Act → Off: nothing to restart (spark.speculation stays as the driver was started with)",
        ),
        (
            {"rebalance": {"timeout": {"enabled": False}}},
            "rebalance.timeout.enabled: true → false: hand over the driver (spark.speculation is read at its start)",
        ),
        (application(args=["x" * 99]), f'application.args: [] → ["{"x" * 57}…: hand over the driver'),
    ],
)
def test_a_change_is_a_line_a_person_understands(changed, line):
    assert [change.explain() for change in changes.classify(spec(), spec(**changed))] == [line]


@hypothesis.given(st.lists(st.sampled_from(TABLE), max_size=6))
def test_what_is_spoken_of_a_spec_reads_back_as_the_same_spec(picked):
    more = {}
    for changed, *_ in picked:
        more.update(changed)
    found = spec(**more)
    assert streamjob.read_spec(fields.nested(fields.spoken(found))) == found


def test_a_restart_that_is_asked_for_is_a_change():
    old, new = (streamjob.StreamJob("shop", "clicks", spec(), restarted=at) for at in ("", "16:00"))
    assert changes.between(old, old) == ()
    field = "metadata.annotations[sluice.dev/restarted-at]"
    assert changes.between(old, new) == (changes.Change(field, "", "16:00", Asks.HANDOVER),)
