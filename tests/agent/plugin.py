"""The plugin as the agent meets it: documents of PROTOCOL.md, sent over a plain socket as the Java side does."""

import http.client
import itertools
import json
import pathlib
import socket
from typing import Any

Document = dict[str, Any]
_NUMBERS = itertools.count(1)


def query(**changes: Any) -> Document:
    """A query that runs."""
    return {
        "id": "q-1", "runId": "r-1", "name": "clicks", "root": "/c", "engine": "MicroBatch", "phase": "running",
        "epoch": 7, "committed": 41, "inFlight": 42, "problem": "", **changes,
    }  # fmt: skip


def state(**changes: Any) -> Document:
    """A driver that runs one query."""
    return {
        "number": next(_NUMBERS), "application": "spark-1",
        "serial": 0, "refusedOrders": "", "warmUp": "", "gateOpen": True,
        "drain": {"id": "", "state": "none", "problem": ""}, "queries": [query()], "unprotected": {}, **changes,
    }  # fmt: skip


def work(**changes: Any) -> Document:
    """What an executor did."""
    return {
        "tasks": 4, "failed": 0, "rows": 100, "inputBytes": 1000, "runMs": 400, "cpuMs": 300, "pythonMs": 50,
        "gcMs": 10, "localBytes": 5, "remoteBytes": 7, "fetchWaitMs": 20, "writtenBytes": 12,
        "lostMs": 30, "scanRows": 100, "scanMs": 100, "beatenMs": 0, "taskMs": [[96, 3], [112, 1]], **changes,
    }  # fmt: skip


def batch(number: int = 42, **changes: Any) -> Document:
    """A batch that ended."""
    return {
        "query": "q-1", "runId": "r-1", "name": "clicks", "batch": number, "timestamp": "2026-11-18T16:00:00.000Z",
        "rows": 200, "batchMs": 230, "partMs": {"addBatch": 180, "walCommit": 20}, "inputRowsPerSecond": 200.0,
        "processedRowsPerSecond": 870.5, "watermarkDelayMs": 1500,
        "state": {"operators": 1, "rows": 30, "bytes": 4096, "rowsDroppedByWatermark": 2},
        "sources": [{"source": "Kafka", "rows": 200, "lag": 17}, {"source": "file", "rows": 0}],
        "executors": {"1": work(), "2": work()}, "shuffledBytes": {"1": {"2": 7}}, "shuffledBytesComplete": True,
        "ownUs": 700, "crew": {"1": 4, "2": 4}, "cut": {"pieces": 8, "own": ""}, "stretch": [[96, 6], [112, 2]],
        **changes,
    }  # fmt: skip


class FakePlugin:
    """Reads port and token anew for every call."""

    def __init__(self, folder: pathlib.Path) -> None:
        self._folder = folder

    def call(self, path: str, said: Document, token: str = "") -> tuple[int, Document]:
        """Status and document."""
        port, found = ((self._folder / name).read_text() for name in ("port", "token"))
        line = http.client.HTTPConnection("127.0.0.1", int(port), timeout=10)
        try:
            line.request("POST", path, json.dumps(said), {"Authorization": f"Bearer {token or found}"})
            answer = line.getresponse()
            return answer.status, json.loads(answer.read())
        finally:
            line.close()

    def report(self, **parts: Any) -> tuple[int, Document]:
        """What is new."""
        return self.call("/v1/report", {"version": 1, "state": state(), **parts})

    def poll(self, seen: int = -1, wait_ms: int = 10_000, **changes: Any) -> tuple[int, Document]:
        """The long poll."""
        return self.call("/v1/orders", {"version": 1, "state": state(**changes), "seen": seen, "waitMs": wait_ms})

    def raw(self, sent: bytes) -> bytes:
        """Whatever comes back for these bytes."""
        return raw(self.port, sent)

    @property
    def port(self) -> int:
        """Where the agent listens."""
        return int((self._folder / "port").read_text())


def raw(port: int, sent: bytes) -> bytes:
    """All that a port of this machine answers."""
    with socket.create_connection(("127.0.0.1", port), timeout=10) as line:
        line.sendall(sent)
        line.shutdown(socket.SHUT_WR)
        return b"".join(iter(lambda: line.recv(4096), b""))
