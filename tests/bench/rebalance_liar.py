"""A Prometheus that lies: hands on what the real one answers, changed as it was told last. It runs in a pod.

`/lie/<name>` says which lie from now on. `make bench NAME=rebalance` asks for it through the API server.
"""

import http.server
import json
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from typing import Any

PORT = 9090
_SLOW_S = 10.0
_HOUR_S = 3600.0
_ANSWER_S = 30.0
Series = dict[str, Any]  # labels as `metric`, samples as `values`: pairs of a moment and a number as text


def _at(by_s: float) -> Callable[[Series], Series]:
    return lambda one: {**one, "values": [[at_s + by_s, value] for at_s, value in one["values"]]}


def _labelled(name: str, word: str) -> Callable[[Series], Series]:
    return lambda one: {**one, "metric": {**one["metric"], name: word + one["metric"][name]}}


LIES: dict[str, Callable[[Series], Series]] = {
    "nan": lambda one: {**one, "values": [[at_s, "NaN"] for at_s, _ in one["values"]]},
    "reset": lambda one: {**one, "values": [*one["values"][:-1], [one["values"][-1][0], "0"]]},
    "ahead": _at(_HOUR_S),
    "behind": _at(-_HOUR_S),
    "job": _labelled("streamjob", "another-"),
    "executor": _labelled("executor", "9"),
}


def answer(real: bytes, lie: str) -> bytes:
    """What is said instead."""
    if lie == "nonsense":
        return b"<html>It works!</html>"
    if lie not in {*LIES, "nothing"}:
        return real
    told = json.loads(real)
    found = [] if lie == "nothing" else [LIES[lie](one) for one in told["data"]["result"]]
    return json.dumps({**told, "data": {**told["data"], "result": found}}).encode()


class Handler(http.server.BaseHTTPRequestHandler):
    """Of one request."""

    real, lie = "", "nothing"  # until it is told one: the truth would shift input before the first lie

    def do_GET(self) -> None:
        """A query, or a lie to tell from now on."""
        first, _, rest = self.path.lstrip("/").partition("/")
        if first == "lie":
            Handler.lie = rest
            self._say(200, f"{rest}\n".encode())
            return
        if Handler.lie == "slow":
            time.sleep(_SLOW_S)
        try:
            with urllib.request.urlopen(Handler.real + self.path, timeout=_ANSWER_S) as said:
                self._say(200, answer(said.read(), Handler.lie))
        except urllib.error.HTTPError as why:
            self._say(why.code, why.read())

    def _say(self, status: int, body: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


if __name__ == "__main__":
    Handler.real = sys.argv[1]
    http.server.ThreadingHTTPServer(("", PORT), Handler).serve_forever()
