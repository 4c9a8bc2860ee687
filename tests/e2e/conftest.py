"""What the e2e tests stand on: a cluster, the testbed's or one of your own, and a namespace for each test."""

import json
from collections.abc import Iterator

import pytest

from demo import operators, streamjobs
from e2e import namespaces
from house import trouble
from testbed import addons, cluster, machine, target

RESTRICTED = "pod-security.kubernetes.io/enforce=restricted"
LIMITS = {  # as a careful administrator has it: what says nothing of itself gets little, and nobody too much
    "apiVersion": "v1",
    "kind": "LimitRange",
    "metadata": {"name": "careful"},
    "spec": {
        "limits": [
            {
                "type": "Container",
                "min": {"cpu": "10m", "memory": "16Mi"},
                "defaultRequest": {"cpu": "50m", "memory": "64Mi"},
                "max": {"memory": "3Gi"},
            }
        ]
    },
}


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Whatever is no lifecycle test needs the cluster."""
    for item in items:
        if "e2e" in item.path.parts and not item.get_closest_marker("lifecycle"):
            item.add_marker(pytest.mark.cluster)


@pytest.fixture(scope="session")
def kube() -> target.Target:
    """The cluster to test on, with its add-ons."""
    if not target.is_own() and (reason := machine.reason_against()):
        pytest.skip(reason)
    found = target.connect()
    if found.own:
        found.furnish()
    return found


@pytest.fixture(scope="session")
def testbed(kube: target.Target) -> cluster.Cluster:
    """The testbed itself, for what is done to nodes."""
    if kube.own:
        pytest.skip("this does to nodes what a cluster of your own would not like")
    return cluster.Cluster()


@pytest.fixture(autouse=True, scope="session")
def _one_compiler() -> Iterator[None]:
    """Jobs that live for minutes, on nodes that share two cores, do without their JVMs' second one; benches keep it."""
    options = {f"spark.{role}.extraJavaOptions": "-XX:TieredStopAtLevel=1" for role in ("driver", "executor")}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(streamjobs, "CONF", {**streamjobs.CONF, **options})
        yield


@pytest.fixture
def namespace(kube: target.Target, request: pytest.FixtureRequest) -> Iterator[str]:
    """A namespace of the test's own; its pods tell what happened when the test fails."""
    name = "e2e-" + "".join(c if c.isalnum() else "-" for c in request.node.name)[5:50].strip("-").lower()
    kube.kubectl("delete", "namespace", name, "--ignore-not-found")
    kube.kubectl("create", "namespace", name)
    yield name
    if request.session.testsfailed:
        _tell(kube, name)
    kube.kubectl("delete", "namespace", name, "--wait=false")


@pytest.fixture
def after_the_demo(kube: target.Target) -> Iterator[None]:
    """The demo's job runs on when it has been shown; it would take the CPU of the tests after it."""
    yield
    kube.kubectl("delete", "namespace", "demo", "--ignore-not-found", "--wait=false")


@pytest.fixture(scope="session")
def installed(kube: target.Target) -> Iterator[operators.Operator]:
    """The operator, once for all tests, as strict as can be: every job of them lives with it."""
    if not kube.own:
        addons.supply_volumes(kube.kubeconfig, cluster.Cluster().home / "volumes")
    strict = {"admissionPolicy": {"enabled": True}}
    operator = operators.Operator(kube, namespaces.RELEASE, (namespaces.JOBS, namespaces.LEAVING), strict)
    operator.prepare()
    kube.kubectl("label", "namespace", *operator.namespaces, RESTRICTED)
    kube.kubectl("-n", namespaces.JOBS, "create", "-f", "-", text=json.dumps(LIMITS))
    operator.install()
    yield operator
    kube.kubectl("-n", namespaces.JOBS, "delete", "sj", "--all", "--wait")
    operator.uninstall()
    operator.clear()


@pytest.fixture
def operator(installed: operators.Operator, request: pytest.FixtureRequest) -> Iterator[operators.Operator]:
    """The running operator; when the test fails, it tells what happened."""
    before = request.session.testsfailed
    yield installed
    if request.session.testsfailed > before:
        print(installed.logs())
        print(installed.kube.kubectl("-n", namespaces.JOBS, "get", "sj", "-o", "yaml"))
        _tell(installed.kube, namespaces.JOBS)


def _tell(kube: target.Target, name: str) -> None:
    """Prints what is in a namespace; pytest shows it beside a failure."""
    print(kube.kubectl("-n", name, "get", "pods,events", "-o", "wide"))
    for pod in kube.kubectl("-n", name, "get", "pods", "-o", "name").split():
        try:
            print(kube.kubectl("-n", name, "logs", pod, "--tail=40"))
        except trouble.Trouble as why:
            print(f"{pod}: no logs: {why}")
