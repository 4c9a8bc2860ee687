"""A plain Spark job on Kubernetes, as manifests: what there is without an operator. For the e2e tests.

The driver runs in client mode, as the operator will run it; executors come up behind a scheduling gate, and
:func:`lift` puts each where it should go.
"""

import dataclasses
import json
import time
from collections.abc import Callable, Iterable, Mapping
from typing import TypeVar

from house import trouble
from testbed import images, target

GATE = "sluice.dev/place"
BUCKET = "checkpoints"
_ADDRESS = "$(POD_IP)"
T = TypeVar("T")


@dataclasses.dataclass(frozen=True)
class Job:
    """A streaming job: its program (Python source) and what it needs."""

    name: str
    program: str
    executors: int = 2
    cores: int = 1
    conf: Mapping[str, str] = dataclasses.field(default_factory=dict)
    gated: bool = True

    def driver(self) -> str:
        """The name of its driver pod."""
        return f"{self.name}-driver"


def submit(kube: target.Target, namespace: str, job: Job) -> None:
    """Creates all objects of a job."""
    listed = {"apiVersion": "v1", "kind": "List", "items": [*_account(), _config(job), _driver(job, namespace)]}
    kube.kubectl("-n", namespace, "apply", "--server-side", "-f", "-", text=json.dumps(listed))


def executors(kube: target.Target, namespace: str, job: Job) -> list[dict[str, object]]:
    """The executor pods that are not on their way out, as the API server tells them."""
    selector = f"spark-role=executor,spark-app-name={job.name}"
    listed = json.loads(kube.kubectl("-n", namespace, "get", "pods", "-l", selector, "-o", "json"))
    return [pod for pod in listed["items"] if "deletionTimestamp" not in pod["metadata"]]


def is_gated(pod: Mapping[str, object]) -> bool:
    """Whether a pod still waits behind our gate."""
    spec = pod["spec"]
    assert isinstance(spec, dict)
    return {"name": GATE} in spec.get("schedulingGates", [])


def lift(kube: target.Target, namespace: str, pod: str, node: str) -> None:
    """Binds a gated pod to a node and opens its gate, in one patch: no moment in between."""
    term = {"matchExpressions": [{"key": "kubernetes.io/hostname", "operator": "In", "values": [node]}]}
    required = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [term]}}
    patch = {"spec": {"schedulingGates": [], "affinity": {"nodeAffinity": required}}}
    kube.kubectl("-n", namespace, "patch", "pod", pod, "--type=merge", "-p", json.dumps(patch))


def progress(kube: target.Target, namespace: str, job: Job) -> list[dict[str, int]]:
    """The batches the driver has told of so far."""
    said = kube.kubectl("-n", namespace, "logs", job.driver(), "--ignore-errors")
    lines = [line for line in said.splitlines() if line.startswith('{"batch"')]
    return [json.loads(line) for line in lines]


def until(what: str, look: Callable[[], T | None], deadline_s: float = 120.0) -> T:
    """What `look` gives once it gives something true; Trouble when the deadline passes."""
    end_s = time.monotonic() + deadline_s
    while True:
        seen = look()
        if seen:
            return seen
        if time.monotonic() > end_s:
            raise trouble.Trouble(f"after {deadline_s:.0f} s still not: {what}")
        time.sleep(0.5)


S3 = {
    "spark.hadoop.fs.s3a.endpoint": "http://s3.testbed:5000",
    "spark.hadoop.fs.s3a.endpoint.region": "us-east-1",
    "spark.hadoop.fs.s3a.path.style.access": "true",
    "spark.hadoop.fs.s3a.connection.ssl.enabled": "false",
    "spark.hadoop.fs.s3a.aws.credentials.provider": "org.apache.hadoop.fs.s3a.SimpleAWSCredentialsProvider",
    "spark.hadoop.fs.s3a.access.key": "testbed",
    "spark.hadoop.fs.s3a.secret.key": "testbed",
}
"""What a job needs to keep its checkpoint on the testbed's S3."""


def empty_bucket(kube: target.Target, prefix: str = "") -> None:
    """Makes the bucket for checkpoints; what an earlier job left there, or in one folder of it, is gone."""
    _with_bucket(kube, f"bucket.create(); bucket.objects.filter(Prefix='{prefix}').delete()")


def keys(kube: target.Target, prefix: str) -> list[str]:
    """What there is in one folder of the bucket."""
    return _with_bucket(kube, f"print(*(one.key for one in bucket.objects.filter(Prefix='{prefix}')))").split()


def files_of_sink(kube: target.Target, folder: str) -> dict[str, float]:
    """The files that a file sink of Spark's says it has written to a folder of the bucket, and when, since 1970."""
    said = _with_bucket(
        kube,
        f"""
import json
def text(key): return bucket.Object(key).get()['Body'].read().decode()
def batch(key): return int(key.rsplit('/')[-1].removesuffix('.compact'))
keys = (one.key for one in bucket.objects.filter(Prefix='{folder}/_spark_metadata/'))
log = [key for key in keys if key.rsplit('/')[-1].removesuffix('.compact').isdecimal()]
whole = max((key for key in log if key.endswith('.compact')), key=batch, default='')
since = batch(whole) if whole else -1
logs = [key for key in log if key == whole or not key.endswith('.compact') and batch(key) > since]
for file in (json.loads(line) for key in logs for line in text(key).splitlines()[1:]):
    print(file['modificationTime'], file['path'].split('/', 3)[3])
""",
    )
    found = (line.split(" ", 1) for line in said.splitlines())
    return {key: int(at_ms) / 1000 for at_ms, key in found}


