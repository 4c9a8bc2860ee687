"""spark.properties of a revision, and the words that differ with each driver pod.

Sluice's defaults, over them the user's sparkConf, over that what Sluice owns (`OWNED`; the CRD refuses those in
sparkConf, so that nobody sets one in vain).
"""

import re
from collections.abc import Mapping

from sluice.build import executors, memory, mounts
from sluice.build.surroundings import Surroundings
from sluice.values import names
from sluice.values.streamjob import Spec, StreamJob

VOLUME = "sluice-conf"
FOLDER = "/etc/sluice"  # where the ConfigMap is mounted
PROPERTIES = "spark.properties"
TEMPLATE = "executor.yaml"
DRIVER_PORT, BLOCK_PORT, UI_PORT = 7078, 7079, 4040

OWNED = frozenset({
    "spark.app.id", "spark.app.name", "spark.decommission.enabled", "spark.driver.bindAddress",
    "spark.driver.blockManager.port", "spark.driver.cores", "spark.driver.host", "spark.driver.memory",
    "spark.driver.memoryOverheadFactor", "spark.driver.minMemoryOverhead", "spark.driver.port", "spark.executor.cores",
    "spark.executor.instances", "spark.executor.memory", "spark.executor.memoryOverheadFactor",
    "spark.executor.minMemoryOverhead", "spark.executor.pyspark.memory", "spark.jars.packages",
    "spark.kubernetes.allocation.pods.allocator", "spark.kubernetes.context",
    "spark.kubernetes.executor.container.image", "spark.kubernetes.executor.limit.cores",
    "spark.kubernetes.executor.podNamePrefix", "spark.kubernetes.executor.request.cores",
    "spark.kubernetes.executor.useDriverPodIP", "spark.kubernetes.memoryOverheadFactor", "spark.kubernetes.namespace",
    "spark.kubernetes.resource.type", "spark.kubernetes.submitInDriver", "spark.master",
    "spark.sql.streaming.checkpointLocation", "spark.submit.deployMode", "spark.submit.pyFiles", "spark.ui.port",
})  # fmt: skip
OWNED_PREFIXES = (
    "spark.dynamicAllocation.",
    "spark.kubernetes.authenticate.",
    "spark.kubernetes.container.image",
    "spark.kubernetes.driver.",
    "spark.kubernetes.driverEnv.",
    "spark.kubernetes.executor.label.sluice.dev/",
    "spark.kubernetes.executor.podTemplate",
    "spark.sluice.",
    "spark.streaming.dynamicAllocation.",
)
_STATE = "spark.sql.streaming.stateStore"
_LABEL = "spark.kubernetes.executor.label"


def properties(job: StreamJob, revision: str, around: Surroundings) -> dict[str, str]:
    """Everything that is the same for each driver of a revision."""
    theirs = {key: value for key, value in job.spec.spark_conf.items() if not owned(key)}
    driver, executor = _splits(job.spec, theirs)
    ours = _of_executors(job.spec, executor, executors.cpu_request(executors.template(job, around)))
    return {
        **_defaults(job.spec, executor),
        **theirs,
        **_of_the_job(job, revision, around),
        **_of_the_driver(driver),
        **ours,
    }


def owned(key: str) -> bool:
    """Whether a setting is Sluice's own, so that a user's value for it never counts."""
    return key in OWNED or (key.startswith(OWNED_PREFIXES) and not key.endswith("PersistentVolumeClaim"))


def of_the_pod(driver: str, attempt: int) -> dict[str, str]:
    """What one driver pod is told and no other: its own name and address."""
    return {
        "spark.driver.bindAddress": "$(POD_IP)",
        "spark.driver.host": "$(POD_IP)",
        "spark.kubernetes.driver.pod.name": driver,
        "spark.kubernetes.executor.podNamePrefix": driver,
        f"{_LABEL}.{names.ATTEMPT}": str(attempt),
    }


def text(found: Mapping[str, str]) -> str:
    """Settings as a Java properties file, in the order of their names."""
    return "".join(f"{_escaped(key, '=: #!')}={_escaped(value)}\n" for key, value in sorted(found.items()))


