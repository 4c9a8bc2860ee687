"""`logs`, `ui` and `dump`: what reaches into the cluster."""

import pytest

from cli import fakes
from sluice import __main__ as front
from sluice.cli import dump
from sluice.values import names
from sluice_policies import model

DRIVEN = fakes.stream_job(status={"phase": "Running", "driver": {"pod": "clicks-a1b2c3-2"}})


@pytest.mark.parametrize(
    ("more", "pod", "container"),
    [
        ([], "clicks-a1b2c3-2", "driver"),
        (["--executor", "7"], "clicks-a1b2c3-2-exec-7", "executor"),
        (["--agent"], "clicks-a1b2c3-2", "sluice-agent"),
    ],
)
def test_logs_finds_the_pod_by_itself_and_gives_the_connection_back(desk, more, pod, container):
    desk.holds(DRIVEN)
    desk.core.logs[pod, container] = log = fakes.Log("one\ntwo\n")
    assert desk.type("logs", "clicks", *more) == "one\ntwo\n"
    assert log.released


def test_logs_follows_and_begins_near_the_end_when_asked_to(desk):
    desk.holds(DRIVEN)
    desk.core.logs["clicks-a1b2c3-2", "driver"] = fakes.Log("")
    desk.type("logs", "clicks", "-f", "--tail", "5")
    assert desk.core.asked == [{"namespace": "ads", "follow": True, "tail_lines": 5, "_preload_content": False}]


def test_logs_takes_the_youngest_driver_when_the_status_names_none(desk):
    desk.holds(fakes.stream_job())
    labels = {names.JOB: "clicks", names.ROLE: names.DRIVER}
    for name, made in (("old", "2026-11-18T10:00:00Z"), ("young", "2026-11-18T11:00:00Z")):
        meta = {"name": name, "namespace": "ads", "labels": labels, "creationTimestamp": made}
        desk.core.pods.append({"metadata": meta})
    desk.core.logs["young", "driver"] = fakes.Log("last words")
    assert desk.type("logs", "clicks") == "last words"


def test_logs_of_nothing_says_what_to_ask_next(desk):
    desk.holds(fakes.stream_job())
    assert desk.complaint("logs", "clicks") == "clicks has no driver; `sluice why clicks` says what it waits for"
    desk.holds(DRIVEN)
    assert desk.complaint("logs", "clicks", "--executor", "9") == (
        "cannot read the log of executor in pod clicks-a1b2c3-2-exec-9: there is none"
    )


@pytest.fixture
def kubectl(tmp_path, monkeypatch):
    """A kubectl that writes down what it is asked."""
    program, asked = tmp_path / "kubectl", tmp_path / "asked"
    program.write_text(f'#!/bin/sh\necho "$@" > {asked}\n')
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    return asked


def test_ui_forwards_the_job_s_service_and_says_where_to_look(desk, kubectl):
    desk.holds(DRIVEN)
    said = desk.type("ui", "clicks", "--port", "4141", "--context", "test")
    assert said == "Spark UI of clicks: http://127.0.0.1:4141 until you interrupt it\n"
    assert kubectl.read_text() == "--context test -n ads port-forward service/clicks-ui 4141:4040\n"


def test_ui_of_a_job_that_does_not_run_says_so(desk, kubectl):
    desk.holds(fakes.stream_job(status={"phase": "Suspended"}))
    assert desk.complaint("ui", "clicks") == "clicks is Suspended; only one that is Running has a Spark UI"
    assert not kubectl.exists()


def test_ui_without_kubectl_says_what_it_needs(desk, tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    desk.holds(DRIVEN)
    assert desk.complaint("ui", "clicks") == "kubectl is not on the PATH; it is what forwards the port"


def node(name, cpu="4", *, ready="True", cordoned=False):
    return {
        "metadata": {"name": name},
        "spec": {"unschedulable": True} if cordoned else {},
        "status": {"allocatable": {"cpu": cpu}, "conditions": [{"type": "Ready", "status": ready}]},
    }


def pod(name, where, cpu, job=None, **more):
    labels = {names.JOB: job, names.ROLE: names.EXECUTOR} if job else {}
    sidecar = {"name": "s", "restartPolicy": "Always", "resources": {"requests": {"cpu": "50m"}}}
    meta = {"name": name, "namespace": more.get("namespace", "ads"), "uid": name, "resourceVersion": "1"}
    return {
        "metadata": {**meta, "labels": labels},
        "spec": {
            **({"nodeName": where} if where else {}),
            "containers": [{"name": "c", "resources": {"requests": {"cpu": cpu}}}],
            "initContainers": [sidecar],
        },
        "status": {"phase": more.get("phase", "Running")},
    }


def test_dump_holds_what_a_policy_looks_at(desk):
    desk.core.nodes = [node("n1"), node("n2"), node("n3", ready="Unknown"), node("n4", cordoned=True)]
    desk.core.pods = [
        pod("a-exec-1", "n1", "1", "a"),
        pod("a-exec-2", None, "1", "a", phase="Pending"),
        pod("a-exec-0", "n1", "1", "a", phase="Failed"),
        pod("b-exec-1", "n2", "500m", "b", namespace="other"),
        pod("kafka-0", "n2", "950m", namespace="kafka"),
    ]
    assert model.from_json(desk.type("dump")) == model.Snapshot(
        nodes=(model.Node("n1", 4000), model.Node("n2", 2450)),
        tasks=(
            model.Task("ads/a-exec-1", 1050, "ads/a", "n1"),
            model.Task("ads/a-exec-2", 1050, "ads/a", None),
        ),
        edges=(model.Edge("ads/a-exec-1", "ads/a-exec-2", 1),),
    )
    everywhere = model.from_json(desk.type("dump", "-A"))
    assert [task.name for task in everywhere.tasks] == ["ads/a-exec-1", "ads/a-exec-2", "other/b-exec-1"]
    assert everywhere.node_of["n2"].capacity == 3000


def test_a_dump_of_an_empty_cluster_is_a_snapshot_too():
    assert dump.snapshot([], [], None) == model.Snapshot((), ())


def test_without_any_cluster_the_command_line_says_how_to_name_one(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("KUBECONFIG", str(tmp_path / "none"))
    monkeypatch.delenv("KUBERNETES_SERVICE_HOST", raising=False)
    assert front.main(["status"]) == 1
    assert "no cluster to ask: " in capsys.readouterr().err
