"""What a user's job brings along: a module, a package, a pull secret, a wish for nodes; and too great an appetite.

One job with all of it. Its namespace enforces Pod Security *restricted*, and its account may make executors alone, as
it is for every job here.
"""

import base64
import io
import json
import zipfile

import pytest

from demo import plain_spark, streamjobs
from e2e import namespaces
from house import trouble
from sluice.values import names
from testbed import images

PROGRAM = """
import os

from pyspark.sql import SparkSession, functions as F

import greeting

spark = SparkSession.builder.getOrCreate()
spark.sparkContext.setLogLevel("WARN")
found = spark._jvm.Thread.currentThread().getContextClassLoader().getResource("greeting.txt")
print("from the package:", found, flush=True)
greet = F.udf(lambda number: greeting.greet(number), "string", useArrow=False)  # executors import the module, too
rows = spark.readStream.format("rate").option("rowsPerSecond", 10).load().select(greet("value"))
query = rows.writeStream.queryName("greetings").format("console").option("truncate", "false").start()
while not os.path.exists("/tmp/hungry"):
    query.awaitTermination(0.5)
eaten = [bytearray(b"x") * (64 << 20) for _ in range(64)]
"""
MODULE = "def greet(number):\n    return f'hello {number}'\n"
POM = """<project><modelVersion>4.0.0</modelVersion>
<groupId>dev.example</groupId><artifactId>greeting</artifactId><version>1.0</version></project>
"""
LINUX = {"key": "kubernetes.io/os", "operator": "In", "values": ["linux"]}
AFFINITY = {
    "nodeAffinity": {
        "requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [{"matchExpressions": [LINUX]}]}
    }
}
PLACES = {  # in the driver's pod
    "main.py": "program/main.py",
    "greeting.py": "modules/greeting.py",  # not beside the program, where Python would find it anyway
    "pom": "m2/dev/example/greeting/1.0/greeting-1.0.pom",
    "jar": "m2/dev/example/greeting/1.0/greeting-1.0.jar",
}


