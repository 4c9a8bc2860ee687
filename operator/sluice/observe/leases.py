"""The Lease of a job that is no more: it has no owner, so nobody else takes it away. Called by the cycle."""

from sluice.transport import paths, wire
from sluice.values import names, records

SELECTOR = ",".join(f"{key}={value}" for key, value in names.MANAGED.items()) + f",{names.JOB}"  # all that we made


async def read(line: wire.Wire, key: tuple[str, str]) -> records.Lease | None:
    """The Lease of a job; None if there is none, or it is not ours."""
    namespace, job = key
    answer = await line.call("GET", paths.item("Lease", namespace, names.lease(job)), lean=True)
    if not answer.ok:
        return None
    meta = answer.body["metadata"]
    ours = {**names.MANAGED, names.JOB: job}.items() <= (meta.get("labels") or {}).items()
    return records.Lease(namespace, meta["name"], meta["uid"]) if ours else None
