"""A Prometheus as far as one query goes: scrapes pages, answers over HTTP, lies in every way that was thought of.

with prometheus.FakePrometheus(now_s) as fake:
    fake.scrape(page, at_s, pod="clicks-1", instance="10.0.0.1:7080")
    fake.lie = prometheus.LIES["a count went backwards"]
    client(fake.url)
"""

import copy
import http.server
import json
import re
import threading
import urllib.parse
from collections.abc import Callable
from typing import Any, Self

from prometheus_client import parser

Body = dict[str, Any]
Lie = Callable[[list[Body]], Any]
_MATCHER = re.compile(r'(\w+)(=~|=)"([^"]*)"')
_RANGE = re.compile(r"\{(.*)\}\[(\d+)s\]")


class FakePrometheus:
    """On a port of its own as long as the context is open."""

    def __init__(self, now_s: Callable[[], float]) -> None:
        self.lie: Lie = lambda result: result
        self.skew_s = 0.0  # of its clock
        self.status = 200
        self.garbage = b""  # the answer, if it is not empty
        self.anywhere = False  # it answers for others, too
        self.open = threading.Event()  # it answers only while this is set
        self.open.set()
        self.asked: list[str] = []
        self._now_s = now_s
        self._kept: dict[tuple[tuple[str, str], ...], list[tuple[float, float]]] = {}

    def __enter__(self) -> Self:
        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.01})
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.open.set()
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    @property
    def url(self) -> str:
        """Where it listens."""
        return f"http://127.0.0.1:{self.port}"

    @property
    def port(self) -> int:
        """The same, for whoever knows the rest."""
        return int(self._server.server_address[1])

    def scrape(self, page: str, **target: str) -> None:
        """What stands on a page now, with the labels of where it is from."""
        at_s = self._now_s() + self.skew_s
        for family in parser.text_string_to_metric_families(page):
            for sample in family.samples:
                labels = {"__name__": sample.name, **sample.labels, **target}
                self._kept.setdefault(tuple(sorted(labels.items())), []).append((at_s, sample.value))

    def answer(self, query: str) -> tuple[int, bytes]:
        """Status and body."""
        self.asked.append(query)
        self.open.wait(10)
        if self.garbage:
            return self.status, self.garbage
        body = {"status": "success", "data": {"resultType": "matrix", "result": self.lie(self._select(query))}}
        return self.status, json.dumps(body).encode()

    def _select(self, query: str) -> list[Body]:
        matched = _RANGE.fullmatch(query)
        assert matched, query
        wanted, now_s = _MATCHER.findall(matched[1]), self._now_s() + self.skew_s
        found = []
        for key, samples in self._kept.items():
            labels = dict(key)
            inside = [[at_s, repr(value)] for at_s, value in samples if now_s - int(matched[2]) < at_s <= now_s]
            if inside and all(_matches(labels.get(name, ""), how, text) for name, how, text in wanted):
                found.append({"metric": labels, "values": inside})
        return found


def _matches(value: str, how: str, text: str) -> bool:
    return value == text if how == "=" else re.fullmatch(text, value) is not None


def _handler(fake: FakePrometheus) -> type[http.server.BaseHTTPRequestHandler]:
    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked = urllib.parse.urlsplit(self.path)
            query = urllib.parse.parse_qs(asked.query).get("query", [""])[0]
            status, body = fake.answer(query) if fake.anywhere or asked.path == "/api/v1/query" else (404, b"")
            self.send_response(status)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:  # on stderr it would only be in the way
            pass

    return Handler


def _changed(which: str, change: Callable[[list[list[Any]]], None]) -> Lie:
    """One kind of line of the first executor is another."""

    def lie(result: list[Body]) -> list[Body]:
        found = copy.deepcopy(result)
        first = min(one["metric"]["executor"] for one in found)
        for one in found:
            if one["metric"]["__name__"].endswith(which) and one["metric"]["executor"] == first:
                change(one["values"])
        return found

    return lie


def _relabelled(**labels: str) -> Lie:
    return lambda result: [{**one, "metric": {**one["metric"], **labels}} for one in result]


def _put(at: int, text: str) -> Callable[[list[list[Any]]], None]:
    def change(values: list[list[Any]]) -> None:
        values[at][1] = text

    return change


def _later(shift_s: float) -> Lie:
    return lambda result: [
        {**one, "values": [[at_s + shift_s, value] for at_s, value in one["values"]]} for one in result
    ]


def _without(executor: str) -> Lie:
    return lambda result: [one for one in result if one["metric"]["executor"] != executor]


LIES: dict[str, Lie] = {
    "nothing at all": lambda _: [],
    "a number that is none": _changed("_sum", _put(-1, "NaN")),
    "an endless number": _changed("_sum", _put(-1, "+Inf")),
    "a count went backwards": _changed("_count", _put(-1, "0")),
    "all began anew in between": lambda result: [
        {**one, "values": [one["values"][0], [one["values"][-1][0] - 1, "0"], one["values"][-1]]} for one in result
    ],
    "an hour late": _later(-3600),
    "an hour ahead": _later(3600),
    "another job": _relabelled(streamjob="views"),
    "another namespace": _relabelled(streamjob_namespace="other"),
    "another driver": _relabelled(pod="clicks-of-before"),
    "an executor nobody knows": _relabelled(executor="77"),
    "one executor is missing": _without("2"),
    "everything twice": lambda result: [*result, *copy.deepcopy(result)],
    "a sum that its buckets do not allow": _changed("_sum", _put(-1, "1e-9")),
    "fewer in the buckets than there are": _changed("_bucket", _put(-1, "1e9")),
    "no job's labels": lambda result: [
        {**one, "metric": {name: text for name, text in one["metric"].items() if not name.startswith("streamjob")}}
        for one in result
    ],
}
ODD: dict[str, Lie] = {
    "no series but text": lambda _: ["clicks"],
    "an answer of another kind": lambda result: [{"metric": one["metric"], "value": [0, "1"]} for one in result],
    "a value that is text": lambda result: [{**one, "values": [[0, "fast"]]} for one in result],
    "a result that is none": lambda _: None,
}
