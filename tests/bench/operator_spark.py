"""Plays Spark: makes a driver's executor pods as Spark makes them, of the template in the job's ConfigMap.

So gates, labels, tolerations and requests of these pods are the operator's own; nothing runs in them.
"""

import asyncio
import copy
import json

from bench import operator_api, operator_jobs, operator_seen
from bench.operator_api import Body
from sluice.values import names

_TEMPLATE = "executor.yaml"
_PROPERTIES = "spark.properties"
_LABEL = "spark.kubernetes.executor.label."


class Spark:
    """The Sparks of all jobs of one namespace. Listens to what is seen: a driver that runs gets its executors."""

    def __init__(self, api: operator_api.Api, seen: operator_seen.Seen, namespace: str) -> None:
        self._api, self._seen, self._namespace = api, seen, namespace
        self._shapes: dict[str, Body] = {}  # by driver uid: its executors, but for the name
        self._last: dict[str, int] = {}  # by driver uid: the number of its last executor
        self._begun: set[str] = set()
        self._tasks: set[asyncio.Task[None]] = set()
        seen.listen(self._see)

    async def add(self, driver: operator_seen.Pod) -> None:
        """One more executor for a driver that has begun."""
        self._last[driver.uid] = number = self._last.get(driver.uid, 0) + 1
        body = copy.deepcopy(self._shapes[driver.uid])
        body["metadata"]["name"] = f"{driver.name}-exec-{number}"
        body["metadata"]["labels"]["spark-exec-id"] = str(number)
        await self._api.must("POST", operator_jobs.pods(self._namespace), body)

    async def remove(self, executor: operator_seen.Pod) -> None:
        """An executor is lost."""
        await self._api.gone(f"{operator_jobs.pods(self._namespace)}/{executor.name}")

    def _see(self, kind: str, body: Body, _: float) -> None:
        uid = body["metadata"]["uid"]
        pod = self._seen.pods.get(uid)
        if kind != "DELETED" and pod and pod.role == names.DRIVER and pod.running and uid not in self._begun:
            self._begun.add(uid)
            task = asyncio.get_running_loop().create_task(self._begin(pod))
            self._tasks.add(task)
            task.add_done_callback(self._done)

    async def _begin(self, driver: operator_seen.Pod) -> None:
        """All executors of a driver that just started, as its conf has it."""
        name, _, attempt = driver.name.rpartition("-")
        made = await self._api.must("GET", f"/api/v1/namespaces/{self._namespace}/configmaps/{name}")
        conf = {**_properties(made["data"][_PROPERTIES]), f"{_LABEL}{names.ATTEMPT}": attempt}
        self._shapes[driver.uid] = _shape(driver, json.loads(made["data"][_TEMPLATE]), conf)
        for _ in range(int(conf["spark.executor.instances"])):
            await self.add(driver)

    def _done(self, task: "asyncio.Task[None]") -> None:
        self._tasks.discard(task)
        if not task.cancelled():
            task.result()  # a refusal is told at once, by the loop's handler of exceptions


def _shape(driver: operator_seen.Pod, shape: Body, conf: dict[str, str]) -> Body:
    """What template and conf make of an executor of this driver, but for the name."""
    metadata = shape.get("metadata", {})
    labels = {key.removeprefix(_LABEL): value for key, value in conf.items() if key.startswith(_LABEL)}
    spark = {"spark-role": "executor", "spark-app-name": driver.job, "spark-version": "4.3.0"}
    owner = {"apiVersion": "v1", "kind": "Pod", "name": driver.name, "uid": driver.uid, "controller": True}
    shape["metadata"] = {
        **metadata,
        "labels": {**metadata.get("labels", {}), **spark, **labels},
        "ownerReferences": [owner],
    }
    _fill(shape["spec"], conf)
    return shape


def _fill(spec: Body, conf: dict[str, str]) -> None:
    """What Spark itself adds to the pod."""
    container = next(c for c in spec["containers"] if c["name"] == names.EXECUTOR_CONTAINER)
    container["image"] = conf["spark.kubernetes.container.image"]
    container["args"] = ["executor"]
    container["env"] = [
        {"name": "SPARK_USER", "value": "spark"},
        {"name": "SPARK_EXECUTOR_CORES", "value": "1"},
        {"name": "SPARK_EXECUTOR_POD_IP", "valueFrom": {"fieldRef": {"fieldPath": "status.podIP"}}},
    ]
    memory = {"memory": "1024Mi"}
    asked = container.get("resources", {}).get("requests", {})
    container["resources"] = {"requests": {"cpu": "1", **asked, **memory}, "limits": memory}
    spec["restartPolicy"] = "Never"
    spec["terminationGracePeriodSeconds"] = 30


def _properties(text: str) -> dict[str, str]:
    """A Java properties file as the operator writes them: one setting a line."""
    pairs = (line.partition("=") for line in text.replace("\\", "").splitlines() if "=" in line)
    return {key: value for key, _, value in pairs}
