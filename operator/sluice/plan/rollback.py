"""The job as it is to run while its wanted revision is given up: the one before, but for what restarts nothing.

Called by the cycle; pure.
"""

import dataclasses

from sluice.build import config
from sluice.plan import changes
from sluice.values import fields, handoff, streamjob
from sluice.values.streamjob import Body


def given_up(job: streamjob.StreamJob) -> handoff.GivenUp | None:
    """The record that counts: of the revision that is wanted."""
    found = handoff.read_given_up(job.status)
    return found if found and found.revision == changes.revision(job) else None


def before(job: streamjob.StreamJob, found: Body) -> streamjob.StreamJob:
    """With the pods of the revision that a ConfigMap was made of."""
    good = config.recorded(found)
    of_pods = fields.spoken(job.spec, fields.Asks.SCALE)
    rest = {path: value for path, value in fields.spoken(job.spec).items() if path not in of_pods}
    spec = streamjob.read_spec(fields.nested({**rest, **fields.spoken(good.spec, fields.Asks.SCALE)}))
    return dataclasses.replace(job, spec=spec, restarted=good.restarted)
