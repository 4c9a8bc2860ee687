"""Nonsense on loopback: a hostile process in the agent's place, and orders no operator would write.

Each must be refused with a sentence, and the job goes on; afterwards good orders are obeyed as ever.
"""

import functools
import json
import math
import socket
from collections.abc import Callable

from agent import fake_api
from bench import checkpoint_hostile, checkpoint_stage, ledger, outcome
from plugin import beside, drivers, storage

_PATIENCE_S = 120
_HUGE = 10 << 20
_GOOD = {"version": 1, "serial": 1, "gate": {"open": True}}


def run(book: ledger.Ledger) -> outcome.Outcome:
    """Both ends."""
    plugin = checkpoint_stage.once(book, "garbage for the plugin", _for_the_plugin)
    agent = checkpoint_stage.once(book, "garbage for the agent", _for_the_agent)
    table = outcome.Table(
        "Nonsense: was it refused with a sentence, and did batches go on?",
        ("what", "to the plugin", "to the agent"),
        tuple(
            (
                name,
                *("-" if name not in found else "yes" if found[name] else "NO" for found in (plugin, agent)),
            )
            for name in dict.fromkeys([*plugin, *agent])
        ),
    )
    wrong = sum(value == 0 for found in (plugin, agent) for value in found.values())
    return outcome.Outcome((table,), (outcome.Bar("garbage-not-refused-or-job-held-up", wrong, 0),))


def _answers() -> dict[str, tuple[bytes, str]]:
    """What the hostile process answers, and a part of the sentence it must get."""
    body = checkpoint_hostile.answer

    def field(**fields: object) -> bytes:
        return body(json.dumps({**_GOOD, "serial": 2, **fields}).encode())

    return {
        "no HTTP": (b"hello, how are you?\r\n\r\n", "not HTTP"),
        "random bytes": (bytes(range(256)) * 40, "not HTTP"),
        "nothing": (b"", "ends within its head"),
        "10 MB": (checkpoint_hostile.head(_HUGE) + b"x" * _HUGE, "Content-Length is more than 1048576"),
        "a length that is none": (b"HTTP/1.1 200 OK\r\nContent-Length: -5\r\n\r\n", "or no number"),
        "no length": (b"HTTP/1.1 200 OK\r\n\r\n{}", "says no Content-Length"),
        "endless headers": (b"HTTP/1.1 200 OK\r\n" + b"a: b\r\n" * 100_000, "more than 64 headers"),
        "an endless line": (b"HTTP/1.1 200 OK\r\nx: " + b"y" * _HUGE, "a line of more than"),
        "half an answer": (checkpoint_hostile.head(100) + b"{}", "ends after 2 of 100 bytes"),
        "another status": (body(b"{}", b"503 Busy"), "with status 503"),
        "no JSON": (body(b"gate: open"), "not JSON"),
        "no object": (body(b"[1]"), "not a JSON object"),
        "deep nesting": (body(b"[" * 500_000), "not JSON"),
        "NaN": (body(b'{"version": 1, "serial": NaN}'), "not JSON"),
        "a field twice": (body(b'{"version": 1, "version": 1}'), "not JSON"),
        "another version": (field(version=2), "this plugin reads 1"),
        "a number too large": (body(b'{"version": 1, "serial": 1e400}'), "serial is"),
        "wrong types": (field(gate=[True]), "gate is an array"),
        "a drain without a name": (field(drain={"timeoutMs": 1}), "drain.id is none"),
        "a drain for ever": (field(drain={"id": "x", "timeoutMs": 1 << 60, "stop": True}), "timeoutMs is"),
        "too many executors": (field(executors={"total": 1_000_000}), "total is '1000000'"),
        "executors that are none": (field(executors={"decommission": [{}]}), "decommission is an object"),
    }


def _for_the_plugin() -> dict[str, float]:
    with checkpoint_stage.standing() as stage, checkpoint_hostile.serving(stage.folder / "agent") as hostile:
        job = checkpoint_stage.job(stage, master="local[2]")
        checkpoint = storage.Checkpoint.of(job)
        found: dict[str, float] = {}
        hostile.says = checkpoint_hostile.answer(json.dumps(_GOOD).encode())
        with drivers.Driver(job, "a", stage.folder / "agent") as driver:
            _goes_on(driver, checkpoint)
            for name, (said, sentence) in _answers().items():
                hostile.says = said
                found[name] = _holds(driver, functools.partial(_is_told, hostile, sentence))
                _goes_on(driver, checkpoint)
            strangers = {**_GOOD, "serial": 3, "executors": {"decommission": ["99", "no-such"]}}
            hostile.says = checkpoint_hostile.answer(json.dumps(strangers).encode())
            found["unknown executors"] = _holds(driver, lambda: hostile.state.get("serial") == 3)
            _goes_on(driver, checkpoint)
            drain = {"id": "end", "timeoutMs": 60_000, "stop": True}
            hostile.says = checkpoint_hostile.answer(json.dumps({**_GOOD, "serial": 4, "drain": drain}).encode())
            found["good orders are obeyed afterwards"] = driver.end() == "ended"
        return found


