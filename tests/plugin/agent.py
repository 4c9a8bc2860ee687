"""An agent that only talks: it gives the orders a test sets, and keeps what the plugin says. See PROTOCOL.md."""

import contextlib
import http.server
import json
import pathlib
import secrets
import threading
import time
import typing
from collections.abc import Callable
from typing import Any

Document = dict[str, Any]


class FakeAgent:
    """Serves on loopback; its folder is what the driver's environment names."""

    def __init__(self, folder: pathlib.Path) -> None:
        self.folder = folder
        self.batches: list[Document] = []
        self.states: list[tuple[float, Document]] = []
        self.unmanaged: list[str] = []
        self.balance: Document = {}  # what is answered to a batch, beside its query
        self._orders: Document = {"version": 1, "serial": 1, "gate": {"open": True}}
        self._news = threading.Condition()
        self._ended = False
        self._token = secrets.token_hex(16)
        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._server.daemon_threads = True

    def __enter__(self) -> typing.Self:
        self.folder.mkdir(parents=True, exist_ok=True)
        (self.folder / "token").write_text(self._token)
        (self.folder / "port").write_text(str(self._server.server_address[1]))
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended = True
        self._server.shutdown()
        self._server.server_close()

    def order(self, **parts: object) -> None:
        """Changes parts of the orders, and says them at once; a part that is None goes."""
        with self._news:
            orders = {**self._orders, **parts, "serial": self._orders["serial"] + 1}
            self._orders = {part: value for part, value in orders.items() if value is not None}
            self._news.notify_all()

    @property
    def state(self) -> Document:
        """The last state the plugin told."""
        with self._news:
            return self.states[-1][1] if self.states else {}

    def wait(self, what: Callable[[Document], object], within_s: float = 180) -> Document:
        """The first state from now on of which `what` is true."""
        deadline_s = time.monotonic() + within_s
        with self._news:
            while not (self.states and what(self.states[-1][1])):
                left_s = deadline_s - time.monotonic()
                if left_s <= 0:
                    raise TimeoutError(f"not within {within_s} s; the last state was {self.states[-1:]}")
                self._news.wait(left_s)
            return self.states[-1][1]

    def answer(self, path: str, said: Document) -> Document:
        """What the plugin gets for what it said."""
        with self._news:
            if "batch" in said:
                self.batches.append(said["batch"])
            if "unmanaged" in said:
                self.unmanaged.append(said["unmanaged"])
            if "state" in said and said["state"]["number"] > self._newest(said["state"]["application"]):
                self.states.append((time.time(), said["state"]))
            self._news.notify_all()
            if path == "/v1/orders":
                deadline_s = time.monotonic() + said["waitMs"] / 1000
                while self._orders["serial"] == said["seen"] and time.monotonic() < deadline_s:
                    self._news.wait(deadline_s - time.monotonic())
                return self._orders
            balance = {"query": said["batch"]["query"], **self.balance} if "batch" in said else None
            return {"version": 1, **({"balance": balance} if balance else {})}

    def _newest(self, application: str) -> int:
        numbers = [state["number"] for _, state in self.states[-20:] if state["application"] == application]
        return max(numbers, default=0)

    def _handler(self) -> type[http.server.BaseHTTPRequestHandler]:
        agent = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"  # as with the real agent, a line serves for many calls
            wbufsize = -1  # and an answer is one packet

            def do_POST(self) -> None:
                if agent._ended:  # its own handler; on a line that was kept
                    self.close_connection = True
                    return
                said = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                if self.headers["Authorization"] != f"Bearer {agent._token}":
                    self.send_error(401)
                    return
                body = json.dumps(agent.answer(self.path, said)).encode()
                self.send_response(200)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                with contextlib.suppress(BrokenPipeError, ConnectionResetError):  # the driver ended meanwhile
                    self.wfile.write(body)

            def log_message(self, *_: object) -> None:
                """Nothing on the terminal."""

        return Handler
