"""Pure manifest builders, one resource each, for :mod:`sluice.plan`. A job, its revision and attempt in, manifests out.

The room's README says how a StreamJob becomes pods: whose setting counts, how memory is shared, where state is kept.
"""

from sluice.build import account, budget, config, driver, lease, service
from sluice.build.surroundings import Surroundings
from sluice.values.streamjob import Body, StreamJob

__all__ = ["Surroundings", "objects"]


def objects(
    job: StreamJob, revision: str, attempt: int, around: Surroundings, *, beside: bool = False
) -> tuple[Body, ...]:
    """All objects of a driver's attempt, in an order in which each comes after what it names; the pod is the last.

    The same values give the same bytes. ValueError names the field of the spec that no pod can be made of. One that
    comes up beside another driver must not run without the plugin, which holds it back.
    """
    own = () if job.spec.account.name else (account.service_account(job),)
    return (
        config.config_map(job, revision, around),
        *own,
        account.role_binding(job, around),
        service.ui(job),
        budget.of_executors(job, budget.one_goes(job.spec.executors.count)),
        budget.of_driver(job, kept=False),
        lease.lease(job),
        driver.pod(job, revision, attempt, around, beside=beside),
    )