def _defaults(spec: Spec, split: memory.Split) -> dict[str, str]:
    """What a stream needs and Spark does not do by itself; a user's sparkConf may say otherwise."""
    found = {
        "spark.blockManager.port": str(BLOCK_PORT),  # one that a NetworkPolicy can name
        "spark.executor.decommission.forceKillTimeout": "60s",
        # A driver that lives for months meets many lost executors; only many at once mean that something is wrong.
        "spark.executor.failuresValidityInterval": "1h",
        "spark.executor.maxNumFailures": str(max(30, 10 * spec.executors.count)),
        "spark.kubernetes.executor.terminationGracePeriodSeconds": "60",
        # A part of the input prefers its executor: to wait 3 s for a busy one, and to look for a free one once a
        # second, may be longer than the batch.
        "spark.locality.wait": "300ms",
        "spark.scheduler.revive.interval": "100ms",
        f"{_STATE}.providerClass": "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider",
        f"{_STATE}.rocksdb.boundedMemoryUsage": "true",  # RocksDB's memory is the overhead's: it must not eat all of it
        f"{_STATE}.rocksdb.changelogCheckpointing.enabled": "true",
        f"{_STATE}.rocksdb.maxMemoryUsageMB": str(max(64, split.overhead // 3)),
        "spark.sql.streaming.stopTimeout": "60s",  # Spark's own is for ever
    }
    if spec.application.packages:
        found["spark.jars.ivy"] = "/tmp/.ivy2"  # the user of apache/spark has no home
    return found


def _splits(spec: Spec, theirs: Mapping[str, str]) -> tuple[memory.Split, memory.Split]:
    python = spec.application.is_python
    driver = memory.split("driver", spec.driver.memory_bytes, python, theirs)
    return driver, memory.split("executor", spec.executors.memory_bytes, python, theirs)


def _of_the_job(job: StreamJob, revision: str, around: Surroundings) -> dict[str, str]:
    spec = job.spec
    # Spark sends executors what is `file:`; of what is `local:` it believes that they import it already.
    modules = [re.sub("^local:", "file:", path) for path in spec.application.py_files]
    lists = {"spark.jars.packages": spec.application.packages, "spark.submit.pyFiles": modules}
    return {
        **{key: ",".join(items) for key, items in lists.items() if items},
        "spark.app.name": job.name,
        "spark.decommission.enabled": "true",
        "spark.dynamicAllocation.enabled": "false",
        "spark.kubernetes.container.image": spec.image,
        "spark.kubernetes.container.image.pullPolicy": spec.image_pull_policy,
        "spark.kubernetes.namespace": job.namespace,
        "spark.master": around.api_server_url,
        "spark.sql.streaming.checkpointLocation": mounts.location(spec.checkpoint),
        **{f"{_LABEL}.{key}": value for key, value in names.MANAGED.items()},
        f"{_LABEL}.{names.JOB}": job.name,
        f"{_LABEL}.{names.ROLE}": names.EXECUTOR,
        f"{_LABEL}.{names.REVISION}": revision,
    }


def _of_the_driver(split: memory.Split) -> dict[str, str]:
    return {
        "spark.driver.blockManager.port": str(BLOCK_PORT),
        "spark.driver.memory": f"{split.heap}m",
        "spark.driver.port": str(DRIVER_PORT),
        "spark.ui.port": str(UI_PORT),
    }


def _of_executors(spec: Spec, split: memory.Split, asked: str) -> dict[str, str]:
    return {
        # Spark puts its own CPU request over the template's, and takes no other way of saying it.
        **({"spark.kubernetes.executor.request.cores": asked} if asked else {}),
        "spark.executor.cores": str(spec.executors.cores),
        "spark.executor.instances": str(spec.executors.count),
        "spark.executor.memory": f"{split.heap}m",
        "spark.executor.memoryOverhead": f"{split.overhead}m",
        "spark.kubernetes.executor.podTemplateContainerName": names.EXECUTOR_CONTAINER,
        "spark.kubernetes.executor.podTemplateFile": f"{FOLDER}/{TEMPLATE}",
    }


def _escaped(part: str, separators: str = "") -> str:
    """As java.util.Properties reads it back, in ASCII alone."""
    known = {"\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t", "\f": "\\f", **{c: f"\\{c}" for c in separators}}
    found = "".join(known.get(c) or (c if " " <= c <= "~" else _unicode(c)) for c in part)
    return f"\\{found}" if found.startswith(" ") else found


def _unicode(character: str) -> str:
    utf16 = character.encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{utf16[at : at + 2].hex()}" for at in range(0, len(utf16), 2))
