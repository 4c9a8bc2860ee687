"""A real HTTP server that keeps pods, a Lease and a StreamJob as the API server does; its clock is its own."""

import contextlib
import datetime
import functools
import http.server
import json
import threading
import urllib.parse
from collections.abc import Iterator
from typing import Any

GATE = "sluice.dev/place"


class FakeApi:
    """Its objects, its clock, and what it was asked."""

    def __init__(self) -> None:
        self.pods: dict[str, dict[str, Any]] = {}
        self.lease: dict[str, Any] | None = {"metadata": {"name": "clicks", "resourceVersion": "1"}, "spec": {}}
        self.now_s = 1_800_000_000.0  # nobody else's time
        self.asked: list[tuple[str, str]] = []
        self.tokens: list[str | None] = []
        self.callers: list[tuple[str, int]] = []
        self.failing: list[int] = []  # statuses of the next answers; 0: hang up
        self.away = False  # hangs up on everybody
        self.before_patch: Any = None
        self.url = ""
        self.window_s = 30.0  # of quiet, after which a watch ends
        self._line = _event({"metadata": {"name": "clicks"}})
        self._news = threading.Condition()
        self._ended = False

    def add(self, name: str, age_s: float, gates: tuple[str, ...] = (GATE,), **meta: Any) -> None:
        """A pod that is so old by the server's clock."""
        created = datetime.datetime.fromtimestamp(self.now_s - age_s, datetime.UTC)
        named = {"name": name, "creationTimestamp": created.strftime("%Y-%m-%dT%H:%M:%SZ"), "resourceVersion": "1"}
        spec = {"schedulingGates": [{"name": gate} for gate in gates]}
        self.pods[name] = {"metadata": {**named, **meta}, "spec": spec}

    def gates(self) -> dict[str, list[str]]:
        """What each pod waits for."""
        return {name: [gate["name"] for gate in pod["spec"]["schedulingGates"]] for name, pod in self.pods.items()}

    def order(self, orders: Any) -> None:
        """The operator writes status.orders."""
        self.say(_event({"metadata": {"name": "clicks"}, "status": {"orders": orders}}))

    def say(self, line: bytes) -> None:
        """Every watch gets this line, those to come as well."""
        with self._news:
            self._line = line
            self._news.notify_all()

    def cut(self) -> None:
        """Nobody is answered any more, and all watches end."""
        with self._news:
            self.away = True
            self._news.notify_all()

    def back(self) -> None:
        """Answers again."""
        self.away = False

    def end(self) -> None:
        """Lets every watch go."""
        with self._news:
            self._ended = True
            self._news.notify_all()

    def said_by(self, pod: str) -> dict[str, Any]:
        """A pod's annotation of the Lease; empty when there is none."""
        noted = (self.lease or {})["metadata"].get("annotations") or {}
        return dict(json.loads(noted.get(f"agent.sluice.dev/{pod}", "{}")))

    def lines(self, wait_s: float) -> Iterator[bytes]:
        """A watch."""
        line = b""
        while True:
            with self._news:
                here = self._news.wait_for(functools.partial(self._differs, line), wait_s)
                line = self._line
            if not here or self._ended or self.away:
                return
            yield line

    def _differs(self, line: bytes) -> bool:
        return self._ended or self.away or self._line is not line

    def answer(self, method: str, path: str, body: Any) -> tuple[int, dict[str, Any]]:
        """Status and object."""
        url = urllib.parse.urlsplit(path)
        if method == "GET" and url.path.endswith("/pods"):
            return 200, {"kind": "PodList", "items": list(self.pods.values())}
        is_lease = "/leases/" in url.path
        there = self.lease if is_lease else self.pods.get(url.path.rsplit("/", 1)[1])
        if there is None:
            return 404, {"message": "not found"}
        if method == "GET":
            return 200, there
        return self._patched(there, body, is_lease)

    def _patched(self, there: dict[str, Any], body: Any, is_lease: bool) -> tuple[int, dict[str, Any]]:
        if self.before_patch:
            self.before_patch()
        if not is_lease and there not in self.pods.values():
            return 404, {"message": "not found"}
        meta = there["metadata"] if is_lease else self.pods[there["metadata"]["name"]]["metadata"]
        if body["metadata"].get("resourceVersion", meta["resourceVersion"]) != meta["resourceVersion"]:
            return 409, {"message": "the object has been modified"}
        there["spec"].update(body.get("spec") or {})
        noted = {**(meta.get("annotations") or {}), **(body["metadata"].get("annotations") or {})}
        if noted:
            meta["annotations"] = {name: text for name, text in noted.items() if text is not None}
        meta["resourceVersion"] = str(int(meta["resourceVersion"]) + 1)
        return 200, there


def _event(job: dict[str, Any]) -> bytes:
    return json.dumps({"type": "MODIFIED", "object": job}).encode() + b"\n"


@contextlib.contextmanager
def serving() -> Iterator[FakeApi]:
    """A server that listens as long as the context is open."""
    fake = FakeApi()
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), _handler(fake))
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    fake.url = f"http://127.0.0.1:{server.server_port}"
    try:
        yield fake
    finally:
        fake.end()
        server.shutdown()
        server.server_close()
        thread.join()


def _handler(fake: FakeApi) -> type[http.server.BaseHTTPRequestHandler]:
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
            failure = 0 if fake.away else fake.failing.pop(0) if fake.failing else None
            if failure == 0:
                self.close_connection = True
            elif failure:
                self._say(failure, {"message": "no"})
            elif "watch=1" in self.path:
                self._watch(fake.lines(fake.window_s))
            else:
                self._say(*fake.answer(self.command, self.path, body))

        def _say(self, status: int, said: dict[str, Any]) -> None:
            written = json.dumps(said).encode()
            self.send_response(status)
            self.send_header("Content-Length", str(len(written)))
            with contextlib.suppress(ConnectionError):  # the agent was killed meanwhile
                self.end_headers()
                self.wfile.write(written)

        def _watch(self, lines: Iterator[bytes]) -> None:
            self.close_connection = True
            self.send_response(200)
            self.send_header("Transfer-Encoding", "chunked")
            self.end_headers()
            with contextlib.suppress(ConnectionError):  # the agent has enough
                for line in lines:
                    self.wfile.write(b"%x\r\n%s\r\n" % (len(line), line))
                    self.wfile.flush()
                self.wfile.write(b"0\r\n\r\n")
                self.wfile.flush()

        do_GET = do_PATCH = _serve  # noqa: N815  # as the library calls them

    return Handler
