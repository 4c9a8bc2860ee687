"""`sluice plan -f`: what a changed StreamJob would do, with a cluster and without one."""

import http.server
import json
import threading

import pytest
import yaml
from kubernetes.config import kube_config

from sluice import __main__ as front_door

SPEC = {"image": "clicks:1", "application": {"file": "local:///a.py"}, "checkpoint": {"location": "s3a://b/c"}}


def written(folder, name, **changed):
    job = {
        "apiVersion": "sluice.dev/v1alpha1",
        "kind": "StreamJob",
        "metadata": {"name": "clicks", "namespace": "shop"},
    }
    file = folder / name
    file.write_text(yaml.safe_dump({**job, "spec": {**SPEC, **changed}}))
    return str(file)


def plan(*words):
    return front_door.main(["plan", "-f", *words])


@pytest.fixture
def no_cluster(tmp_path, monkeypatch):
    monkeypatch.setattr(kube_config, "KUBE_CONFIG_DEFAULT_LOCATION", str(tmp_path / "none"))


class Server:
    """Holds a StreamJob, refuses what it is told to, and remembers what it was asked."""

    def __init__(self):
        self.stands = None
        self.refusing = {}  # kind: sentence
        self.forbidding = {}  # kind: the Status that says so
        self.asked = []

    def answer(self, method, path, body):
        self.asked.append((method, path.partition("?")[0], path.partition("?")[2]))
        if method == "GET":
            return (200, self.stands) if self.stands else (404, {"message": "not found"})
        if body["kind"] in self.forbidding:
            return 403, self.forbidding[body["kind"]]
        if body["kind"] in self.refusing:
            return 422, {"message": self.refusing[body["kind"]]}
        return 201 if method == "POST" else 200, body


@pytest.fixture
def cluster(tmp_path, monkeypatch):
    held = Server()

    class Handler(http.server.BaseHTTPRequestHandler):
        def log_message(self, *_):
            pass

        def _serve(self):
            size = int(self.headers.get("Content-Length") or 0)
            body = json.loads(self.rfile.read(size)) if size else None
            status, said = held.answer(self.command, self.path, body)
            self.send_response(status)
            self.end_headers()
            self.wfile.write(json.dumps(said).encode())

        do_GET = do_POST = do_PATCH = _serve  # noqa: N815  # as the library calls them

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    named = {"name": "x", "cluster": {"server": f"http://127.0.0.1:{server.server_port}"}}
    file = tmp_path / "kubeconfig"
    contexts = [{"name": "x", "context": {"cluster": "x", "user": "x"}}]
    users = [{"name": "x", "user": {"token": "t"}}]
    file.write_text(yaml.safe_dump({"clusters": [named], "contexts": contexts, "users": users, "current-context": "x"}))
    monkeypatch.setattr(kube_config, "KUBE_CONFIG_DEFAULT_LOCATION", str(file))
    yield held
    server.shutdown()
    server.server_close()
    thread.join()


BESIDE = "another one comes up beside it and takes over between two batches"


def test_two_files_are_compared_field_by_field_and_the_steps_are_told(tmp_path, capsys):
    old, new = written(tmp_path, "old.yaml"), written(tmp_path, "new.yaml", image="clicks:2", slo={"lag": 5})
    assert plan(new, "--against", old) == 0
    lines = capsys.readouterr().out.splitlines()
    revision = lines[0].split()[3]
    assert lines[1:4] == [
        "  image: clicks:1 → clicks:2: hand over the driver",
        "  slo.lag: nothing → 5: nothing to restart",
        f"hand over the driver: {BESIDE}; if it has no Sluice plugin, driver and executors are restarted",
    ]
    assert lines[-4:] == [
        f"  Pod clicks-{lines[0].split()[5]}-1",
        f"  the new driver warms up and waits with its executors; if it fails there, revision {revision} goes on",
        f"  the driver of revision {revision} ends its batch in 60 s, or goes on; the new one begins the next",
        "  expected pause: about a second beyond one batch, longer with much state or a cold start",
    ]


def test_where_the_old_driver_ends_first_that_is_the_first_step(tmp_path, capsys):
    recreate = {"update": {"strategy": "Recreate"}}
    old, new = written(tmp_path, "old.yaml", **recreate), written(tmp_path, "new.yaml", image="clicks:2", **recreate)
    assert plan(new, "--against", old) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[3] == f"  drivers of revision {lines[0].split()[3]} end, and their executors"
    assert lines[-1] == f"  Pod clicks-{lines[0].split()[5]}-1"


def test_a_change_that_restarts_nothing_has_no_steps(tmp_path, capsys):
    assert plan(written(tmp_path, "new.yaml", slo={"lag": 5}), "--against", written(tmp_path, "old.yaml")) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[1:] == ["  slo.lag: nothing → 5: nothing to restart", "nothing to restart"]


def test_executors_are_rolled_where_the_driver_has_the_plugin(tmp_path, capsys, cluster):
    stands = yaml.safe_load((tmp_path / written(tmp_path, "old.yaml")).read_text())
    blue = {"count": 3, "template": {"metadata": {"labels": {"colour": "blue"}}}}
    for drivers, verdict in (
        ({"clicks-1-1": {}}, "roll executors one at a time: the driver runs on"),
        ({}, "roll executors: driver and executors are restarted"),
    ):
        cluster.stands = {**stands, "status": {"orders": {"drivers": drivers}}}
        assert plan(written(tmp_path, "new.yaml", executors=blue)) == 0
        lines = capsys.readouterr().out.splitlines()
        assert verdict in lines
        assert any(line.startswith("  each executor goes once") for line in lines) == bool(drivers)
        assert [line for line in lines if "Budget clicks" in line and not line.endswith("-driver")] == [
            "  PodDisruptionBudget clicks"
        ]


