"""The Lease of :mod:`sluice.leadership` in the cluster, through the official client on a connection of its own.

Not through the wire of the hot path: a renewal must neither wait behind a burst of writes nor be retried unseen.
"""

import contextlib
import os
from collections.abc import AsyncIterator, Awaitable
from typing import Any

import aiohttp
from kubernetes.aio import client, config

from sluice import leadership


@contextlib.asynccontextmanager
async def connect(namespace: str, name: str) -> AsyncIterator["Lease"]:
    """The Lease by the rights of the pod, or of KUBECONFIG outside of one."""
    configuration = client.Configuration()
    if "KUBERNETES_SERVICE_HOST" in os.environ:
        config.load_incluster_config(configuration)
    else:
        await config.load_kube_config(client_configuration=configuration)
    async with client.ApiClient(configuration) as api_client:
        yield Lease(client.CoordinationV1Api(api_client), namespace, name)


class Lease:
    """A `coordination.k8s.io/v1` Lease, replaced by version."""

    def __init__(self, api: Any, namespace: str, name: str) -> None:
        self._api = api
        self._namespace = namespace
        self._name = name

    async def look(self, timeout_s: float) -> leadership.Claim | None:
        """The claim that stands; None where there is no Lease."""
        return await _asked(self._api.read_namespaced_lease(self._name, self._namespace, _request_timeout=timeout_s))

    async def put(self, claim: leadership.Claim, timeout_s: float) -> leadership.Claim | None:
        """The claim as it now stands; None if another was faster."""
        body = {
            "apiVersion": "coordination.k8s.io/v1",
            "kind": "Lease",
            "metadata": {"name": self._name, **({"resourceVersion": claim.version} if claim.version else {})},
            "spec": _spec(claim),
        }
        if not claim.version:
            return await _asked(self._api.create_namespaced_lease(self._namespace, body, _request_timeout=timeout_s))
        return await _asked(
            self._api.replace_namespaced_lease(self._name, self._namespace, body, _request_timeout=timeout_s)
        )


async def _asked(answer: Awaitable[Any]) -> leadership.Claim | None:
    """None for "not there" and "not this version any more"; the rest is Unreachable."""
    try:
        return _claim(await answer)
    except client.ApiException as why:
        if why.status in (404, 409):
            return None
        raise leadership.Unreachable(f"the API server answered {why.status} {why.reason}") from why
    except (aiohttp.ClientError, OSError) as why:
        raise leadership.Unreachable(f"{type(why).__name__} {why}".strip()) from why


def _claim(lease: Any) -> leadership.Claim:
    spec = lease.spec
    return leadership.Claim(
        holder=spec.holder_identity or "",
        lease_s=float(spec.lease_duration_seconds or 0),
        acquired=leadership.stamp(spec.acquire_time) if spec.acquire_time else "",
        renewed=leadership.stamp(spec.renew_time) if spec.renew_time else "",
        transitions=spec.lease_transitions or 0,
        version=lease.metadata.resource_version,
    )


def _spec(claim: leadership.Claim) -> dict[str, Any]:
    return {
        "holderIdentity": claim.holder,
        "leaseDurationSeconds": round(claim.lease_s),
        "acquireTime": claim.acquired,
        "renewTime": claim.renewed,
        "leaseTransitions": claim.transitions,
    }