def _orders() -> dict[str, tuple[bytes, str]]:
    """Lines of the watch, and a part of the sentence that must stand in the annotation."""

    def line(**ours: object) -> bytes:
        return _line({"version": 1, "serial": 7, "drivers": {beside.POD: {"gate": {"open": True}, **ours}}})

    return {
        "no JSON": (b"gate: open\n", "not JSON"),
        "10 MB": (line(warmUp="x" * _HUGE), "bytes"),
        "many small orders of 10 MB": (
            _line({"version": 1, "serial": 7, "drivers": {f"d-{n}": {} for n in range(60_000)}}),
            "bytes",
        ),
        "NaN": (line(drain={"id": "x", "timeoutMs": math.nan}), "not JSON"),
        "another version": (_line({"version": 2, "serial": 7}), "this agent reads 1"),
        "wrong types": (line(gate=[True]), "gate is"),
        "a drain for ever": (line(drain={"id": "x", "timeoutMs": 1 << 50}), "drain.timeoutMs"),
        "executors that are none": (line(executors={"decommission": ["../1"]}), "executors.decommission"),
        "unknown executors": (line(executors={"decommission": ["99"]}), "allowed are executors of this driver"),
        "too many executors": (line(executors={"total": 1_000_000}), "executors.total"),
        "a template that is none": (line(executorTemplate="{}"), "executorTemplate"),
    }


def _line(orders: object) -> bytes:
    event = {"type": "MODIFIED", "object": {"metadata": {"name": "clicks"}, "status": {"orders": orders}}}
    return json.dumps(event).encode() + b"\n"


def _for_the_agent() -> dict[str, float]:
    with checkpoint_stage.standing() as stage, fake_api.serving() as api:
        api.window_s = 2.0  # a watch that got nonsense is opened again soon
        shared = beside.folder(stage.folder / "shared")
        beside.order(api, 1, gate={"open": True})
        process = beside.start(api, shared)
        job = checkpoint_stage.job(stage, master="local[2]")
        checkpoint = storage.Checkpoint.of(job)
        found: dict[str, float] = {}
        try:
            with drivers.Driver(job, "a", shared) as driver:
                _goes_on(driver, checkpoint)
                for name, (said, sentence) in _orders().items():
                    api.say(said)
                    found[name] = _holds(driver, functools.partial(_is_noted, api, sentence))
                    _goes_on(driver, checkpoint)
                _shout(int((shared / "port").read_text()))
                beside.order(api, 9, gate={"open": True}, drain={"id": "end", "timeoutMs": 60_000, "stop": True})
                found["good orders are obeyed afterwards"] = driver.end() == "ended"
        finally:
            beside.kill(process)
        return found


def _is_told(hostile: checkpoint_hostile.Hostile, sentence: str) -> bool:
    return sentence in hostile.state.get("refusedOrders", "")


def _is_noted(api: fake_api.FakeApi, sentence: str) -> bool:
    return sentence in api.said_by(beside.POD).get("refused", "")


def _shout(port: int) -> None:
    """A process without the token, at the agent's own port."""
    for said, _ in _answers().values():
        with socket.create_connection(("127.0.0.1", port), 5) as peer:
            peer.settimeout(5)
            try:
                peer.sendall(b"POST /v1/report HTTP/1.1\r\n" + said)
            except OSError:
                continue  # hung up on in the middle: that is an answer, too


def _goes_on(driver: drivers.Driver, checkpoint: storage.Checkpoint) -> None:
    """Batches are committed, whatever is said."""
    reached = checkpoint.last("commits")
    driver.until(lambda: checkpoint.last("commits") > reached + 1, _PATIENCE_S)


def _holds(driver: drivers.Driver, what: Callable[[], object]) -> bool:
    """Whether it comes true in time; a driver that dies meanwhile is no answer but a failure."""
    try:
        driver.until(what, 45)
    except TimeoutError:
        if driver.process.poll() is not None:
            raise
        return False
    return True