def test_without_a_cluster_nobody_knows_whether_the_driver_has_the_plugin(tmp_path, capsys):
    assert plan(written(tmp_path, "n.yaml", executors={"count": 3}), "--against", written(tmp_path, "o.yaml")) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[2].endswith("the driver runs on; if it has no Sluice plugin, driver and executors are restarted")
    assert lines[-1] == "  executors: 3, as many of them go or come as need be"


def test_programs_get_it_as_json(tmp_path, capsys):
    words = (written(tmp_path, "new.yaml", image="clicks:2"), "--against", written(tmp_path, "old.yaml"))
    assert plan(*words, "-o", "json") == 0
    said = json.loads(capsys.readouterr().out)
    assert said["changes"] == [{"field": "image", "before": "clicks:1", "after": "clicks:2", "asks": "handover"}]
    assert said["revision"]["before"] != said["revision"]["after"]


@pytest.mark.usefixtures("no_cluster")
def test_without_a_cluster_it_says_so_and_how_to_compare(tmp_path, capsys):
    assert plan(written(tmp_path, "new.yaml")) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[1] == "a new job: it starts"
    assert lines[-1].startswith("no cluster was asked (")
    assert lines[-1].endswith("); --against FILE compares with the job as it was")


def test_a_cluster_is_asked_what_it_would_say_and_nothing_is_made(tmp_path, capsys, cluster):
    cluster.stands = yaml.safe_load((tmp_path / written(tmp_path, "old.yaml")).read_text())
    assert plan(written(tmp_path, "new.yaml", image="clicks:2")) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[1] == "  image: clicks:1 → clicks:2: hand over the driver"
    assert lines[-2:] == [
        "the API server would take the StreamJob, its driver and its executors",
        "not asked about: agent and plugin, for which the driver may need 50m CPU and 64Mi memory more",
    ]
    jobs, pods = "/apis/sluice.dev/v1alpha1/namespaces/shop/streamjobs/clicks", "/api/v1/namespaces/shop/pods"
    assert [asked[:2] for asked in cluster.asked] == [("GET", jobs), ("PATCH", jobs), ("POST", pods), ("POST", pods)]
    assert all("dryRun=All" in query for method, _, query in cluster.asked if method != "GET")


@pytest.mark.parametrize(
    ("kind", "sentence"),
    [
        ("StreamJob", "spec.mode: Unsupported value"),
        ("Pod", "the API server would refuse the driver's pod: spec.containers: Invalid value"),
    ],
)
def test_what_the_api_server_would_refuse_is_said_in_its_words(tmp_path, capsys, cluster, kind, sentence):
    cluster.refusing = {kind: sentence.rpartition("pod: ")[2]}
    assert plan(written(tmp_path, "new.yaml")) == 1
    assert capsys.readouterr().err == f"sluice: {sentence}\n"


NO_RIGHT = 'pods is forbidden: User "ann" cannot create resource "pods" in API group "" in the namespace "shop"'
NO_ROOM = 'pods "clicks-a1b2c3-0" is forbidden: exceeded quota: shop'


def test_who_may_make_no_pods_is_told_that_nobody_could_be_asked_about_them(tmp_path, capsys, cluster):
    cluster.forbidding = {"Pod": {"message": NO_RIGHT, "reason": "Forbidden", "details": {"kind": "pods"}}}
    assert plan(written(tmp_path, "new.yaml")) == 0
    assert capsys.readouterr().out.splitlines()[-2:] == [
        "the API server would take the StreamJob",
        f"not asked about: its pods, which you may not: {NO_RIGHT}",
    ]


def test_a_quota_that_is_full_is_no_missing_right(tmp_path, capsys, cluster):
    details = {"name": "clicks-a1b2c3-0", "kind": "pods"}
    cluster.forbidding = {"Pod": {"message": NO_ROOM, "reason": "Forbidden", "details": details}}
    assert plan(written(tmp_path, "new.yaml")) == 1
    assert capsys.readouterr().err == f"sluice: the API server would refuse the driver's pod: {NO_ROOM}\n"


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("a: [", "while parsing a flow"),
        ("kind: Pod", "0 of kind StreamJob; allowed is one"),
        ("{kind: StreamJob, metadata: {}}", "metadata.name is missing"),
        ("{kind: StreamJob, metadata: {name: a}}", "spec is missing"),
        ("{kind: StreamJob, metadata: {name: a}, spec: {image: x}}", "spec.application is missing"),
        ("{kind: StreamJob, metadata: {name: a}, spec: {image: x, application: 3}}", "spec is not as `kubectl explain"),
    ],
)
def test_a_file_that_makes_no_sense_is_named(tmp_path, capsys, text, sentence):
    file = tmp_path / "job.yaml"
    file.write_text(text)
    assert plan(str(file), "--against", str(file)) == 1
    said = capsys.readouterr().err
    assert said.startswith(f"sluice: {file}: ")
    assert sentence in said


def test_what_no_pod_can_be_made_of_is_said_before_anybody_is_asked(tmp_path, capsys, cluster):
    assert plan(written(tmp_path, "new.yaml", executors={"memory": "64Mi"})) == 1
    assert "spec.executors.memory=64Mi: allowed is 640Mi and more" in capsys.readouterr().err
    assert cluster.asked == []
