"""Two API servers that must agree: the fake one of the tests, and the cluster's. Each with a namespace for one test."""

import contextlib
import secrets
from collections.abc import AsyncIterator

import pytest

from fakes import api
from house import trouble
from sluice.transport import credentials, wire
from testbed import target

FAKE = "the fake API server"
REAL = pytest.param("the cluster's", marks=[pytest.mark.cluster, pytest.mark.timeout(60)])


def who(kubeconfig: str) -> credentials.Credentials:
    """The cluster's administrator."""
    from kubernetes import client, config  # noqa: PLC0415  # only where there is a cluster

    found = client.Configuration()
    config.load_kube_config(kubeconfig, client_configuration=found)
    return credentials.Credentials(found)


@contextlib.asynccontextmanager
async def connect(which: str) -> AsyncIterator[tuple[wire.Wire, str]]:
    """A wire and a namespace of the test's own."""
    if which == FAKE:
        async with api.FakeApi() as kube, kube.wire() as line:
            yield line, "team"
        return
    async with wire.Wire(who(_kubeconfig()), lambda: True) as line, _namespace(line) as name:
        yield line, name


@contextlib.asynccontextmanager
async def _namespace(line: wire.Wire) -> AsyncIterator[str]:
    name = f"contracts-{secrets.token_hex(4)}"
    meta = {"name": name}
    made = await line.call("POST", "/api/v1/namespaces", {"apiVersion": "v1", "kind": "Namespace", "metadata": meta})
    assert made.ok, made.sentence
    try:
        yield name
    finally:
        await line.call("DELETE", f"/api/v1/namespaces/{name}", {})


def _kubeconfig() -> str:
    try:
        return str(target.connect().kubeconfig)
    except trouble.Trouble as why:
        pytest.skip(str(why))
