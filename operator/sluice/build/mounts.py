"""Where the checkpoint is, for Spark and for the pods.

A claim is mounted at the parent of `checkpoint.location`, in the driver and in each executor: jobs that share a claim
have each their folder in it, `/checkpoints/clicks` and `/checkpoints/views`. A location right below `/` is itself the
mount.
"""

from sluice.values import names
from sluice.values.streamjob import Body, Checkpoint, StreamJob

VOLUME = "sluice-checkpoint"


def location(checkpoint: Checkpoint) -> str:
    """As Spark is told: a path with its scheme, so that no default file system of the image is meant."""
    return f"file://{_path(checkpoint)}" if checkpoint.claim else checkpoint.location


def volumes(checkpoint: Checkpoint) -> list[Body]:
    """The pod's volume, if a claim is asked for."""
    claim = {"claimName": checkpoint.claim}
    return [{"name": VOLUME, "persistentVolumeClaim": claim}] if checkpoint.claim else []


def volume_mounts(checkpoint: Checkpoint) -> list[Body]:
    """The container's mount, if a claim is asked for."""
    return [{"name": VOLUME, "mountPath": checkpoint.mount}] if checkpoint.claim else []


def claims(job: StreamJob, role: str) -> list[str]:
    """Names of all that a driver or an executor mounts."""
    template = job.spec.driver.template if role == names.DRIVER else job.spec.executors.template
    found = [*volumes(job.spec.checkpoint), *((template.get("spec") or {}).get("volumes") or ())]
    return [one["persistentVolumeClaim"]["claimName"] for one in found if one.get("persistentVolumeClaim")]


def _path(checkpoint: Checkpoint) -> str:
    if checkpoint.path == "/" or not checkpoint.location.startswith("/"):
        raise ValueError(
            f"spec.checkpoint.location={checkpoint.location!r}: allowed beside a claim is a path like /a/b"
        )
    return checkpoint.path