def jar():
    """A package: pods reach no repository of the world, but Spark looks into the user's own ~/.m2 first."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as file:
        file.writestr("greeting.txt", "hello")
    return base64.b64encode(packed.getvalue()).decode()


def config():
    data = {"main.py": PROGRAM, "greeting.py": MODULE, "pom": POM}
    meta = {"name": "brought", "namespace": namespaces.JOBS}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": meta, "data": data, "binaryData": {"jar": jar()}}


def driver():
    items = [{"key": key, "path": path} for key, path in PLACES.items()]
    mounts = [
        {"name": "brought", "mountPath": "/brought"},
        {"name": "brought", "mountPath": "/home/spark/.m2/repository", "subPath": "m2"},
    ]
    container = {"name": names.DRIVER_CONTAINER, "volumeMounts": mounts, "resources": {"requests": {"cpu": "100m"}}}
    volume = {"name": "brought", "configMap": {"name": "brought", "items": items}}
    return {"memory": "1Gi", "template": {"spec": {"containers": [container], "volumes": [volume]}}}


def executors():
    container = {"name": names.EXECUTOR_CONTAINER, "resources": {"requests": {"cpu": "100m"}}}
    return {"count": 1, "template": {"spec": {"affinity": AFFINITY, "containers": [container]}}}


@pytest.fixture(scope="module")
def job(kube, installed):
    """The job, ready; it and what it brought are gone at the end."""
    assert installed
    kube.kubectl("apply", "-f", "-", text=json.dumps(config()))
    words = ("--docker-server=registry.example", "--docker-username=me", "--docker-password=none")
    kube.kubectl("-n", namespaces.JOBS, "create", "secret", "docker-registry", "pull", *words)
    found = streamjobs.fresh(kube, namespaces.JOBS, "brought")
    found.apply(
        application={
            "file": "local:///brought/program/main.py",
            "pyFiles": ["local:///brought/modules/greeting.py"],
            "packages": ["dev.example:greeting:1.0"],
        },
        imagePullSecrets=[{"name": "pull"}],
        driver=driver(),
        executors=executors(),
        restart={"policy": "Never"},
    )
    found.wait("condition=Ready")
    yield found
    found.delete()
    kube.kubectl("-n", namespaces.JOBS, "delete", "secret/pull", "configmap/brought")


@pytest.mark.usefixtures("operator")
def test_driver_and_executors_import_the_users_module_and_find_the_users_package(job):
    def greeted():
        assert job.status()["phase"] == "Running", job.log()
        return "hello 3" in job.log()

    plain_spark.until("an executor's greetings", greeted, streamjobs.DEADLINE_S)
    (line,) = [line for line in job.log().splitlines() if line.startswith("from the package: ")]
    assert "greeting-1.0.jar" in line


@pytest.mark.usefixtures("operator")
def test_driver_and_executors_pull_by_the_users_secret(job):
    pods = [*job.pods(names.DRIVER), job.executor()]
    assert [pod["spec"]["imagePullSecrets"] for pod in pods] == [[{"name": "pull"}]] * 2


@pytest.mark.usefixtures("operator")
def test_a_placed_executor_keeps_the_users_own_wish_for_nodes_beside_sluices(job):
    pod = job.executor(streamjobs.bound_at)
    node = streamjobs.place_of(pod)["node"]
    field = {"key": "metadata.name", "operator": "In", "values": [node]}
    affinity = pod["spec"]["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]
    assert affinity["nodeSelectorTerms"] == [{"matchExpressions": [LINUX], "matchFields": [field]}]
    assert pod["spec"]["nodeName"] == node


@pytest.mark.usefixtures("operator")
def test_a_driver_with_agent_and_plugin_runs_where_pod_security_is_restricted(kube, job):
    labels = kube.kubectl("get", "namespace", namespaces.JOBS, "-o", "jsonpath={.metadata.labels}")
    assert json.loads(labels)["pod-security.kubernetes.io/enforce"] == "restricted"
    (driver,) = job.pods(names.DRIVER)
    assert {c["image"] for c in driver["spec"]["initContainers"]} == {images.AGENT.ref(), images.PLUGIN.ref()}
    job.until_reason("Guarded", "Protected")


@pytest.mark.usefixtures("operator")
def test_the_account_of_a_job_that_runs_may_make_its_executors_and_no_other_pod(kube, job):
    pod = job.executor()
    labels = {**pod["metadata"]["labels"], names.ROLE: names.DRIVER}
    meta = {"name": "other", "labels": labels, "ownerReferences": pod["metadata"]["ownerReferences"]}
    other = {"apiVersion": "v1", "kind": "Pod", "metadata": meta, "spec": pod["spec"]}
    account = (f"--as=system:serviceaccount:{namespaces.JOBS}:brought-driver", "--as-group=system:serviceaccounts")
    words = ("-n", namespaces.JOBS, *account, "create", "--dry-run=server", "-f", "-")
    with pytest.raises(trouble.Trouble, match="must be executor"):
        kube.kubectl(*words, text=json.dumps(other))
    meta["labels"] = pod["metadata"]["labels"]
    assert "created (server dry run)" in kube.kubectl(*words, text=json.dumps(other))


@pytest.mark.usefixtures("operator")
def test_a_driver_that_wants_more_memory_than_it_has_says_so_with_a_hint(kube, job):
    (pod,) = job.pods(names.DRIVER)
    kube.kubectl("-n", job.namespace, "exec", pod["metadata"]["name"], "-c", "driver", "--", "touch", "/tmp/hungry")
    assert "needed more memory than it has: raise spec.driver.memory" in job.until_reason("OutOfMemory")
    assert job.status()["driver"]["lastFailure"]["exitCode"] == 137
