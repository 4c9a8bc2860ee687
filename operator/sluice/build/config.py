"""The ConfigMap of a revision: Spark's settings, the executors' template, and the spec it was all made of.

Immutable, and named by its revision: what a driver once read is what it reads again. `streamjob.json` is what the next
revision is compared with (:func:`recorded`).
"""

import json

from sluice.build import conf, executors, owner
from sluice.build.surroundings import Surroundings
from sluice.values import fields, names, streamjob
from sluice.values.streamjob import Body, StreamJob

RECORD = "streamjob.json"


def config_map(job: StreamJob, revision: str, around: Surroundings) -> Body:
    """The manifest."""
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": owner.metadata(job, names.config_map(job.name, revision), {names.REVISION: revision}),
        "immutable": True,
        "data": {
            conf.PROPERTIES: conf.text(conf.properties(job, revision, around)),
            conf.TEMPLATE: executors.text(job, around),
            RECORD: json.dumps(record(job), indent=1, sort_keys=True) + "\n",
        },
    }


def record(job: StreamJob) -> Body:
    """What a revision is of: the fields whose change pods would notice, and the last restart that was asked for."""
    spec = fields.nested(fields.spoken(job.spec, fields.Asks.SCALE))
    return {"spec": spec, "restarted": job.restarted} if job.restarted else {"spec": spec}


def recorded(found: Body) -> StreamJob:
    """The job that a ConfigMap was made of, what pods do not notice left at its default.

    KeyError or ValueError if the ConfigMap is none of ours.
    """
    meta, said = found["metadata"], json.loads(found["data"][RECORD])
    spec = streamjob.read_spec(said["spec"])
    return StreamJob(meta["namespace"], meta["labels"][names.JOB], spec, restarted=said.get("restarted", ""))
