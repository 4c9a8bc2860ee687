"""Who we are: the pod's account first, a developer's KUBECONFIG else."""

import datetime
import pathlib
import types

import certifi
import pytest
import yaml

from sluice.transport import credentials

PLAIN = {
    "apiVersion": "v1",
    "kind": "Config",
    "current-context": "here",
    "contexts": [{"name": "here", "context": {"cluster": "c", "user": "u"}}],
    "clusters": [{"name": "c", "cluster": {"server": "http://127.0.0.1:8001/"}}],
    "users": [{"name": "u", "user": {"token": "secret"}}],
}
INSIDE = "kubernetes.config.incluster_config"


@pytest.fixture
def token(tmp_path, monkeypatch):
    """A pod's own token."""
    found = tmp_path / "token"
    found.write_text("first")
    monkeypatch.setenv("KUBERNETES_SERVICE_HOST", "10.96.0.1")
    monkeypatch.setenv("KUBERNETES_SERVICE_PORT", "443")
    monkeypatch.setattr(f"{INSIDE}.SERVICE_TOKEN_FILENAME", str(found))
    monkeypatch.setattr(f"{INSIDE}.SERVICE_CERT_FILENAME", certifi.where())
    return found


@pytest.mark.usefixtures("token")
def test_a_pod_is_who_its_account_is():
    who = credentials.load()
    assert (who.server, who.headers()) == ("https://10.96.0.1:443", {"Authorization": "bearer first"})
    assert who.trust is not None
    assert who.trust.check_hostname


@pytest.mark.parametrize(("later_s", "seen"), [(10, "first"), (61, "second")])
def test_a_token_that_the_kubelet_rotated_is_read_anew_within_a_minute(token, monkeypatch, later_s, seen):
    class Clock(datetime.datetime):
        at = datetime.datetime(2026, 11, 18)

        @classmethod
        def now(cls):
            return cls.at

    stopped = types.SimpleNamespace(datetime=Clock, timedelta=datetime.timedelta)
    monkeypatch.setattr(f"{INSIDE}.datetime", stopped)
    who = credentials.load()
    pathlib.Path(token).write_text("second")
    Clock.at += datetime.timedelta(seconds=later_s)
    assert who.headers() == {"Authorization": f"bearer {seen}"}


def test_a_developer_is_who_the_kubeconfig_says(tmp_path, monkeypatch):
    file = tmp_path / "config"
    file.write_text(yaml.safe_dump(PLAIN))
    monkeypatch.delenv("KUBERNETES_SERVICE_HOST", raising=False)
    monkeypatch.setattr("kubernetes.config.kube_config.KUBE_CONFIG_DEFAULT_LOCATION", str(file))
    who = credentials.load()
    assert (who.server, who.trust, who.headers()) == ("http://127.0.0.1:8001", None, {"Authorization": "Bearer secret"})


def test_nobody_in_particular_sends_no_token():
    assert credentials.at("http://127.0.0.1:1").headers() == {}
