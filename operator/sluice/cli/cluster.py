"""The cluster as a person at the command line sees it, with that person's rights; what goes wrong is one sentence.

Objects come as JSON has them, whatever client brought them. Used by every verb that asks a cluster.
"""

import argparse
import contextlib
import json
import os
from collections.abc import Iterator
from typing import Any

import urllib3
from kubernetes import client, config

from sluice.cli import words
from sluice.values import names
from sluice.values.streamjob import Body

_ANSWER_S = 30
_EVENTS = 20


def add_words(parser: argparse.ArgumentParser, *, output: bool = True) -> None:
    """Which cluster and namespace, and what the answer looks like."""
    parser.add_argument("-n", "--namespace", default="", help="default: the one of your context")
    parser.add_argument("--context", default=None, help="of your kubeconfig; default: the current one")
    if output:
        words.add_output(parser)


class Cluster:
    """One user's view of one cluster."""

    def __init__(self, core: Any, custom: Any, namespace: str) -> None:
        self._core = core
        self._custom = custom
        self.namespace = namespace

    def jobs(self, *, everywhere: bool) -> list[Body]:
        """All StreamJobs of the namespace, or of all."""
        with _sentences("list StreamJobs"):
            if everywhere:
                found = self._custom.list_cluster_custom_object(*_OURS, names.PLURAL, _request_timeout=_ANSWER_S)
            else:
                found = self._custom.list_namespaced_custom_object(
                    *_OURS, self.namespace, names.PLURAL, _request_timeout=_ANSWER_S
                )
        return list(found["items"])

    def job(self, name: str) -> Body:
        """One StreamJob."""
        with _sentences(f"look at StreamJob {name} in namespace {self.namespace}"):
            found: Body = self._custom.get_namespaced_custom_object(
                *_OURS, self.namespace, names.PLURAL, name, _request_timeout=_ANSWER_S
            )
        return found

    def change(self, name: str, patch: Body) -> None:
        """Merges the patch into a StreamJob."""
        with _sentences(f"change StreamJob {name} in namespace {self.namespace}"):
            self._custom.patch_namespaced_custom_object(
                *_OURS, self.namespace, names.PLURAL, name, patch, _request_timeout=_ANSWER_S
            )

    def pods(self, selector: str, *, everywhere: bool = False) -> list[Body]:
        """Pods by label."""
        with _sentences("list pods"):
            if everywhere:
                found = self._core.list_pod_for_all_namespaces(label_selector=selector, _request_timeout=_ANSWER_S)
            else:
                found = self._core.list_namespaced_pod(
                    self.namespace, label_selector=selector, _request_timeout=_ANSWER_S
                )
        return _items(found)

    def nodes(self) -> list[Body]:
        """All nodes."""
        with _sentences("list nodes"):
            return _items(self._core.list_node(_request_timeout=_ANSWER_S))

    def events(self, name: str) -> list[Body]:
        """The last that was told of a StreamJob, the newest at the end."""
        about = f"involvedObject.kind={names.KIND},involvedObject.name={name}"
        with _sentences("list events"):
            found = self._core.list_namespaced_event(self.namespace, field_selector=about, _request_timeout=_ANSWER_S)
        return sorted(_items(found), key=event_at)[-_EVENTS:]

    def log(self, pod: str, container: str, tail: int | None, *, follow: bool) -> Iterator[str]:
        """The lines of a container, as they come."""
        more = {} if tail is None else {"tail_lines": tail}
        with _sentences(f"read the log of {container} in pod {pod}"):
            answer = self._core.read_namespaced_pod_log(
                pod, self.namespace, container=container, follow=follow, _preload_content=False, **more
            )
            try:
                for piece in answer.stream(decode_content=True):
                    yield piece.decode(errors="replace")
            finally:
                answer.release_conn()


_OURS = (names.GROUP, names.VERSION)


def connect(said: argparse.Namespace) -> Cluster:
    """By KUBECONFIG, or in a pod by its account; ValueError if there is neither."""
    configuration = client.Configuration()
    configuration.retries = False
    namespace = said.namespace
    try:
        if "KUBERNETES_SERVICE_HOST" in os.environ and not os.environ.get("KUBECONFIG"):
            config.load_incluster_config(configuration)
        else:
            config.load_kube_config(context=said.context, client_configuration=configuration)
            namespace = namespace or _namespace_of(said.context)
    except config.ConfigException as why:
        raise ValueError(f"no cluster to ask: {why}; KUBECONFIG names the file that says which") from None
    api = client.ApiClient(configuration)
    return Cluster(client.CoreV1Api(api), client.CustomObjectsApi(api), namespace or "default")


def event_at(event: Body) -> str:
    """When it was last told."""
    return str(event.get("lastTimestamp") or event.get("eventTime") or event["metadata"].get("creationTimestamp") or "")


def _namespace_of(context: str | None) -> str:
    contexts, current = config.list_kube_config_contexts()
    chosen = next((one for one in contexts if one["name"] == context), current)
    return str(chosen["context"].get("namespace", ""))


def _items(found: Any) -> list[Body]:
    body = client.ApiClient().sanitize_for_serialization(found)
    return list(body["items"])


@contextlib.contextmanager
def _sentences(what: str) -> Iterator[None]:
    """ValueError with a sentence for whatever the API server refuses, OSError where it does not answer."""
    try:
        yield
    except client.ApiException as why:
        raise ValueError(_refusal(what, why)) from None
    except urllib3.exceptions.HTTPError as why:
        raise OSError(f"cannot {what}, the API server does not answer: {why}") from None


def _refusal(what: str, why: client.ApiException) -> str:
    try:
        said = json.loads(why.body or "")
        message = str(said["message"])
    except (TypeError, ValueError, KeyError):
        if why.status == 404:
            return "this cluster knows no StreamJobs; install the chart first: charts/sluice"
        message = f"{why.status} {why.reason}"
    if why.status == 404:
        return f"cannot {what}: there is none"
    return f"cannot {what}: {message}"
