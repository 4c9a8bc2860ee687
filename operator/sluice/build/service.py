"""The Service before the Spark UI of whichever driver runs."""

from sluice.build import conf, owner
from sluice.values import names
from sluice.values.streamjob import Body, StreamJob


def ui(job: StreamJob) -> Body:
    """The manifest."""
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": owner.metadata(job, names.ui_service(job.name)),
        "spec": {
            "selector": {names.JOB: job.name, names.ROLE: names.DRIVER},
            "ports": [{"name": "spark-ui", "port": conf.UI_PORT, "targetPort": conf.UI_PORT, "protocol": "TCP"}],
        },
    }
