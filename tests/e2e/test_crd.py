"""The CRD before a real API server: what it refuses and with which sentence, what it takes, what kubectl shows."""

import json
import re

import kubernetes
import pytest

from crds import schema
from faults import specs
from house import trouble
from sluice.values import streamjob

GOOD = {
    "image": "localhost/examples:dev",
    "application": {"file": "local:///a.py"},
    "checkpoint": {"location": "s3a://b/c"},
}
JAR = {"file": "local:///a.jar", "mainClass": "A"}
ON_A_VOLUME = {"location": "/c", "volume": {"persistentVolumeClaim": {"claimName": "state"}}}
DURATION = "must be a duration from 1s to 1h, such as 90s or 5m"
MEMORY = "must be a quantity from 640Mi to 4Ti, such as 1Gi or 2.5Gi"

REFUSED = [
    ({"image": "a b"}, "spec.image must be an image reference without spaces"),
    ({"image": None}, "spec.image: Required value"),
    ({"imagePullPolicy": "Sometimes"}, 'supported values: "Always", "IfNotPresent", "Never"'),
    ({"imagePullSecrets": [{"name": "a"}, {"name": "a"}]}, "spec.imagePullSecrets[1]: Duplicate value"),
    ({"serviceAccount": {"name": "a", "annotations": {"b": "c"}}}, "takes either name"),
    ({"application": {"file": "local:///a.sh"}}, "spec.application.file must end with .py or .jar"),
    ({"application": {"file": "a.py"}}, "spec.application.file must be an absolute path or a URI"),
    ({"application": {"file": "local:///a.jar"}}, "needs spec.application.mainClass, the class to start"),
    ({"application": {"file": "local:///a.py", "mainClass": "A"}}, "spec.application.mainClass is for a .jar"),
    ({"application": {**JAR, "pyFiles": ["/b.py"]}}, "spec.application.pyFiles is for a .py"),
    ({"application": {**JAR, "packages": ["a:b"]}}, "each of spec.application.packages must be group:artifact:version"),
    ({"mode": "Continuous"}, 'supported values: "MicroBatch", "RealTime"'),
    ({"checkpoint": {"location": "/c"}}, "needs spec.checkpoint.volume.persistentVolumeClaim.claimName"),
    ({"checkpoint": {**ON_A_VOLUME, "location": "s3a://b/c"}}, "must not have a spec.checkpoint.volume"),
    ({"checkpoint": {"location": "s3a://b/c/"}}, "without spaces, double or trailing slashes"),
    ({"checkpoint": {**ON_A_VOLUME, "location": "/a/../b"}}, "must not contain /. or /.."),
    ({"checkpoint": {"location": "file:///c"}}, "it would be lost with the pod"),
    ({"driver": {"memory": "1 Gi"}}, f"spec.driver.memory {MEMORY}"),
    ({"driver": {"memory": "512Mi"}}, f"spec.driver.memory {MEMORY}"),
    ({"executors": {"memory": "1Gb"}}, f"spec.executors.memory {MEMORY}"),
    ({"executors": {"count": 0}}, "spec.executors.count in body should be greater than or equal to 1"),
    ({"executors": {"count": 2, "min": 3}}, "spec.executors.min must not be above spec.executors.count"),
    ({"executors": {"count": 2, "max": 1}}, "spec.executors.max must not be below spec.executors.count"),
    ({"executors": {"instances": 2}}, 'unknown field "spec.executors.instances"'),
    ({"slo": {"batchLatency": "2"}}, "spec.slo.batchLatency must be a duration from 1ms to 24h"),
    ({"update": {"drainTimeout": "2h"}}, f"spec.update.drainTimeout {DURATION}"),
    ({"update": {"drainTimeout": "soon"}}, f"spec.update.drainTimeout {DURATION}"),
    ({"restart": {"backoff": {"initial": "10m"}}}, "initial not longer than max"),
    ({"placement": {"policy": "best"}}, '"consolidate", "stromax", "turbostream", "stay"'),
    ({"placement": {"near": {"matchExpressions": [{"key": "a", "operator": "In"}]}}}, "In and NotIn need values"),
    ({"placement": {"near": {"matchLabels": {}}}}, "which would be every pod there is"),
    ({"mode": "RealTime", "sparkConf": {"spark.speculation": "true"}}, "spec.mode RealTime runs each task once"),
    ({"mode": "RealTime", "restart": {"policy": "Never"}}, "RealTime needs spec.restart.policy Always or OnFailure"),
]
OWNED = [
    (
        "where a job runs, its names, addresses and ports are set by Sluice",
        """
        spark.app.id spark.app.name spark.decommission.enabled spark.kubernetes.executor.useDriverPodIP
        spark.kubernetes.resource.type spark.kubernetes.submitInDriver
        spark.master spark.submit.deployMode spark.kubernetes.context spark.kubernetes.namespace
        spark.kubernetes.driver.master spark.kubernetes.driver.pod.name spark.kubernetes.executor.podNamePrefix
        spark.kubernetes.allocation.pods.allocator spark.driver.host spark.driver.port spark.driver.bindAddress
        spark.driver.blockManager.port spark.ui.port spark.sluice.epoch spark.kubernetes.executor.label.sluice.dev/job
        """,
    ),
    (
        "use spec.executors.count",
        """
        spark.executor.instances spark.dynamicAllocation.enabled
        """,
    ),
    (
        "use spec.executors.cores and spec.executors.memory",
        """
        spark.executor.cores spark.executor.memory spark.executor.memoryOverheadFactor
        spark.executor.minMemoryOverhead spark.executor.pyspark.memory spark.kubernetes.memoryOverheadFactor
        """,
    ),
    (
        "use spec.driver.cores and spec.driver.memory",
        """
        spark.driver.cores spark.driver.memory spark.driver.memoryOverheadFactor
        spark.driver.minMemoryOverhead
        """,
    ),
    (
        "use spec.image, spec.imagePullPolicy and spec.imagePullSecrets",
        """
        spark.kubernetes.container.image spark.kubernetes.container.image.pullSecrets
        spark.kubernetes.driver.container.image spark.kubernetes.executor.container.image
        """,
    ),
    (
        "use spec.serviceAccount",
        """
        spark.kubernetes.authenticate.driver.serviceAccountName spark.kubernetes.authenticate.oauthToken
        """,
    ),
    (
        "use spec.driver.template",
        """
        spark.kubernetes.driverEnv.A spark.kubernetes.driver.request.cores spark.kubernetes.driver.podTemplateFile
        """,
    ),
    (
        "use spec.executors.template",
        """
        spark.kubernetes.executor.podTemplateFile spark.kubernetes.executor.request.cores
        spark.kubernetes.executor.limit.cores
        """,
    ),
    (
        "use spec.checkpoint.location",
        """
        spark.sql.streaming.checkpointLocation
        """,
    ),
    (
        "use spec.application.packages and spec.application.pyFiles",
        """
        spark.jars.packages spark.submit.pyFiles
        """,
    ),
    (
        "must start with spark.",
        """
        fs.s3a.endpoint
        """,
    ),
]
TAKEN = [
    {},
    {"application": JAR},
    {"checkpoint": ON_A_VOLUME},
    {"serviceAccount": {"name": "mine"}},
    {"serviceAccount": {"annotations": {"eks.amazonaws.com/role-arn": "arn:aws:iam::1:role/clicks"}}},
    {"executors": {"count": 4, "min": 2, "max": 8, "maxPerNode": 2, "cores": 2, "memory": "2Gi"}},
    {"mode": "RealTime", "sparkConf": {"spark.speculation": "false"}, "restart": {"policy": "OnFailure"}},
    {"sparkConf": {"spark.plugins": "a.B", "spark.jars": "local:///c.jar", "spark.sql.extensions": "d.E"}},
    {"placement": {"near": {}}},
    {"sparkConf": {"spark.driver.memoryOverhead": "400m", "spark.executor.memoryOverhead": "400m"}},
    {"sparkConf": {"spark.kubernetes.driver.reusePersistentVolumeClaim": "true"}},
    {"sparkConf": {f"spark.some.{n}": "x" * 100 for n in range(256)}},
    {"driver": {"template": {"spec": {"anything": [{"kubernetes": "knows"}]}}}},
    {"slo": {"batchLatency": "1m30s", "lag": 100_000}, "update": {"drainTimeout": "90s"}},
]


