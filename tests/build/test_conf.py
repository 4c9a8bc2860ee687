"""Whose setting counts: Sluice's default, the user's, or what Sluice owns; and how they are written down."""

import hypothesis
import pytest
from hypothesis import strategies as st

from build import jobs
from sluice import build
from sluice.build import conf
from sluice.values import streamjob


@pytest.mark.parametrize(
    ("key", "theirs", "counts"),
    [
        ("spark.executor.maxNumFailures", "7", "7"),
        ("spark.executor.failuresValidityInterval", "10m", "10m"),
        ("spark.sql.streaming.stateStore.checkpointFormatVersion", "1", "1"),
        ("spark.sql.streaming.stopTimeout", "1s", "1s"),
        ("spark.sql.shuffle.partitions", "8", "8"),
        ("spark.eventLog.rolling.enabled", "true", "true"),
        ("spark.locality.wait", "3s", "3s"),
        ("spark.scheduler.revive.interval", "1s", "1s"),
        ("spark.plugins", "org.example.Plugin", "org.example.Plugin"),
        ("spark.sql.extensions", "org.example.Extensions", "org.example.Extensions"),
        ("spark.kubernetes.executor.annotation.note", "kept", "kept"),
        ("spark.kubernetes.driver.ownPersistentVolumeClaim", "true", "true"),
        ("spark.kubernetes.executor.request.cores", "100m", None),
        ("spark.kubernetes.container.image.pullSecrets", "other", None),
        ("spark.kubernetes.executor.label.team", "web", "web"),
        ("spark.decommission.enabled", "false", "true"),
        ("spark.dynamicAllocation.enabled", "true", "false"),
        ("spark.executor.instances", "99", "1"),
        ("spark.master", "local[*]", "k8s://https://kubernetes.default.svc"),
        ("spark.kubernetes.namespace", "kube-system", "shop"),
        ("spark.sql.streaming.checkpointLocation", "/tmp", "s3a://bucket/clicks"),
        ("spark.kubernetes.executor.label.sluice.dev/job", "other", "clicks"),
        ("spark.kubernetes.authenticate.driver.serviceAccountName", "admin", None),
        ("spark.kubernetes.authenticate.oauthToken", "secret", None),
        ("spark.kubernetes.driver.pod.name", "other", None),
        ("spark.kubernetes.executor.container.image", "other:1", None),
        ("spark.driver.host", "example.com", None),
    ],
)
def test_a_setting_of_the_user_counts_unless_sluice_owns_it(key, theirs, counts):
    assert jobs.properties(jobs.job(sparkConf={key: theirs})).get(key) == counts


def test_no_event_log_is_kept_unless_asked_for():
    assert [key for key in jobs.properties(jobs.job()) if "eventLog" in key] == []


def test_packages_and_python_files_are_the_applications_and_a_user_without_a_home_can_fetch_them():
    application = {**jobs.SMALLEST["application"], "packages": ["a:b:1", "c:d:2"], "pyFiles": ["local:///x.zip"]}
    found = jobs.properties(jobs.job(application=application))
    assert found["spark.jars.packages"] == "a:b:1,c:d:2"
    assert found["spark.submit.pyFiles"] == "file:///x.zip"  # Spark would not send executors what is local:
    assert found["spark.jars.ivy"] == "/tmp/.ivy2"


def test_the_cpu_that_a_template_asks_for_is_told_to_spark_which_would_overwrite_it():
    theirs = {"name": "executor", "resources": {"requests": {"cpu": "100m"}}}
    found = jobs.properties(jobs.job(executors={"cores": 2, "template": {"spec": {"containers": [theirs]}}}))
    assert (found["spark.executor.cores"], found["spark.kubernetes.executor.request.cores"]) == ("2", "100m")


def test_many_executors_may_fail_more_often_before_the_driver_gives_up():
    assert jobs.properties(jobs.job(executors={"count": 50}))["spark.executor.maxNumFailures"] == "500"


@pytest.mark.parametrize(
    ("location", "claim", "told", "mounted"),
    [
        ("s3a://bucket/clicks", "", "s3a://bucket/clicks", None),
        ("/checkpoints/clicks", "c", "file:///checkpoints/clicks", "/checkpoints"),
        ("/checkpoints/clicks/", "c", "file:///checkpoints/clicks", "/checkpoints"),
        ("//data//team/clicks", "c", "file:///data/team/clicks", "/data/team"),
        ("/clicks", "c", "file:///clicks", "/clicks"),
    ],
)
def test_a_claim_is_mounted_at_the_parent_of_the_location_in_driver_and_executors(location, claim, told, mounted):
    volume = {"volume": {"persistentVolumeClaim": {"claimName": claim}}} if claim else {}
    job = jobs.job(checkpoint={"location": location, **volume})
    found = jobs.objects(job)
    assert jobs.properties(job)["spark.sql.streaming.checkpointLocation"] == told
    for pod in (found["Pod"], jobs.template(job)):
        places = [m["mountPath"] for m in pod["spec"]["containers"][0]["volumeMounts"] if m["name"] != "sluice-conf"]
        assert places == ([mounted] if mounted else [])
        claims = [v["persistentVolumeClaim"] for v in pod["spec"]["volumes"] if "persistentVolumeClaim" in v]
        assert claims == ([{"claimName": claim}] if claim else [])


@pytest.mark.parametrize("location", ["/", "//", "/..", "checkpoints/clicks"])
def test_a_location_that_no_claim_can_be_mounted_for_is_refused(location):
    job = jobs.job(checkpoint={"location": location, "volume": {"persistentVolumeClaim": {"claimName": "c"}}})
    with pytest.raises(ValueError, match=r"spec.checkpoint.location=.*allowed beside a claim is a path"):
        build.objects(job, jobs.REVISION, 1, jobs.AROUND)


@pytest.mark.parametrize(
    ("key", "value", "line"),
    [
        ("a", "b", "a=b"),
        ("a b", "c", "a\\ b=c"),
        ("a:b=c", "d=e:f", "a\\:b\\=c=d=e:f"),
        ("a", " b", "a=\\ b"),
        ("a", "b\\c\nd\te", "a=b\\\\c\\nd\\te"),
        ("#a", "#b", "\\#a=#b"),
        ("a", "ü€😀", "a=\\u00fc\\u20ac\\ud83d\\ude00"),
    ],
)
def test_settings_are_written_as_java_reads_them(key, value, line):
    assert conf.text({key: value}) == f"{line}\n"


@hypothesis.given(st.dictionaries(st.text(min_size=1), st.text()))
def test_a_setting_never_leaves_its_line(found):
    lines = conf.text(found).splitlines()
    assert len(lines) == len(found)
    assert all(line.isascii() for line in lines)


def test_everything_that_differs_between_attempts_is_in_the_pod_alone():
    job = jobs.job(jobs.FULL)
    first, second = (build.objects(job, jobs.REVISION, attempt, jobs.AROUND) for attempt in (1, 2))
    assert first[:-1] == second[:-1]
    assert first[-1] != second[-1]


def test_equal_specs_give_equal_objects_however_they_are_written():
    shuffled = dict(reversed(jobs.FULL.items()))
    shuffled["executors"] = {**dict(reversed(jobs.FULL["executors"].items())), "memory": "4096Mi"}
    same = streamjob.StreamJob("shop", "clicks", streamjob.read_spec(shuffled), uid="0b5e")
    assert repr(build.objects(same, "a", 1, jobs.AROUND)) == repr(
        build.objects(jobs.job(jobs.FULL), "a", 1, jobs.AROUND)
    )
