"""The chart on a real cluster: installed in one namespace, upgraded under a running job, taken away again.

The namespace enforces Pod Security *restricted*, and holds the operator and its job both, so that little reaches beyond
the test.
"""

import json
import subprocess

import pytest

from demo import plain_spark
from house import paths
from sluice.values import names
from testbed import binaries, images

_CHART = paths.ROOT / "charts" / "sluice"
_JOB = paths.ROOT / "crds" / "examples" / "wordcount.yaml"


_NAME, _ROLE = "e2e-sluice", "e2e-driver"  # unlike those of a release that somebody uses


class Release:
    """A release in a namespace of its own."""

    def __init__(self, kube, namespace):
        self._kube, self.namespace = kube, namespace

    def helm(self, *words):
        command = [
            str(binaries.directory() / "helm"),
            *words,
            "-n",
            self.namespace,
            "--kubeconfig",
            self._kube.kubeconfig,
        ]
        done = subprocess.run(list(map(str, command)), capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def apply(self, **more):
        repository, _, tag = images.OPERATOR.ref().rpartition(":")
        values = {
            "image": {"repository": repository, "tag": tag},
            "namespaces": [self.namespace],
            "placement": "cluster",
            "driverRole": {"name": _ROLE},
            **more,
        }
        file = paths.CACHE / "tmp" / f"{self.namespace}.json"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps(values))
        self.helm("upgrade", "--install", _NAME, _CHART, "-f", file, "--wait", "--timeout", "3m")

    def get(self, *words):
        return json.loads(self._kube.kubectl("-n", self.namespace, "get", *words, "-o", "json"))

    def may(self, who, *what):
        """Whether an account of the namespace may do something."""
        account = f"system:serviceaccount:{self.namespace}:{who}"
        command = ("auth", "can-i", *what, "--as", account, "--as-group", "system:serviceaccounts")
        done = subprocess.run(
            [str(binaries.kubectl()), "--kubeconfig", str(self._kube.kubeconfig), *command],
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        return done.stdout.strip() == "yes"


@pytest.fixture
def release(kube, namespace, request):
    """Installed, with the values of a test's own; uninstalled at the end, before its namespace goes."""
    kube.kubectl("label", "namespace", namespace, "pod-security.kubernetes.io/enforce=restricted")
    made = Release(kube, namespace)
    try:
        made.apply(**getattr(request, "param", {}))
        yield made
    finally:
        made.helm("uninstall", _NAME, "--ignore-not-found", "--wait")


def test_a_release_leads_passes_its_own_test_and_may_do_no_more_than_it_must(release):
    holder = plain_spark.until("it leads", lambda: release.get("lease", _NAME)["spec"].get("holderIdentity"))
    pods = release.get("pods", "-l", "app.kubernetes.io/name=sluice")["items"]
    assert [pod["metadata"]["name"] for pod in pods] == [holder]
    assert "the API server knows StreamJobs" in release.helm("test", _NAME, "--logs")
    allowed = {
        ("create", "pods", "-n", release.namespace): True,
        ("create", "pods", "-n", "default"): False,
        ("patch", "streamjobs.sluice.dev", "--subresource=status", "-n", release.namespace): True,
        ("patch", "streamjobs.sluice.dev", "-n", release.namespace): False,
        ("get", "secrets", "-n", release.namespace): False,
        ("list", "nodes"): True,
        ("bind", f"clusterroles/{_ROLE}", "-n", release.namespace): True,
        ("bind", "clusterroles/cluster-admin", "-n", release.namespace): False,
    }
    assert {what: release.may(_NAME, *what) for what in allowed} == allowed


@pytest.fixture
def reach(kube, namespace):
    """Where an upgrade may reach: everywhere on the testbed while no other operator is up, and nowhere else."""
    if kube.own:
        return [namespace]
    if others := kube.kubectl("get", "deployments", "-A", "-l", "app.kubernetes.io/name=sluice", "-o", "name"):
        pytest.skip(f"two operators must never run one job, and this one would run all of those of {others}")
    return []


@pytest.mark.parametrize("release", [{"placement": "off"}], ids=["placed by nobody"], indirect=True)  # as by default
def test_an_upgrade_leaves_running_jobs_running_and_so_does_the_end_of_the_release(reach, release, kube):
    def pods(role):
        found = release.get("pods", "-l", role)["items"]
        return {pod["metadata"]["uid"] for pod in found if pod["status"]["phase"] == "Running"}

    def streaming():
        return pods("sluice.dev/role in (driver,executor)")

    kube.kubectl("-n", release.namespace, "apply", "-f", str(_JOB))
    kube.kubectl("-n", release.namespace, "wait", "sj/wordcount", "--for=condition=Ready", "--timeout=4m")
    before, operator = streaming(), pods("app.kubernetes.io/name=sluice")
    assert len(before) == 3
    placed = next(c for c in release.get("sj", "wordcount")["status"]["conditions"] if c["type"] == "Placed")
    assert (placed["status"], placed["reason"]) == ("False", "Off")
    assert names.GATE not in json.dumps(release.get("cm", "-l", f"{names.JOB}=wordcount"))
    release.apply(logLevel="debug", placement="off", namespaces=reach)
    assert release.may(_NAME, "create", "pods", "-n", "default") == (reach == [])
    plain_spark.until("another pod of it", lambda: operator.isdisjoint(pods("app.kubernetes.io/name=sluice")))
    patch = '{"spec": {"slo": {"lag": 7}}}'  # restarts nothing, and shows that the new one works
    kube.kubectl("-n", release.namespace, "patch", "sj/wordcount", "--type=merge", "-p", patch)
    changed = release.get("sj", "wordcount")["metadata"]["generation"]
    plain_spark.until(
        "the change is seen", lambda: release.get("sj", "wordcount")["status"].get("observedGeneration") == changed
    )
    assert streaming() == before
    release.helm("uninstall", _NAME, "--wait")
    assert streaming() == before


EXECUTOR = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {
        "name": "clicks-a1b2c3-1-exec-1",
        "labels": {"sluice.dev/job": "clicks", "sluice.dev/role": "executor"},
        "ownerReferences": [{"apiVersion": "v1", "kind": "Pod", "name": "clicks-a1b2c3-1", "uid": "0"}],
    },
    "spec": {
        "serviceAccountName": "clicks-driver",
        "securityContext": {"runAsNonRoot": True, "runAsUser": 1000, "seccompProfile": {"type": "RuntimeDefault"}},
        "containers": [
            {
                "name": "executor",
                "image": "any",
                "securityContext": {"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}},
            }
        ],
    },
}


def changed(**more):
    return {
        **EXECUTOR,
        "metadata": {**EXECUTOR["metadata"], **more.get("metadata", {})},
        "spec": {**EXECUTOR["spec"], **more.get("spec", {})},
    }


REFUSED = [
    (changed(metadata={"labels": {"sluice.dev/job": "ads", "sluice.dev/role": "executor"}}), "must be clicks"),
    (changed(metadata={"labels": {"sluice.dev/job": "clicks", "sluice.dev/role": "driver"}}), "must be executor"),
    (changed(metadata={"ownerReferences": []}), "must be owned by its driver"),
    (changed(spec={"serviceAccountName": "default-two"}), "not another account of the namespace"),
]


def test_the_admission_policy_lets_the_account_of_a_job_make_its_executors_alone(release, kube):
    space = release.namespace
    kube.kubectl("-n", space, "create", "serviceaccount", "clicks-driver")
    kube.kubectl("-n", space, "create", "serviceaccount", "default-two")
    role, account = f"--clusterrole={_ROLE}", f"--serviceaccount={space}:clicks-driver"
    kube.kubectl("-n", space, "create", "rolebinding", "clicks-driver", role, account)
    release.apply(admissionPolicy={"enabled": True})

    def answer(pod):
        who = (f"--as=system:serviceaccount:{space}:clicks-driver", "--as-group=system:serviceaccounts")
        command = [str(binaries.kubectl()), "--kubeconfig", str(kube.kubeconfig), "-n", space, *who]
        done = subprocess.run(
            [*command, "create", "--dry-run=server", "-f", "-"],
            input=json.dumps(pod), capture_output=True, text=True, check=False,
        )  # fmt: skip
        return done.stdout + done.stderr

    # The API server takes a while to know a new policy.
    plain_spark.until("the policy holds", lambda: "denied request" in answer(REFUSED[0][0]))
    for pod, why in REFUSED:
        assert why in answer(pod)
    assert "created (server dry run)" in answer(EXECUTOR)
