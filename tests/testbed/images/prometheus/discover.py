"""Tells Prometheus which pods to read: Debian's build has no Kubernetes discovery of its own.

A sidecar: watches all pods with the pod's service account and writes those annotated prometheus.io/scrape: "true" as a
file of targets, which Prometheus watches. Called with the name of that file.
"""

import json
import os
import pathlib
import ssl
import sys
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Iterator
from typing import Any

_ACCOUNT = pathlib.Path("/var/run/secrets/kubernetes.io/serviceaccount")
_WATCH_S = 300
_RETRY_S = 2.0


def main(file: pathlib.Path) -> None:
    """Keeps the file true until it is ended."""
    while True:
        try:
            for targets in _targets_as_they_change():
                part = file.with_suffix(".part")
                part.write_text(json.dumps(targets))
                part.replace(file)
        except (OSError, urllib.error.URLError, _Gone) as why:
            print(f"watching again in {_RETRY_S} s: {why}", flush=True)
            time.sleep(_RETRY_S)


class _Gone(Exception):
    """The API server no longer has the changes since our list."""


def _targets_as_they_change() -> Iterator[list[dict[str, Any]]]:
    listed = json.load(_get({}))
    targets = {pod["metadata"]["uid"]: target for pod in listed["items"] if (target := _target(pod))}
    version = listed["metadata"]["resourceVersion"]
    yield list(targets.values())
    while True:
        for line in _get({"watch": "1", "resourceVersion": version, "timeoutSeconds": str(_WATCH_S)}):
            event = json.loads(line)
            if event["type"] == "ERROR":
                raise _Gone(event["object"].get("message"))
            pod, before = event["object"], dict(targets)
            version = pod["metadata"]["resourceVersion"]
            targets.pop(pod["metadata"]["uid"], None)
            if event["type"] != "DELETED" and (target := _target(pod)):
                targets[pod["metadata"]["uid"]] = target
            if targets != before:
                yield list(targets.values())


def _target(pod: dict[str, Any]) -> dict[str, Any] | None:
    meta, status = pod["metadata"], pod["status"]
    wishes = meta.get("annotations", {})
    if wishes.get("prometheus.io/scrape") != "true" or status.get("phase") != "Running" or not status.get("podIP"):
        return None
    labels = {"namespace": meta["namespace"], "pod": meta["name"], "node": pod["spec"].get("nodeName", "")}
    labels["__metrics_path__"] = wishes.get("prometheus.io/path", "/metrics")
    return {"targets": [f"{status['podIP']}:{wishes.get('prometheus.io/port', '8080')}"], "labels": labels}


def _get(query: dict[str, str]) -> Any:
    host, port = os.environ["KUBERNETES_SERVICE_HOST"], os.environ["KUBERNETES_SERVICE_PORT"]
    url = f"https://{host}:{port}/api/v1/pods?" + urllib.parse.urlencode(query)
    token = (_ACCOUNT / "token").read_text()
    trust = ssl.create_default_context(cafile=str(_ACCOUNT / "ca.crt"))
    asked = urllib.request.Request(url, headers={"Authorization": f"Bearer {token}"})
    return urllib.request.urlopen(asked, context=trust, timeout=_WATCH_S + 30)


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]))
