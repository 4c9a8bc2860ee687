"""The plugin in Spark's driver: who brings its jar, what the driver is told of it and of the agent it talks with.

All of it is the pod's and nothing the ConfigMap's: whatever a revision was begun with, its next driver has the plugin
if the operator has one then, and lacks it cleanly if not.
"""

from collections.abc import Mapping

from sluice.build.surroundings import Surroundings
from sluice.values.streamjob import Body, StreamJob

AGENT_FOLDER = "/run/sluice"  # written by the agent, read by the driver
AGENT_VOLUME = "sluice-agent"
# Of each container of ours, the agent's too: a LimitRange has nothing to add, and the pod asks for no more by this one.
RESOURCES = {"requests": {"cpu": "50m", "memory": "64Mi"}, "limits": {"cpu": "500m", "memory": "128Mi"}}
_NAME = "sluice-plugin"  # of the container and of the volume
_FOLDER = "/opt/sluice-plugin"
_IN_THE_IMAGE = "/opt/sluice/sluice-plugin.jar"
ONLY_WITH_IT: Body = {"name": "SLUICE_ONLY_MANAGED", "value": "true"}  # else the driver fails, and does not begin
# Not local://, but file:// is what the driver serves to its executors, which load it, too.
_JAR = f"file://{_FOLDER}/sluice-plugin.jar"
_CLASS = "dev.sluice.entry.SluicePlugin"
# Spark reads all but the multiplier at its start. Until the plugin sets that, no task takes so many medians: a copy of
# a task that writes to Kafka would write twice.
_SWITCH = "spark.speculation"
_OURS = {
    "spark.sluice.speculation": "true",  # so the plugin ends it where a sink would take the rows of each attempt
    # Spark looks every 2 s whether a task in Python is unwanted, then waits as long again: all the while the one that a
    # copy has overtaken keeps its slot from the next batches.
    "spark.python.task.killTimeout": "100ms",
}
_REPLAY = {
    _SWITCH: "true",
    "spark.speculation.efficiency.enabled": "false",  # it spares tasks that progress slowly
    "spark.speculation.interval": "50ms",
    "spark.speculation.minTaskRuntime": "50ms",
    "spark.speculation.multiplier": "1000000",
}


def container(around: Surroundings) -> Body:
    """The manifest of the one that brings the jar, and ends."""
    return {
        "name": _NAME,
        "image": around.plugin_image,
        "imagePullPolicy": "IfNotPresent",
        "command": ["cp", _IN_THE_IMAGE, _FOLDER],
        "resources": RESOURCES,
        "volumeMounts": [{"name": _NAME, "mountPath": _FOLDER}],
        "terminationMessagePolicy": "FallbackToLogsOnError",
    }


def volumes() -> list[Body]:
    """What the pod has for it."""
    return [{"name": name, "emptyDir": {}} for name in (AGENT_VOLUME, _NAME)]


def volume_mounts() -> list[Body]:
    """The driver's: it runs its user's code, so it only reads."""
    return [
        {"name": AGENT_VOLUME, "mountPath": AGENT_FOLDER, "readOnly": True},
        {"name": _NAME, "mountPath": _FOLDER, "readOnly": True},
    ]


def env(job: StreamJob) -> list[Body]:
    """The driver's."""
    drain_ms = round(job.spec.update.drain_timeout_s * 1000)
    return [
        {"name": "SLUICE_AGENT_DIR", "value": AGENT_FOLDER},
        {"name": "SLUICE_DRAIN_TIMEOUT_MS", "value": str(drain_ms)},
    ]


def properties(job: StreamJob) -> dict[str, str]:
    """Beside the user's own; the template is the agent's, who may write another while the job runs."""
    theirs = job.spec.spark_conf
    return {
        **(_replay(theirs) if job.spec.replays else {}),
        "spark.jars": _appended(theirs.get("spark.jars", ""), _JAR),
        "spark.kubernetes.executor.podTemplateFile": f"{AGENT_FOLDER}/executor.yaml",
        "spark.plugins": _appended(theirs.get("spark.plugins", ""), _CLASS),
    }


def _replay(theirs: Mapping[str, str]) -> dict[str, str]:
    ours = {} if _SWITCH in theirs else _OURS
    return {**ours, **{key: value for key, value in _REPLAY.items() if key not in theirs}}


def _appended(theirs: str, ours: str) -> str:
    found = [item.strip() for item in theirs.split(",") if item.strip()]
    return ",".join([*(item for item in found if item != ours), ours])
