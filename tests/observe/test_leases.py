"""The Lease of a job that is no more: found, if it is ours, and a reason to look at the job once again."""

import pytest

from fakes import api, loops
from observe import bodies
from sluice.observe import leases, mirror
from sluice.values import names, records

OURS = {**names.MANAGED, names.JOB: "clicks"}


def lease(labels, name="clicks"):
    metadata = {"namespace": "team", "name": name, "labels": labels}
    return {"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": metadata, "spec": {}}


@loops.in_a_loop
async def test_the_lease_of_a_job_is_read_with_the_uid_to_delete_it_by():
    async with api.FakeApi() as kube, kube.wire() as line:
        made = kube.put(lease(OURS))
        assert await leases.read(line, ("team", "clicks")) == records.Lease("team", "clicks", made["metadata"]["uid"])


@pytest.mark.parametrize("labels", [{}, names.MANAGED, {**OURS, names.JOB: "views"}], ids=["none", "no job", "another"])
@loops.in_a_loop
async def test_a_lease_of_somebody_elses_is_none(labels):
    async with api.FakeApi() as kube, kube.wire() as line:
        kube.put(lease(labels))
        assert await leases.read(line, ("team", "clicks")) is None
        assert await leases.read(line, ("team", "views")) is None


def test_a_lease_wakes_the_job_that_is_no_more_once_and_no_other():
    woken = []
    seen = mirror.Mirror(woken.append, lambda: None)
    seen.see_streamjob(None, bodies.streamjob("clicks"))
    woken.clear()
    left = bodies.lease("views")
    for body in (bodies.lease("clicks"), left, left):
        seen.see_lease(None, body)
    assert woken == [("team", "views")]
