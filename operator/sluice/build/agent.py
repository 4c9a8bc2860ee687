"""The agent's container: a native sidecar of the driver (`images/agent`), up before it and gone after it."""

from sluice.build.surroundings import Surroundings
from sluice.values import names
from sluice.values.streamjob import Body, StreamJob

NAME = "sluice-agent"


def container(job: StreamJob, around: Surroundings) -> Body:
    """The manifest. Requests and limits both, so that a LimitRange has nothing to add."""
    return {
        "name": NAME,
        "image": around.agent_image,
        "imagePullPolicy": "IfNotPresent",
        "restartPolicy": "Always",
        "env": [
            {"name": "SLUICE_JOB", "value": job.name},
            {"name": "SLUICE_NAMESPACE", "value": job.namespace},
            {"name": "SLUICE_GATE", "value": names.GATE},
            {"name": "SLUICE_EXECUTORS", "value": f"{names.JOB}={job.name},{names.ROLE}={names.EXECUTOR}"},
            {"name": "SLUICE_GATE_TIMEOUT_S", "value": f"{around.gate_timeout_s:g}"},
        ],
        "resources": {
            "requests": {"cpu": "50m", "memory": "64Mi"},
            "limits": {"cpu": "500m", "memory": "128Mi"},
        },
        "terminationMessagePolicy": "FallbackToLogsOnError",
    }
