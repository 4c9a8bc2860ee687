"""With a plugin image, the driver's pod has jar, agent and all that the two need; without one, nothing of it."""

import dataclasses

import pytest

from build import jobs, restricted
from house import paths
from sluice import build
from sluice.build import agent
from sluice_agent import folder, metrics

LONE_PLUGIN = dataclasses.replace(jobs.PLUGGED, agent_image="")


def pod(around=jobs.PLUGGED, **spec):
    return jobs.objects(jobs.job(**spec), around)["Pod"]["spec"]


def container(found, name):
    return next(one for one in (*found["initContainers"], *found["containers"]) if one["name"] == name)


def conf(found):
    words = container(found, "driver")["args"]
    return dict(word.split("=", 1) for at, word in enumerate(words) if words[at - 1] == "--conf")


def mounted(found, name):
    return {m["name"]: (m["mountPath"], m.get("readOnly", False)) for m in container(found, name)["volumeMounts"]}


def test_the_jar_is_brought_and_the_agent_is_up_before_anything_of_the_user_starts():
    theirs = {"spec": {"initContainers": [{"name": "wait", "image": "wait:1"}]}}
    found = pod(driver={"template": theirs})
    assert [one["name"] for one in found["initContainers"]] == ["sluice-plugin", "sluice-agent", "wait"]
    assert "restartPolicy" not in container(found, "sluice-plugin")
    probe = container(found, "sluice-agent")["startupProbe"]["httpGet"]
    assert probe == {"path": "/healthz", "port": agent.PORT}


def test_agent_and_driver_share_a_folder_that_the_driver_only_reads():
    found = pod()
    assert mounted(found, "sluice-agent")["sluice-agent"] == ("/run/sluice", False)
    assert mounted(found, "driver")["sluice-agent"] == ("/run/sluice", True)
    assert mounted(found, "sluice-plugin") == {"sluice-plugin": ("/opt/sluice-plugin", False)}
    assert mounted(found, "driver")["sluice-plugin"] == ("/opt/sluice-plugin", True)
    empty = [volume["name"] for volume in found["volumes"] if "emptyDir" in volume]
    assert empty == ["sluice-agent", "sluice-plugin"]
    others = [one for one in found["initContainers"] if one["name"] == "sluice-plugin"]
    assert all("sluice-agent" not in mounted(found, one["name"]) for one in others)


def test_the_agent_reads_the_template_that_the_driver_s_revision_has():
    assert mounted(pod(), "sluice-agent")["sluice-conf"] == ("/etc/sluice", True)
    assert conf(pod())["spark.kubernetes.executor.podTemplateFile"] == f"/run/sluice/{folder.TEMPLATE}"


@pytest.mark.parametrize(("timeout", "told"), [("60s", "60000"), ("1500ms", "1500"), ("1h", "3600000")])
def test_the_driver_is_told_where_its_agent_is_and_how_long_a_batch_may_take_to_end(timeout, told):
    env = {one["name"]: one.get("value") for one in container(pod(update={"drainTimeout": timeout}), "driver")["env"]}
    assert (env["SLUICE_AGENT_DIR"], env["SLUICE_DRAIN_TIMEOUT_MS"]) == ("/run/sluice", told)


OURS = ("file:///opt/sluice-plugin/sluice-plugin.jar", "dev.sluice.entry.SluicePlugin")


@pytest.mark.parametrize(
    ("theirs", "jars", "plugins"),
    [
        ({}, OURS[0], OURS[1]),
        ({"spark.plugins": "org.A, org.B"}, OURS[0], f"org.A,org.B,{OURS[1]}"),
        ({"spark.jars": "s3a://b/x.jar"}, f"s3a://b/x.jar,{OURS[0]}", OURS[1]),
        ({"spark.plugins": OURS[1], "spark.jars": " "}, OURS[0], OURS[1]),
        ({"spark.jars": "/opt/$(HOME).jar"}, f"/opt/$$(HOME).jar,{OURS[0]}", OURS[1]),
    ],
    ids=["none of the user's", "their plugins", "their jars", "ours already", "what a kubelet would expand"],
)
def test_jar_and_plugin_are_appended_to_the_users_own(theirs, jars, plugins):
    found = conf(pod(sparkConf=theirs))
    assert (found["spark.jars"], found["spark.plugins"]) == (jars, plugins)


def test_a_revision_is_configured_alike_with_and_without_so_that_either_operator_can_start_its_next_driver():
    with_plugin, without = (
        build.objects(jobs.job(jobs.FULL), jobs.REVISION, 1, a) for a in (jobs.PLUGGED, jobs.AROUND)
    )
    assert with_plugin[:-1] == without[:-1]


@pytest.mark.parametrize("around", [jobs.AROUND, LONE_PLUGIN], ids=["no plugin image", "no agent image"])
def test_one_image_alone_is_no_plugin(around):
    assert "plugin" not in repr(pod(around)).lower()


def test_each_container_of_sluice_has_small_requests_and_limits_and_passes_restricted():
    found = pod()
    for name in ("sluice-plugin", "sluice-agent"):
        resources = container(found, name)["resources"]
        assert resources["requests"].keys() == resources["limits"].keys() == {"cpu", "memory"}
    assert restricted.breaches(found) == []


def test_the_port_is_the_agents_and_has_a_name_that_prometheus_may_ask_for():
    ports = container(pod(), "sluice-agent")["ports"]
    assert ports == [{"name": "sluice-agent", "containerPort": metrics.PORT, "protocol": "TCP"}]


def test_the_plugin_that_is_named_is_the_one_of_the_jar():
    source = paths.ROOT / "images/spark/plugin/src/main/java" / OURS[1].replace(".", "/")
    assert source.with_suffix(".java").exists()


SPECULATES = [
    ({}, True),
    ({"rebalance": {"mode": "Observe"}}, True),
    ({"rebalance": {"lever": {"enabled": False}, "latency": {"enabled": False}}}, True),
    ({"rebalance": {"mode": "Off"}}, False),
    ({"rebalance": {"timeout": {"enabled": False}}}, False),
    ({"mode": "RealTime"}, False),  # Spark would not begin
]


@pytest.mark.parametrize(("spec", "whether"), SPECULATES)
def test_a_second_attempt_for_late_tasks_is_possible_where_it_is_wanted_and_waits_for_the_agent(spec, whether):
    found = {key: value for key, value in conf(pod(**spec)).items() if "speculation" in key or "kill" in key}
    expected = {
        "spark.python.task.killTimeout": "100ms",
        "spark.sluice.speculation": "true",
        "spark.speculation": "true", "spark.speculation.efficiency.enabled": "false",
        "spark.speculation.interval": "50ms", "spark.speculation.minTaskRuntime": "50ms",
        "spark.speculation.multiplier": "1000000",
    }  # fmt: skip
    assert found == (expected if whether else {})


@pytest.mark.parametrize(("key", "theirs"), [("spark.speculation", "false"), ("spark.speculation.multiplier", "3")])
def test_who_sets_speculation_himself_has_it_so(key, theirs):
    job = {"sparkConf": {key: theirs}}
    assert key not in conf(pod(**job))
    assert jobs.properties(jobs.job(**job))[key] == theirs
    for ours in ("spark.sluice.speculation", "spark.python.task.killTimeout"):
        assert (ours in conf(pod(**job))) is (key != "spark.speculation")


def test_without_an_agent_that_sets_its_limit_nothing_is_tried_twice():
    assert "speculation" not in str(build.objects(jobs.job(), jobs.REVISION, 1, jobs.AROUND))
