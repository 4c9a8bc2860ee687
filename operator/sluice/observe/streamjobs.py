"""One StreamJob, asked of the API server itself: before anything of it is taken away because it seems gone.

A StreamJob may be younger than the last census, and kopf's watch slower than that of the pods. Called by the cycle.
"""

from sluice.transport import failures, paths, wire
from sluice.values import names
from sluice.values.streamjob import Body


async def read(line: wire.Wire, key: tuple[str, str]) -> Body | None:
    """The object; None only if there is none."""
    answer = await line.call("GET", paths.item(names.KIND, *key))
    if answer.ok:
        return answer.body
    if answer.status == 404:
        return None
    raise failures.Unavailable(f"{names.KIND} {'/'.join(key)}: {answer.sentence}", answer.status)
