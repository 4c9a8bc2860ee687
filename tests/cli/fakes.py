"""An API server's answers without one: StreamJobs, pods, nodes and events as JSON, and what was written to them."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from kubernetes import client

Body = Mapping[str, Any]


def stream_job(name: str = "clicks", namespace: str = "ads", **more: Any) -> dict[str, Any]:
    """A StreamJob; more: its spec, its status."""
    return {
        "metadata": {
            "name": name,
            "namespace": namespace,
            "generation": 3,
            "creationTimestamp": "2026-11-18T10:00:00Z",
        },
        "spec": more.get("spec", {}),
        **({"status": more["status"]} if "status" in more else {}),
    }


def missing(message: str = "not found") -> client.ApiException:
    """What an API server says of what is not there."""
    why = client.ApiException(status=404, reason="Not Found")
    why.body = json.dumps({"message": message})
    return why


class Custom:
    """StreamJobs."""

    def __init__(self, *jobs: dict[str, Any]) -> None:
        self.jobs = {(job["metadata"]["namespace"], job["metadata"]["name"]): job for job in jobs}
        self.patches: list[tuple[str, str, Body]] = []
        self.fails: Exception | None = None

    def list_cluster_custom_object(self, *_: str, **__: Any) -> Body:
        """All."""
        self._fail()
        return {"items": list(self.jobs.values())}

    def list_namespaced_custom_object(self, _group: str, _version: str, namespace: str, *_: str, **__: Any) -> Body:
        """Those of a namespace."""
        self._fail()
        return {"items": [job for (home, _name), job in self.jobs.items() if home == namespace]}

    def get_namespaced_custom_object(self, *where: str, **_: Any) -> Body:
        """One."""
        self._fail()
        namespace, name = where[2], where[4]
        if (namespace, name) not in self.jobs:
            raise missing()
        return self.jobs[namespace, name]

    def patch_namespaced_custom_object(self, *what: Any, **_: Any) -> None:
        """Remembers it."""
        self.patches.append((what[2], what[4], what[5]))

    def _fail(self) -> None:
        if self.fails:
            raise self.fails


class Log:
    """An answer that streams."""

    def __init__(self, text: str) -> None:
        self._text = text
        self.released = False

    def stream(self, **_: Any) -> Iterator[bytes]:
        """In two pieces."""
        half = len(self._text) // 2
        yield self._text[:half].encode()
        yield self._text[half:].encode()

    def release_conn(self) -> None:
        """As it must be called, or each log costs a connection."""
        self.released = True


class Core:
    """Pods, nodes, events, logs."""

    def __init__(self, pods: list[Body] | None = None, nodes: list[Body] | None = None) -> None:
        self.pods, self.nodes = pods or [], nodes or []
        self.told: list[Body] = []
        self.logs: dict[tuple[str, str], Log] = {}
        self.asked: list[dict[str, Any]] = []

    def list_namespaced_pod(self, namespace: str, label_selector: str, **_: Any) -> Body:
        """Of a namespace, by label."""
        wanted = dict(word.split("=") for word in label_selector.split(","))
        here = [pod for pod in self.pods if pod["metadata"]["namespace"] == namespace]
        return {"items": [pod for pod in here if wanted.items() <= pod["metadata"]["labels"].items()]}

    def list_pod_for_all_namespaces(self, label_selector: str, **_: Any) -> Body:
        """All."""
        assert label_selector == ""
        return {"items": self.pods}

    def list_node(self, **_: Any) -> Body:
        """All."""
        return {"items": self.nodes}

    def list_namespaced_event(self, namespace: str, field_selector: str, **_: Any) -> Body:
        """Whatever was told."""
        self.asked.append({"namespace": namespace, "field_selector": field_selector})
        return {"items": self.told}

    def read_namespaced_pod_log(self, pod: str, namespace: str, container: str, **more: Any) -> Log:
        """Of a container that is there."""
        self.asked.append({"namespace": namespace, **more})
        if (pod, container) not in self.logs:
            raise missing(f'pods "{pod}" not found')
        return self.logs[pod, container]
