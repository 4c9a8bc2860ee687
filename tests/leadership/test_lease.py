"""What stands in the Lease, and which answers mean that another was faster."""

import asyncio
import datetime

import aiohttp
import pytest
from kubernetes.aio import client

from sluice import leadership, lease


class Api:
    """A coordination API with one Lease, which may be told to fail."""

    def __init__(self, fails=None):
        self.body = None
        self.fails = fails

    async def read_namespaced_lease(self, _name, _namespace, _request_timeout):
        return self._answer()

    async def create_namespaced_lease(self, _namespace, body, _request_timeout):
        if self.body:
            raise client.ApiException(status=409)
        return self._answer(body)

    async def replace_namespaced_lease(self, _name, _namespace, body, _request_timeout):
        if self.body and body["metadata"]["resourceVersion"] != self.body["metadata"]["resourceVersion"]:
            raise client.ApiException(status=409)
        return self._answer(body)

    def _answer(self, body=None):
        if self.fails:
            raise self.fails
        if body:
            version = str(int(body["metadata"].get("resourceVersion", "0")) + 1)
            self.body = {**body, "metadata": {**body["metadata"], "resourceVersion": version}}
        if not self.body:
            raise client.ApiException(status=404)
        spec = self.body["spec"]
        return client.V1Lease(
            metadata=client.V1ObjectMeta(resource_version=self.body["metadata"]["resourceVersion"]),
            spec=client.V1LeaseSpec(
                holder_identity=spec["holderIdentity"] or None,
                lease_duration_seconds=spec["leaseDurationSeconds"],
                acquire_time=datetime.datetime.fromisoformat(spec["acquireTime"]),
                renew_time=datetime.datetime.fromisoformat(spec["renewTime"]),
                lease_transitions=spec["leaseTransitions"],
            ),
        )


CLAIM = leadership.Claim("one", 12.0, "2026-11-18T15:00:00.000000Z", "2026-11-18T15:00:00.000000Z", 3)


def test_a_claim_comes_back_as_it_was_put_with_its_version():
    kept = lease.Lease(Api(), "sluice", "sluice")
    done = asyncio.run(kept.put(CLAIM, 1))
    assert done == leadership.Claim(**{**vars(CLAIM), "version": "1"})
    assert asyncio.run(kept.look(1)) == done


def test_no_lease_and_another_version_are_answers_and_no_errors():
    kept = lease.Lease(Api(), "sluice", "sluice")
    assert asyncio.run(kept.look(1)) is None
    done = asyncio.run(kept.put(CLAIM, 1))
    assert asyncio.run(kept.put(CLAIM, 1)) is None
    assert asyncio.run(kept.put(done, 1)) is not None
    assert asyncio.run(kept.put(done, 1)) is None


@pytest.mark.parametrize(
    ("fails", "says"),
    [
        (client.ApiException(status=403, reason="Forbidden"), "the API server answered 403 Forbidden"),
        (client.ApiException(status=500, reason="Oops"), "the API server answered 500 Oops"),
        (aiohttp.ServerDisconnectedError(), "ServerDisconnectedError Server disconnected"),
        (TimeoutError(), "TimeoutError"),
        (ConnectionRefusedError("refused"), "ConnectionRefusedError refused"),
    ],
)
def test_whatever_else_happens_is_unreachable_and_says_what(fails, says):
    with pytest.raises(leadership.Unreachable) as caught:
        asyncio.run(lease.Lease(Api(fails), "sluice", "sluice").look(1))
    assert str(caught.value) == says
