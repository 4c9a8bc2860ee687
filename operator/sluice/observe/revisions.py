"""The ConfigMap a revision was made with: read when a spec has changed, to say what changed. Called by the cycle."""

from sluice.transport import paths, wire
from sluice.values import names, streamjob


async def read(line: wire.Wire, job: streamjob.StreamJob, revision: str) -> streamjob.Body | None:
    """The object; None if it is not there, or not ours."""
    answer = await line.call("GET", paths.item("ConfigMap", job.namespace, names.config_map(job.name, revision)))
    ours = answer.ok and answer.body["metadata"].get("labels", {}).get(names.REVISION) == revision
    return answer.body if ours else None
