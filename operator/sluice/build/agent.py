"""The agent's container: a native sidecar of the driver (`images/agent`), up before it and gone after it."""

from sluice.build import conf, plugin
from sluice.build.surroundings import Surroundings
from sluice.values import names
from sluice.values.streamjob import Body, StreamJob

PORT = 7080  # of /healthz and /metrics, as the agent has it


def container(job: StreamJob, around: Surroundings) -> Body:
    """The manifest."""
    return {
        "name": names.AGENT_CONTAINER,
        "image": around.agent_image,
        "imagePullPolicy": "IfNotPresent",
        "restartPolicy": "Always",
        "env": [
            {"name": "SLUICE_JOB", "value": job.name},
            {"name": "SLUICE_NAMESPACE", "value": job.namespace},
            {"name": "SLUICE_GATE", "value": names.GATE},
            {"name": "SLUICE_EXECUTORS", "value": f"{names.JOB}={job.name},{names.ROLE}={names.EXECUTOR}"},
            {"name": "SLUICE_GATE_TIMEOUT_S", "value": f"{around.gate_timeout_s:g}"},
            *(_env() if around.plugged else ()),
        ],
        "resources": plugin.RESOURCES,
        "terminationMessagePolicy": "FallbackToLogsOnError",
        **(_beside_the_plugin() if around.plugged else {}),
    }


def _env() -> list[Body]:
    fields = {"SLUICE_POD": "metadata.name", "SLUICE_POD_UID": "metadata.uid", "SLUICE_POD_IP": "status.podIP"}
    told = {"SLUICE_AGENT_DIR": plugin.AGENT_FOLDER, "SLUICE_EXECUTOR_TEMPLATE": f"{conf.FOLDER}/{conf.TEMPLATE}"}
    asked = {name: {"fieldRef": {"apiVersion": "v1", "fieldPath": path}} for name, path in fields.items()}
    return [
        *({"name": name, "valueFrom": source} for name, source in asked.items()),
        *({"name": name, "value": value} for name, value in told.items()),
    ]


def _beside_the_plugin() -> Body:
    """What it talks with the driver by, which waits for the probe: a driver that finds no agent runs as if alone."""
    return {
        "ports": [{"name": names.AGENT_CONTAINER, "containerPort": PORT, "protocol": "TCP"}],
        "startupProbe": {
            "httpGet": {"path": "/healthz", "port": PORT},
            "periodSeconds": 1,
            "timeoutSeconds": 5,
            "failureThreshold": 60,
        },
        "volumeMounts": [
            {"name": plugin.AGENT_VOLUME, "mountPath": plugin.AGENT_FOLDER},
            {"name": conf.VOLUME, "mountPath": conf.FOLDER, "readOnly": True},
        ],
    }
