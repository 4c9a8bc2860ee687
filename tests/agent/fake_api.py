"""A real HTTP server that keeps pods as the API server does: versions, patches, and a clock of its own."""

import contextlib
import datetime
import http.server
import json
import threading
from collections.abc import Iterator
from typing import Any

GATE = "sluice.dev/place"


class FakeApi:
    """Its pods, its clock, and what it was asked."""

    def __init__(self) -> None:
        self.pods: dict[str, dict[str, Any]] = {}
        self.now_s = 1_800_000_000.0  # nobody else's time
        self.asked: list[tuple[str, str]] = []
        self.tokens: list[str | None] = []
        self.callers: list[tuple[str, int]] = []
        self.failing: list[int] = []  # statuses of the next answers; 0: hang up
        self.before_patch: Any = None
        self.url = ""

    def add(self, name: str, age_s: float, gates: tuple[str, ...] = (GATE,), **meta: Any) -> None:
        """A pod that is so old by the server's clock."""
        created = datetime.datetime.fromtimestamp(self.now_s - age_s, datetime.UTC)
        named = {"name": name, "creationTimestamp": created.strftime("%Y-%m-%dT%H:%M:%SZ"), "resourceVersion": "1"}
        spec = {"schedulingGates": [{"name": gate} for gate in gates]}
        self.pods[name] = {"metadata": {**named, **meta}, "spec": spec}

    def gates(self) -> dict[str, list[str]]:
        """What each pod waits for."""
        return {name: [gate["name"] for gate in pod["spec"]["schedulingGates"]] for name, pod in self.pods.items()}

    def answer(self, method: str, path: str, body: Any) -> tuple[int, dict[str, Any]]:
        """Status and object."""
        if method == "GET":
            return 200, {"kind": "PodList", "items": list(self.pods.values())}
        if self.before_patch:
            self.before_patch()
        pod = self.pods.get(path.rsplit("/", 1)[1])
        if pod is None:
            return 404, {"message": "not found"}
        if body["metadata"]["resourceVersion"] != pod["metadata"]["resourceVersion"]:
            return 409, {"message": "the object has been modified"}
        pod["spec"].update(body["spec"])
        pod["metadata"]["resourceVersion"] = str(int(pod["metadata"]["resourceVersion"]) + 1)
        return 200, pod


@contextlib.contextmanager
def serving() -> Iterator[FakeApi]:
    """A server that listens as long as the context is open."""
    fake = FakeApi()

    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        wbufsize = -1  # head and body in one packet

        def date_time_string(self, timestamp: float | None = None) -> str:
            return super().date_time_string(fake.now_s if timestamp is None else timestamp)

        def log_message(self, *_: object) -> None:
            """Says nothing."""

        def _serve(self) -> None:
            size = int(self.headers.get("Content-Length") or 0)
            body = json.loads(self.rfile.read(size)) if size else None
            fake.asked.append((self.command, self.path))
            fake.tokens.append(self.headers.get("Authorization"))
            fake.callers.append(self.client_address)
            failure = fake.failing.pop(0) if fake.failing else None
            if failure == 0:
                self.close_connection = True
                return
            status, said = (failure, {"message": "no"}) if failure else fake.answer(self.command, self.path, body)
            written = json.dumps(said).encode()
            self.send_response(status)
            self.send_header("Content-Length", str(len(written)))
            self.end_headers()
            self.wfile.write(written)

        do_GET = do_PATCH = _serve  # noqa: N815  # as the library calls them

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    fake.url = f"http://127.0.0.1:{server.server_port}"
    try:
        yield fake
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