@pytest.fixture(scope="module")
def api(kube):
    """StreamJobs of the API server, with the CRD as it is now."""
    kube.kubectl("apply", "--server-side", "--force-conflicts", "-f", str(schema.FILE))
    kube.kubectl("wait", "--for=condition=Established", "crd/streamjobs.sluice.dev", "--timeout=30s")
    return kubernetes.client.CustomObjectsApi(kubernetes.config.new_client_from_config(str(kube.kubeconfig)))


def job(change, name="clicks"):
    spec = {field: value for field, value in (GOOD | change).items() if value is not None}
    return {"apiVersion": "sluice.dev/v1alpha1", "kind": "StreamJob", "metadata": {"name": name}, "spec": spec}


def answer(api, manifest):
    """The code and the body with which a StreamJob is answered; nothing is kept."""
    where = ("sluice.dev", "v1alpha1", "default", "streamjobs")
    try:
        return 201, api.create_namespaced_custom_object(*where, manifest, dry_run="All", field_validation="Strict")
    except kubernetes.client.ApiException as why:
        return why.status, json.loads(why.body)


def refusal(api, manifest):
    """The sentence with which a StreamJob is refused."""
    code, said = answer(api, manifest)
    assert code in (400, 422)
    return said["message"]


@pytest.mark.parametrize(("change", "sentence"), REFUSED)
def test_a_spec_that_cannot_work_is_refused_with_a_sentence(api, change, sentence):
    assert sentence in refusal(api, job(change))


@pytest.mark.parametrize(("sentence", "key"), [(sentence, key) for sentence, keys in OWNED for key in keys.split()])
def test_a_spark_setting_that_sluice_owns_is_refused_once_with_the_field_to_use(api, sentence, key):
    said = refusal(api, job({"sparkConf": {key: "x"}}))
    assert sentence in said
    assert said.count("spec.sparkConf: Invalid value") == 1


