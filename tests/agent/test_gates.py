"""The agent lifts the gate of executors that the operator leaves waiting, by the API server's clock and no other."""

import dataclasses
import pathlib
import signal
import socket
import urllib.parse

import pytest

from agent import fake_api, processes
from sluice import build
from sluice.build import agent
from sluice.values import streamjob
from sluice_agent import client, gates, settings

TOLD = settings.Settings("clicks", "shop", fake_api.GATE, "sluice.dev/job=clicks,sluice.dev/role=executor", 30.0)


@pytest.fixture
def api():
    with fake_api.serving() as fake:
        yield fake


@pytest.fixture
def ask(api, tmp_path):
    found = client.Client(api.url, tmp_path)
    yield found
    found.close()


@pytest.mark.parametrize(("age_s", "lifted"), [(0, False), (29, False), (30, True), (3600, True)])
def test_a_gate_is_lifted_after_30_s_of_the_api_servers_clock(api, ask, age_s, lifted):
    api.add("exec-1", age_s)
    gates.look(ask, TOLD)
    assert api.gates() == {"exec-1": [] if lifted else [fake_api.GATE]}


def test_only_our_gate_is_lifted_and_only_of_what_waits_behind_it(api, ask):
    api.add("both", 99, (fake_api.GATE, "example.com/quota"))
    api.add("other", 99, ("example.com/quota",))
    api.add("free", 99, ())
    api.add("leaving", 99, deletionTimestamp="2026-11-18T15:00:00Z")
    gates.look(ask, TOLD)
    assert api.gates() == {
        "both": ["example.com/quota"],
        "other": ["example.com/quota"],
        "free": [],
        "leaving": [fake_api.GATE],
    }
    assert [path for method, path in api.asked if method == "PATCH"] == ["/api/v1/namespaces/shop/pods/both"]


def test_it_asks_for_pending_executors_of_its_own_job_from_the_servers_memory(api, ask):
    gates.look(ask, TOLD)
    (_, path) = api.asked[0]
    assert dict(urllib.parse.parse_qsl(urllib.parse.urlsplit(path).query)) == {
        "labelSelector": "sluice.dev/job=clicks,sluice.dev/role=executor",
        "fieldSelector": "status.phase=Pending",
        "resourceVersion": "0",
    }


@pytest.mark.parametrize(("ages_s", "next_s"), [([], 15), ([1], 15), ([20], 10), ([5, 29], 1), ([40], 15)])
def test_the_next_look_is_when_the_next_executor_is_due(api, ask, ages_s, next_s):
    for number, age_s in enumerate(ages_s):
        api.add(f"exec-{number}", age_s)
    assert gates.look(ask, TOLD) == pytest.approx(next_s, abs=1)


@pytest.mark.parametrize("came_s", [0, 1, 7, 14, 15, 16, 29])
def test_an_executor_waits_hardly_longer_than_30_s_whenever_it_comes(api, ask, came_s):
    start_s, looked_s = api.now_s, 0.0
    while not api.pods or api.gates()["exec-1"]:
        api.now_s = start_s + looked_s
        if looked_s >= came_s and not api.pods:
            api.add("exec-1", looked_s - came_s)
        looked_s += gates.look(ask, TOLD)
    assert 30 <= api.now_s - start_s - came_s <= 31


def test_the_operators_decision_stays_if_it_was_quicker(api, ask):
    api.add("exec-1", 99)

    def decide():
        api.pods["exec-1"] = {
            "metadata": {**api.pods["exec-1"]["metadata"], "resourceVersion": "2"},
            "spec": {"schedulingGates": [], "affinity": "node1"},
        }

    api.before_patch = decide
    gates.look(ask, TOLD)
    assert api.pods["exec-1"]["spec"]["affinity"] == "node1"


def test_a_pod_that_went_meanwhile_is_no_trouble(api, ask):
    api.add("exec-1", 99)
    api.before_patch = api.pods.clear
    assert gates.look(ask, TOLD) == 15


def test_a_refusal_is_told_in_the_api_servers_words(api, ask):
    api.failing = [403]
    with pytest.raises(gates.Refused, match="cannot list executors: no"):
        gates.look(ask, TOLD)


@pytest.mark.parametrize("status", [0, 429, 500, 503])
def test_a_busy_or_broken_server_is_asked_again_on_a_new_connection_if_need_be(api, ask, status):
    api.failing = [status]
    with pytest.raises(client.Unavailable):
        gates.look(ask, TOLD)
    api.add("exec-1", 99)
    gates.look(ask, TOLD)
    assert api.gates() == {"exec-1": []}


