"""Asks the API server what it would say to an object, and makes nothing. For `sluice plan -f`, where calls are rare."""

import json
from typing import Any, NoReturn

import urllib3
from kubernetes import client, config

from sluice.values import names
from sluice.values.streamjob import Body

_PATIENCE_S = 10.0
_JSON, _APPLY = "application/json", "application/apply-patch+yaml"
_PODS = "/api/v1/namespaces/{}/pods"
_JOBS = f"/apis/{names.GROUP}/{names.VERSION}/namespaces/{{}}/{names.PLURAL}"


class NoCluster(Exception):  # it is what it says
    """No API server answers."""


class NotAllowed(ValueError):
    """Who asks may not: nothing is known of what was asked about."""


class Asker:
    """The API server that KUBECONFIG names."""

    def __init__(self) -> None:
        try:
            config.load_kube_config()
        except config.ConfigException as why:
            raise NoCluster(str(why)) from None
        self._api = client.ApiClient()

    def read(self, namespace: str, name: str) -> Body | None:
        """The StreamJob as it stands, if it does."""
        status, said = self._call("GET", f"{_JOBS.format(namespace)}/{name}")
        if status == 404:
            return None
        return said if status == 200 else _refuse(said)

    def applied(self, job: Body) -> Body:
        """A StreamJob as it would stand, defaults filled in; ValueError with the API server's sentence."""
        meta = job["metadata"]
        path = f"{_JOBS.format(meta['namespace'])}/{meta['name']}"
        query = f"?dryRun=All&force=true&fieldManager={names.MANAGER}"
        status, said = self._call("PATCH", path + query, job, _APPLY)
        return said if status in (200, 201) else _refuse(said)

    def made(self, pod: Body) -> Body:
        """A pod as it would be made; ValueError with the API server's sentence, NotAllowed if it is about the user."""
        path = _PODS.format(pod["metadata"]["namespace"])
        status, said = self._call("POST", f"{path}?dryRun=All&fieldManager={names.MANAGER}", pod)
        # A quota or an admission is 403, too, and names the pod; a missing right is found before anybody reads it.
        if status == 403 and not (said.get("details") or {}).get("name"):
            raise NotAllowed(str(said.get("message") or said))
        return said if status == 201 else _refuse(said)

    def _call(self, method: str, path: str, body: Body | None = None, kind: str = _JSON) -> tuple[int, dict[str, Any]]:
        headers = {"Accept": _JSON, "Content-Type": kind}
        words = self._api.param_serialize(method, path, header_params=headers, body=body, auth_settings=["BearerToken"])
        try:
            answer = self._api.call_api(*words, _request_timeout=_PATIENCE_S)
        except urllib3.exceptions.HTTPError as why:
            raise NoCluster(f"{self._api.configuration.host}: {why}") from None
        said = answer.read()
        return answer.status, json.loads(said or b"{}")


def _refuse(said: Body) -> NoReturn:
    raise ValueError(str(said.get("message") or said))