@pytest.mark.parametrize("change", TAKEN)
def test_a_spec_that_can_work_is_taken(api, change):
    assert answer(api, job(change))[0] == 201


@pytest.mark.parametrize("name", ["clicks", "a", "a" * 34, "a-1"])
def test_a_name_that_spark_can_append_to_is_taken(api, name):
    assert answer(api, job({}, name))[0] == 201


@pytest.mark.parametrize("name", ["a" * 35, "1-a", "a.b"])
def test_another_name_is_refused(api, name):
    assert "metadata.name must be at most 34 characters" in refusal(api, job({}, name))


@pytest.mark.parametrize("file", sorted(schema.EXAMPLES.glob("*.yaml")), ids=lambda file: file.stem)
def test_an_example_is_taken(kube, api, namespace, file):
    assert api
    kube.kubectl("-n", namespace, "create", "--dry-run=server", "-f", str(file))


def test_the_defaults_of_the_server_are_those_of_the_code(kube, api, namespace):
    assert api
    kube.kubectl("-n", namespace, "create", "-f", "-", text=json.dumps(job({})))
    kept = json.loads(kube.kubectl("-n", namespace, "get", "sj", "clicks", "-o", "json"))
    assert kept["spec"] == schema.defaulted(schema.spec(), GOOD)
    assert streamjob.read_spec(kept["spec"]) == streamjob.read_spec(GOOD)


@pytest.mark.parametrize("path", ["spec.executors.count", "spec.checkpoint", "spec.sparkConf", "status.conditions"])
def test_explain_reads_like_documentation(kube, api, path):
    assert api
    node = dict(schema.walk(schema.root()))[path]
    said = " ".join(kube.kubectl("explain", f"streamjobs.{path}", "--api-version=sluice.dev/v1alpha1").split())
    assert " ".join(node["description"].split()) in said


def status(kube, namespace, body):
    words = ("patch", "sj", "clicks", "--subresource=status", "--type=merge", "-p", json.dumps({"status": body}))
    kube.kubectl("-n", namespace, *words)


def condition(kind, holds):
    at = "2026-01-01T00:00:00Z"
    return {"type": kind, "status": holds, "reason": "Tried", "message": "It was tried.", "lastTransitionTime": at}


def test_kubectl_waits_scales_and_shows(kube, api, namespace):
    assert api
    kube.kubectl("-n", namespace, "create", "-f", "-", text=json.dumps(job({"executors": {"count": 2}})))
    status(kube, namespace, {
        "phase": "Running",
        "message": "All is well.",
        "revision": "a1b2c3",
        "driver": {"restarts": 1},
        "executors": {"wanted": 2, "running": 2, "waiting": 0},
        "selector": "sluice.dev/job=clicks,sluice.dev/role=executor",
        "conditions": [condition("Ready", "True")],
    })  # fmt: skip
    kube.kubectl("-n", namespace, "wait", "sj/clicks", "--for=condition=Ready", "--timeout=10s")
    shown = kube.kubectl("-n", namespace, "get", "sj", "-o", "wide").splitlines()
    assert shown[0].split() == "NAME PHASE READY EXECUTORS RESTARTS REVISION AGE MESSAGE".split()
    assert re.fullmatch(r"clicks +Running +True +2 +1 +a1b2c3 +\S+ +All is well\.", shown[1])

    kube.kubectl("-n", namespace, "scale", "sj/clicks", "--replicas=3")
    scale = f"/apis/sluice.dev/v1alpha1/namespaces/{namespace}/streamjobs/clicks/scale"
    seen = json.loads(kube.kubectl("get", f"--raw={scale}"))
    assert seen["spec"] == {"replicas": 3}
    assert seen["status"] == {"replicas": 2, "selector": "sluice.dev/job=clicks,sluice.dev/role=executor"}
    with pytest.raises(trouble.Trouble, match="greater than or equal to 1"):
        kube.kubectl("-n", namespace, "scale", "sj/clicks", "--replicas=0")


def test_what_a_user_writes_into_status_is_dropped(kube, api, namespace):
    assert api
    kube.kubectl("-n", namespace, "create", "-f", "-", text=json.dumps(job({}) | {"status": {"phase": "Running"}}))
    assert "status" not in json.loads(kube.kubectl("-n", namespace, "get", "sj", "clicks", "-o", "json"))


def misjudged(verdict, code, body):
    """Whether an answer is not what a fuzzed spec calls for; one that is taken is read, too."""
    if code == 201:
        streamjob.read_spec(body["spec"])
        return verdict == "spoilt"
    return code not in (400, 422) or verdict == "good" or len(body["message"].split()) < 4


def test_two_hundred_fuzzed_specs_are_taken_and_read_or_refused_with_a_sentence(api):
    tried = [(fuzz, *answer(api, fuzz.manifest)) for fuzz in specs.fuzzed(seed=1, many=200)]
    assert [(fuzz.name, fuzz.done, body) for fuzz, code, body in tried if misjudged(fuzz.verdict, code, body)] == []
