"""The ConfigMap a revision was made with: read when a spec has changed, to say what changed. Called by the cycle."""

from sluice.transport import failures, paths, wire
from sluice.values import names, streamjob


async def read(line: wire.Wire, job: streamjob.StreamJob, revision: str) -> streamjob.Body | None:
    """The object; None if it is not there, not ours, or not for us to read. Of any other answer it is not known."""
    answer = await line.call("GET", paths.item("ConfigMap", job.namespace, names.config_map(job.name, revision)))
    if not answer.ok and answer.status not in (403, 404):
        raise failures.Unavailable(answer.sentence, answer.status)
    ours = answer.ok and answer.body["metadata"].get("labels", {}).get(names.REVISION) == revision
    return answer.body if ours else None
