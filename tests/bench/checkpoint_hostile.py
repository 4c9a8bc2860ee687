"""A process in the agent's place that answers whatever it is told to, and keeps what the plugin said."""

import contextlib
import json
import pathlib
import socketserver
import threading
from collections.abc import Iterator
from typing import Any


class Hostile:
    """What it says, and what it heard last."""

    def __init__(self) -> None:
        self.says = b""
        self.state: dict[str, Any] = {}


def head(length: int, status: bytes = b"200 OK") -> bytes:
    """The head of an answer that claims so many bytes."""
    return b"HTTP/1.1 %b\r\nContent-Length: %d\r\n\r\n" % (status, length)


def answer(body: bytes, status: bytes = b"200 OK") -> bytes:
    """A whole answer."""
    return head(len(body), status) + body


@contextlib.contextmanager
def serving(folder: pathlib.Path) -> Iterator[Hostile]:
    """Listens where the plugin looks for its agent."""
    hostile = Hostile()

    class Handler(socketserver.StreamRequestHandler):
        def handle(self) -> None:
            lines = iter(self.rfile.readline, b"\r\n")
            lengths = [int(line.split(b":")[1]) for line in lines if line.lower().startswith(b"content-length")]
            said = json.loads(self.rfile.read(lengths[0]))
            if said.get("state", {}).get("number", 0) > hostile.state.get("number", 0):
                hostile.state = said["state"]
            with contextlib.suppress(ConnectionError):  # the plugin has heard enough
                self.wfile.write(hostile.says)

    server = socketserver.ThreadingTCPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    folder.mkdir(parents=True)
    (folder / "token").write_text("a" * 32)
    (folder / "port").write_text(str(server.server_address[1]))
    try:
        yield hostile
    finally:
        server.shutdown()
        server.server_close()
