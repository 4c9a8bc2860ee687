"""The stages that make a driver: its surroundings, then the pod. For plan.life and plan.handover."""

from sluice import build
from sluice.build import samples
from sluice.values import steps, streamjob

_AS_THEY_WERE = ("ConfigMap", "Lease")  # immutable, or written by others since
_OF_BOTH = ("PodDisruptionBudget",)  # of what runs, until another takes over


def stages(
    job: streamjob.StreamJob, revision: str, attempt: int, around: build.Surroundings, *, beside: bool = False
) -> tuple[tuple[steps.Step, ...], ...]:
    """The driver after all it needs; before that, whether its executors' template makes a pod at all."""
    *before, driver = build.objects(job, revision, attempt, around, beside=beside)
    stay = _AS_THEY_WERE + (_OF_BOTH if beside else ())
    needs = tuple(steps.Create(manifest, renew=manifest["kind"] not in stay) for manifest in before)
    sample = samples.pods(job, revision, around)[1] if job.spec.executors.template else None
    return (steps.Try(sample),) if sample else (), needs, (steps.Create(driver),)