def lines_of(kube: target.Target, keys: Iterable[str]) -> list[str]:
    """What stands in such files, as words."""
    program = """
import sys
for key in sys.stdin.read().splitlines(): print(bucket.Object(key).get()['Body'].read().decode())
"""
    return _with_bucket(kube, program, text="\n".join(keys)).split()


def _with_bucket(kube: target.Target, program: str, text: str = "") -> str:
    begin = (
        "import boto3; s3 = boto3.resource('s3', endpoint_url='http://localhost:5000', region_name='us-east-1',"
        f" aws_access_key_id='testbed', aws_secret_access_key='testbed'); bucket = s3.Bucket('{BUCKET}'); "
    )
    python = ("/opt/venv/bin/python", "-c", begin + program)
    return kube.kubectl("-n", "testbed", "exec", "-i", "deployment/s3", "--", *python, text=text)


PROGRESS = '''
def report(query):
    """Prints each batch once, as one line of JSON, until the query ends."""
    import json
    told = -1
    while not query.awaitTermination(0.3):
        for p in query.recentProgress:
            if p["batchId"] > told:
                told = p["batchId"]
                executors = spark.sparkContext._jsc.sc().getExecutorMemoryStatus().size() - 1
                print(json.dumps({"batch": told, "rows": p["numInputRows"], "executors": executors,
                                  "ms": p["durationMs"].get("triggerExecution")}), flush=True)
'''
"""Goes into a job's program, before the call `report(query)`."""

RATE = f"""
from pyspark.sql import SparkSession, functions as F
spark = SparkSession.builder.getOrCreate()
spark.sparkContext.setLogLevel("WARN")
{PROGRESS}
rows = spark.readStream.format("rate").option("rowsPerSecond", 2000).option("numPartitions", 4).load()
counts = rows.groupBy((F.col("value") % 10).alias("key")).count()
report(counts.writeStream.format("noop").outputMode("update").trigger(processingTime="1 second")
       .option("checkpointLocation", "s3a://{BUCKET}/clicks").start())
"""
"""Counts a generated stream by key, a batch a second. Its state must be where every executor finds it: on S3."""


def _account() -> list[dict[str, object]]:
    what = [
        {"apiGroups": [""], "resources": ["pods", "services", "configmaps", "persistentvolumeclaims"], "verbs": ["*"]}
    ]
    role = {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "spark"}
    rbac = "rbac.authorization.k8s.io/v1"
    return [
        {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "spark"}},
        {"apiVersion": rbac, "kind": "Role", "metadata": {"name": "spark"}, "rules": what},
        {
            "apiVersion": rbac,
            "kind": "RoleBinding",
            "metadata": {"name": "spark"},
            "roleRef": role,
            "subjects": [{"kind": "ServiceAccount", "name": "spark"}],
        },
    ]


def _config(job: Job) -> dict[str, object]:
    gates = [{"name": GATE}] if job.gated else []
    container = {"name": "spark-kubernetes-executor", "imagePullPolicy": "IfNotPresent"}
    spec = {"schedulingGates": gates, "terminationGracePeriodSeconds": 2, "containers": [container]}
    template = {"apiVersion": "v1", "kind": "Pod", "spec": spec}
    data = {"app.py": job.program, "executor.yaml": json.dumps(template)}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": job.name}, "data": data}


def _driver(job: Job, namespace: str) -> dict[str, object]:
    conf = {**_conf(job, namespace), **job.conf}
    words = ["--master", "k8s://https://kubernetes.default.svc", "--name", job.name]
    words += [word for key, value in sorted(conf.items()) for word in ("--conf", f"{key}={value}")]
    address = {"fieldRef": {"fieldPath": "status.podIP"}}
    container = {
        "name": "driver",
        "image": images.SPARK.ref(),
        "imagePullPolicy": "IfNotPresent",
        "args": ["driver", *words, "/job/app.py"],
        "env": [{"name": "POD_IP", "valueFrom": address}, {"name": "SPARK_DRIVER_BIND_ADDRESS", "valueFrom": address}],
        "resources": {"requests": {"cpu": "200m", "memory": "1Gi"}, "limits": {"memory": "2Gi"}},
        "volumeMounts": [{"name": "job", "mountPath": "/job"}],
    }
    spec = {
        "serviceAccountName": "spark",
        "restartPolicy": "Never",
        "terminationGracePeriodSeconds": 5,
        "containers": [container],
        "volumes": [{"name": "job", "configMap": {"name": job.name}}],
    }
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": job.driver()}, "spec": spec}


def _conf(job: Job, namespace: str) -> dict[str, str]:
    return {
        "spark.app.name": job.name,
        "spark.driver.host": _ADDRESS,
        "spark.driver.port": "7078",
        "spark.driver.blockManager.port": "7079",
        "spark.driver.memory": "640m",
        "spark.executor.instances": str(job.executors),
        "spark.executor.cores": str(job.cores),
        "spark.executor.memory": "512m",
        "spark.kubernetes.namespace": namespace,
        "spark.kubernetes.container.image": images.SPARK.ref(),
        "spark.kubernetes.authenticate.serviceAccountName": "spark",
        "spark.kubernetes.driver.pod.name": job.driver(),
        "spark.kubernetes.executor.podTemplateFile": "/job/executor.yaml",
        "spark.kubernetes.executor.request.cores": "100m",
        "spark.sql.shuffle.partitions": "2",
    }
