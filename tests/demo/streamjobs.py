"""A StreamJob on the cluster, as its user sees it: through kubectl. For the e2e tests."""

import collections
import dataclasses
import datetime
import json
import re
from collections.abc import Callable
from typing import Any

from demo import plain_spark
from sluice.values import names
from testbed import images, target

Body = dict[str, Any]
DEADLINE_S = 240  # a machine of two cores may have other things to do
_ROW = re.compile(r"^\+[-+]+\+\n\|.*\|\n\+[-+]+\+\n\|", re.MULTILINE)  # a table of the console sink that is not empty
_KINDS = "streamjobs,pods,services,configmaps,serviceaccounts,rolebindings,poddisruptionbudgets,leases"
CONF = {**plain_spark.S3, "spark.sql.shuffle.partitions": "2"}
_SMALL = {"requests": {"cpu": "100m"}}


@dataclasses.dataclass(frozen=True)
class Job:
    """One StreamJob, by its name."""

    kube: target.Target
    namespace: str
    name: str

    def apply(self, **spec: Any) -> None:
        """A small job with its checkpoint on the cluster's S3; `spec` goes over what is usual."""
        usual: Body = {
            "image": images.EXAMPLES.ref(),
            "application": {"file": "local:///opt/pipelines/wordcount.py", "args": ["--source", "rate:100"]},
            "checkpoint": {"location": f"s3a://{plain_spark.BUCKET}/{self.namespace}/{self.name}"},
            "driver": {"template": template(names.DRIVER_CONTAINER)},
            "executors": {"count": 1, "template": template(names.EXECUTOR_CONTAINER)},
            "sparkConf": CONF,
        }
        meta = {"name": self.name, "namespace": self.namespace}
        body = {"apiVersion": "sluice.dev/v1alpha1", "kind": "StreamJob", "metadata": meta, "spec": {**usual, **spec}}
        self.kube.kubectl("apply", "-f", "-", text=json.dumps(body))

    def change(self, **spec: Any) -> None:
        """Merges fields into the spec."""
        self._kubectl("patch", f"sj/{self.name}", "--type=merge", "-p", json.dumps({"spec": spec}))

    def wait(self, what: str) -> None:
        """`condition=Ready`, `jsonpath={.status.phase}=Suspended`, `delete`, …: what kubectl can wait for."""
        self._kubectl("wait", f"--for={what}", f"sj/{self.name}", f"--timeout={DEADLINE_S}s")

    def delete(self) -> None:
        """Asks for it; what it leaves behind may take a while."""
        self._kubectl("delete", f"sj/{self.name}", "--ignore-not-found")

    def status(self) -> Body:
        """What Sluice says of it."""
        found: Body = json.loads(self._kubectl("get", f"sj/{self.name}", "-o", "json")).get("status", {})
        return found

    def condition(self, kind: str) -> Body:
        """One of its conditions."""
        conditions = self.status().get("conditions", ())
        return next((c for c in conditions if c["type"] == kind), {"status": "", "reason": "", "message": ""})

    def until_reason(self, reason: str, kind: str = "Ready") -> str:
        """The message of a condition once it has this reason."""
        found = plain_spark.until(f"{kind} of {self.name} says {reason}", lambda: self._says(kind, reason), DEADLINE_S)
        return str(found["message"])

    def pods(self, role: str) -> list[Body]:
        """Those of a role that are not on their way out."""
        selector = f"{names.JOB}={self.name},{names.ROLE}={role}"
        listed = json.loads(self._kubectl("get", "pods", "-l", selector, "-o", "json"))["items"]
        return [pod for pod in listed if "deletionTimestamp" not in pod["metadata"]]

    def executor(self, is_wanted: Callable[[Body], object] = bool) -> Body:
        """One of its executors, once it is as wanted."""

        def look() -> Body | None:
            return next((pod for pod in self.pods(names.EXECUTOR) if is_wanted(pod)), None)

        found: Body = plain_spark.until(f"an executor of {self.name} as wanted", look, DEADLINE_S)
        return found

    def running(self, role: str) -> list[Body]:
        """Those that run."""
        return [pod for pod in self.pods(role) if pod["status"]["phase"] == "Running"]

    def uids(self, role: str) -> set[str]:
        """Of those pods."""
        return {pod["metadata"]["uid"] for pod in self.pods(role)}

    def log(self) -> str:
        """Of its present driver."""
        driver = self.status().get("driver", {}).get("pod")
        return self._kubectl("logs", driver, "-c", names.DRIVER_CONTAINER, "--ignore-errors") if driver else ""

    def batches(self) -> list[int]:
        """Those the console sink of its present driver has told of."""
        return [int(number) for number in re.findall(r"^Batch: (\d+)$", self.log(), re.MULTILINE)]

    def has_told_rows(self) -> bool:
        """Whether the console sink of its present driver has shown any."""
        return _ROW.search(self.log()) is not None

    def logged(self, log: str) -> list[int]:
        """The batches of `offsets` or `commits` in the checkpoint of wordcount's query, in their order."""
        stored = plain_spark.keys(self.kube, f"{self.namespace}/{self.name}/wordcount/{log}/")
        files = (key.rsplit("/", 1)[-1] for key in stored)
        return sorted(int(name) for name in files if name.isdecimal())

    def last(self, log: str) -> int:
        """The highest of those; -1 before the first."""
        return max(self.logged(log), default=-1)

    def drain_of(self, node: str) -> tuple[str, ...]:
        """A `kubectl drain` that takes this job's pods only: the node runs the cluster's own as well."""
        return ("drain", node, f"--pod-selector={names.JOB}={self.name}", "--force", "--delete-emptydir-data")

    def _says(self, kind: str, reason: str) -> Body | None:
        found = self.condition(kind)
        return found if found["reason"] == reason else None

    def _kubectl(self, *words: str) -> str:
        return self.kube.kubectl("-n", self.namespace, *words)


def fresh(kube: target.Target, namespace: str, name: str) -> Job:
    """A job that was never there before."""
    plain_spark.empty_bucket(kube, f"{namespace}/{name}/")
    return Job(kube, namespace, name)


def place_of(pod: Body) -> Body:
    """What Sluice decided about an executor; nothing if it did not."""
    text = pod["metadata"].get("annotations", {}).get(names.PLACED)
    found: Body = json.loads(text) if text else {}
    return found


def bound_at(pod: Body) -> str | None:
    """When the scheduler gave it its node."""
    conditions = [c for c in pod["status"].get("conditions", ()) if c["type"] == "PodScheduled"]
    return next((c["lastTransitionTime"] for c in conditions if c["status"] == "True"), None)


def seconds_between(earlier: str, later: str) -> float:
    """Of two moments as Kubernetes writes them."""
    return (datetime.datetime.fromisoformat(later) - datetime.datetime.fromisoformat(earlier)).total_seconds()


def objects(kube: target.Target, namespace: str) -> set[str]:
    """Everything in a namespace that a job could leave behind."""
    return set(kube.kubectl("-n", namespace, "get", _KINDS, "-o", "name").split())


def on_nodes(pods: list[Body]) -> collections.Counter[str]:
    """How many pods each node has."""
    return collections.Counter(pod["spec"].get("nodeName", "") for pod in pods)


def template(container: str) -> Body:
    """A pod that asks for little CPU, for a machine of two cores."""
    return {"spec": {"containers": [{"name": container, "resources": _SMALL}]}}