def test_nobody_there_is_unavailable(tmp_path):
    with pytest.raises(client.Unavailable, match=r"127\.0\.0\.1:1: "):
        client.Client("http://127.0.0.1:1", tmp_path).call("GET", "/")


def test_a_server_that_never_answers_is_given_up(monkeypatch, tmp_path):
    monkeypatch.setattr(client, "_PATIENCE_S", 0.1)
    with socket.create_server(("127.0.0.1", 0)) as silent, pytest.raises(client.Unavailable, match="timed out"):
        client.Client(f"http://127.0.0.1:{silent.getsockname()[1]}", tmp_path).call("GET", "/")


def test_the_token_is_read_anew_as_the_kubelet_rotates_it(api, ask, tmp_path):
    for token in ("one", "two"):
        (tmp_path / "token").write_text(f"{token}\n")
        gates.look(ask, TOLD)
    assert api.tokens == ["Bearer one", "Bearer two"]


ENVIRONMENT = processes.ENVIRONMENT


def test_its_settings_are_those_that_the_operator_writes():
    assert settings.read(ENVIRONMENT) == TOLD


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        ({"SLUICE_JOB": ""}, "SLUICE_JOB: must be set"),
        ({"SLUICE_GATE_TIMEOUT_S": "soon"}, "SLUICE_GATE_TIMEOUT_S='soon': allowed are seconds up to 3600"),
        ({"SLUICE_GATE_TIMEOUT_S": "-1"}, "SLUICE_GATE_TIMEOUT_S='-1': allowed"),
    ],
)
def test_a_setting_that_makes_no_sense_is_named(wrong, sentence):
    with pytest.raises(ValueError, match=sentence):
        settings.read({**ENVIRONMENT, **wrong})


@pytest.mark.timeout(20)  # a process starts
def test_the_process_lifts_says_so_survives_an_outage_and_ends_at_once(api, tmp_path):
    api.failing = [500, 0]
    api.add("exec-1", 31)
    process = processes.start(api.url, tmp_path)
    assert process.stdout
    lines = [process.stdout.readline() for _ in range(4)]
    assert [line.split(maxsplit=3)[3].strip() for line in lines] == [
        "no",
        f"{urllib.parse.urlsplit(api.url).netloc}: Remote end closed connection without response",
        "exec-1 waited 31 s for the operator: it starts wherever it fits",
        "the API server answers again",
    ]
    process.send_signal(signal.SIGTERM)
    assert process.wait(1) == 0
    process.stdout.close()


@pytest.mark.timeout(20)  # a process starts
def test_the_process_ends_at_once_even_while_the_server_keeps_it_waiting(tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as silent:
        process = processes.start(f"http://127.0.0.1:{silent.getsockname()[1]}", tmp_path)
        asked, _ = silent.accept()
        with asked:
            assert asked.recv(4).startswith(b"GET")
            process.send_signal(signal.SIGTERM)
            assert process.wait(1) == 0
    assert process.stdout
    process.stdout.close()


@pytest.mark.timeout(20)  # a process starts
def test_the_process_names_what_it_was_not_told(tmp_path):
    process = processes.start("http://127.0.0.1:1", tmp_path, SLUICE_GATE="")
    said, _ = process.communicate()
    assert (process.returncode, said.splitlines()[-1]) == (
        1,
        "sluice_agent: SLUICE_GATE: must be set; the operator does so in the driver's pod",
    )


def test_one_connection_serves_many_looks(api, ask):
    for _ in range(5):
        gates.look(ask, TOLD)
    assert len(set(api.callers)) == 1


def as_the_kubelet_has_it(container):
    """The environment of a container, what it asks of its pod filled in."""
    pod = {"metadata.name": "clicks-a1b2c3-1", "metadata.uid": "0b5e", "status.podIP": "10.0.0.7"}
    return {
        item["name"]: item["value"] if "value" in item else pod[item["valueFrom"]["fieldRef"]["fieldPath"]]
        for item in container["env"]
    }


def told(**images):
    spec = streamjob.Spec("i:1", streamjob.Application("local:///a.py"), streamjob.Checkpoint("s3a://b/c"))
    job = streamjob.StreamJob("shop", "clicks", spec)
    return settings.read(as_the_kubelet_has_it(agent.container(job, build.Surroundings(**images))))


def test_what_the_operator_writes_into_the_drivers_pod_is_what_the_agent_reads():
    assert told(agent_image="a:1") == TOLD
    folder, template = pathlib.Path("/run/sluice"), pathlib.Path("/etc/sluice/executor.yaml")
    driver = settings.Driver("clicks", "shop", "clicks-a1b2c3-1", "0b5e", "10.0.0.7", folder, template)
    assert told(agent_image="a:1", plugin_image="p:1") == dataclasses.replace(TOLD, driver=driver)
