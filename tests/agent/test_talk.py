"""The plugin's side of the agent: PROTOCOL.md as it is written, and whatever else may come over loopback."""

import contextlib
import http.client
import json
import pathlib
import socket
import threading
import time

import pytest

from agent import loops, waiting
from agent.plugin import FakePlugin, batch, query, state
from sluice_agent import balance, board, folder, heard, listen, orders, talk, tally

TOKEN = "t" * 32


@pytest.fixture
def loop():
    with loops.Loop() as found:
        yield found


@pytest.fixture
def states():
    return heard.Heard(time.monotonic)


@pytest.fixture
def sums():
    return tally.Tally(time.monotonic)


@pytest.fixture
def on(loop, states):
    async def make():
        return board.Board(states.ring)

    return loop.run(make())


@pytest.fixture
def plugin(loop, on, states, sums, tmp_path):
    port = loop.serve(talk.Talk(TOKEN, on, states, sums, balance.Balancer(on)).service)
    folder.Folder(tmp_path).introduce(port, TOKEN)
    return FakePlugin(tmp_path)


def ordered(serial=1, **ours):
    found = orders.read({"version": 1, "serial": serial, "drivers": {"d": ours}}, "d")
    assert found
    return found


def later(work, *words):
    """Begun now; its result is waited for by calling."""
    found = []
    thread = threading.Thread(target=lambda: found.append(work(*words)))
    thread.start()

    def result():
        thread.join(10)
        return found[0]

    return result


def test_a_report_without_a_batch_is_answered_with_nothing_but_the_version(plugin):
    assert plugin.report() == (200, {"version": 1})


def test_a_batch_is_taken_and_answered_with_how_to_cut_the_next(plugin, on, states, sums):
    on.put(ordered(balance={"act": True, "lever": True}))
    status, answer = plugin.report(batch=batch(42))
    assert (status, set(answer["balance"]["shares"])) == (200, {"1", "2"})
    assert (states.phase, states.state.queries[0].committed, sums.queries["clicks"].last.batch) == ("Running", 41, 42)


def test_a_plugin_that_knows_neither_warm_queries_nor_times_of_commits_is_heard_all_the_same(plugin, states):
    plugin.report()
    (found,) = states.state.queries
    assert (found.warm, found.committed_at_ms, found.first_commit_at_ms) == (False, 0, 0)


def test_a_driver_that_runs_as_plain_spark_says_why(plugin, states):
    plugin.call("/v1/report", {"version": 1, "unmanaged": "Spark 3.5 is not known here"})
    assert (states.phase, states.unmanaged) == ("Unmanaged", "Spark 3.5 is not known here")


def test_of_two_states_the_one_written_last_counts_whatever_order_they_arrive_in(plugin, states):
    older, newer, of_another = state(), state(gateOpen=False), state(number=1, application="spark-2")
    plugin.report(state=newer)
    plugin.report(state=older)
    assert states.state.gate_open is False
    plugin.report(state=of_another)
    assert states.state.application == "spark-2"


def test_orders_not_seen_yet_are_given_at_once(plugin, on):
    on.put(ordered(gate={"open": True}))
    status, found = plugin.poll()
    assert (status, found["gate"]) == (200, {"open": True, "epoch": 0})


def test_a_poll_waits_for_other_orders_and_has_them_the_moment_they_come(plugin, on):
    first, second = ordered(), ordered(gate={"open": True})
    on.put(first)
    answer = later(plugin.poll, first.serial)
    on.put(second)
    assert answer() == (200, second.document)


def test_a_poll_that_waited_long_enough_gets_the_same_again(plugin, on):
    on.put(ordered())
    assert plugin.poll(ordered().serial, wait_ms=20) == (200, ordered().document)


def test_without_a_word_from_the_operator_the_plugin_gets_none_and_its_news_are_taken(plugin, states):
    status, found = plugin.poll(wait_ms=20, queries=[query(phase="gate")], gateOpen=False)
    assert (status, found["problem"]) == (503, "the operator has given no orders for this driver yet")
    assert states.phase == "Waiting"


def test_the_first_orders_reach_a_poll_that_waits_for_them(plugin, on, states):
    answer = later(plugin.poll)
    states.wait(0, 5)  # the poll has come
    on.put(ordered())
    assert answer()[0] == 200


def head(line="POST /v1/report HTTP/1.1", length="2", token=TOKEN, more=""):
    return f"{line}\r\nAuthorization: Bearer {token}\r\nContent-Length: {length}\r\n{more}\r\n".encode()


GARBAGE = {
    "no HTTP": (b"\x00\xff hello\r\n\r\n", 400, "this is no HTTP/1.1 request"),
    "TLS": (b"\x16\x03\x01\x02\x00\r\n\r\n", 400, "this is no HTTP/1.1 request"),
    "another version": (head("POST /v1/report HTTP/2.0"), 400, "this is no HTTP/1.1 request"),
    "a head without end": (b"POST /v1/report HTTP/1.1\r\n" + b"a: b\r\n" * 3000, 431, "more than 8192 bytes"),
    "many headers": (head(more="a: b\r\n" * 100), 431, "more than 64 headers"),
    "a bad header": (head(more="no colon\r\n"), 400, "a header is no name and value"),
    "an unknown path": (head("POST /metrics HTTP/1.1"), 404, "there is /v1/orders and /v1/report"),
    "another method": (head("GET /v1/orders HTTP/1.1"), 405, "only POST is spoken here"),
    "no token": (b"POST /v1/report HTTP/1.1\r\nContent-Length: 2\r\n\r\n{}", 401, "the token is not"),
    "a wrong token": (head(token="x" * 32), 401, "the token is not"),
    "a token that is no ASCII": (head(token="é"), 401, "the token is not"),
    "10 MB": (head(length="10000000"), 413, "the body has 10000000 bytes: allowed are 2097152"),
    "a length that is none": (head(length="-1"), 400, "Content-Length is no number"),
    "a length in other digits": (head(length="²"), 400, "Content-Length is no number"),
    "chunks": (head(more="Transfer-Encoding: chunked\r\n"), 411, "a Content-Length is needed"),
    "no JSON": (head() + b"{]", 400, "the document is not JSON"),
    "no UTF-8": (head() + b"\xff\xfe", 400, "the document is not JSON"),
    "a list": (head() + b"[]", 400, "the document is a list of 0: allowed is an object"),
    "no version": (head() + b"{}", 400, "the document: version is missing: this agent reads 1"),
}


@pytest.mark.parametrize("what", GARBAGE)
def test_garbage_is_refused_with_a_sentence_and_the_next_report_is_taken(plugin, what):
    sent, status, sentence = GARBAGE[what]
    answer = plugin.raw(sent)
    assert answer.startswith(f"HTTP/1.1 {status} ".encode())
    assert sentence in json.loads(answer.partition(b"\r\n\r\n")[2])["problem"]
    assert plugin.report()[0] == 200


WRONG = [
    ({"version": 2}, "the document: version is 2"),
    ({"state": {"queries": 1}}, "state.queries is 1: allowed is a list of at most"),
    ({"state": []}, "state is a list of 0: allowed is an object"),
    ({"state": state(number=None)}, "state.number is missing: allowed is a whole number"),
    ({"state": state(serial="1")}, "state.serial is '1': allowed is a whole number"),
    ({"state": state(serial=1e400)}, "Infinity is no number"),
    ({"state": state(gateOpen="yes")}, "state.gateOpen is 'yes'"),
    ({"state": state(drain={"state": "over"})}, "state.drain.state is 'over': allowed is none, draining, quiet"),
    ({"state": state(queries=[[]])}, "state.queries is a list of 0: allowed is a list of objects"),
    ({"state": state(queries=[query(phase="up")])}, "state.queries.phase is 'up'"),
    ({"state": state(queries=[query(id='a"b\n')])}, "state.queries.id is"),
    ({"state": state(queries=[query(warm=1)])}, "state.queries.warm is 1: allowed is true or false"),
    ({"state": state(queries=[query(committedAtMs="now")])}, "state.queries.committedAtMs is 'now'"),
    ({"state": state(queries=[query(firstCommitAtMs=-1)])}, "state.queries.firstCommitAtMs is -1"),
    ({"state": state(unprotected={"q": 1})}, "state.unprotected.q is 1: allowed is text"),
    ({"batch": []}, "batch is a list of 0"),
    ({"batch": batch(batchMs=float("nan"))}, "NaN is no number"),
    ({"batch": batch(rows="many")}, "batch.rows is 'many': allowed is a number"),
    ({"batch": batch(sources=[1])}, "batch.sources is a list of 1: allowed is a list of objects"),
    ({"batch": batch(executors={"../1": {}})}, "batch.executors is '../1'"),
    ({"batch": batch(executors={str(n): {} for n in range(1001)})}, "batch.executors is an object of 1001"),
    ({"batch": batch(executors={"1": {"taskMs": [[1]]}})}, "batch.executors.taskMs is a list of 1: allowed is pairs"),
]


@pytest.mark.parametrize(("parts", "sentence"), WRONG, ids=[sentence[:50] for _, sentence in WRONG])
def test_a_document_with_one_bad_field_changes_nothing(plugin, states, sums, parts, sentence):
    status, found = plugin.report(**{"batch": batch(), **parts})
    assert (status, sentence in found["problem"]) == (400, True), found
    assert (states.state, sums.queries, sums.refused) == (None, {}, 1)


@pytest.mark.parametrize("part", [{"seen": "no"}, {"seen": -2}, {"waitMs": 60_001}, {"waitMs": None}])
def test_a_poll_that_makes_no_sense_is_refused(plugin, part):
    assert plugin.call("/v1/orders", {"version": 1, "state": state(), "seen": -1, "waitMs": 1, **part})[0] == 400


def test_a_state_without_end_is_cut_to_what_is_bearable(plugin, states):
    many = [query(id=f"q-{n}", phase="ended", problem="x" * 5000) for n in range(100)]
    plugin.report(state=state(queries=[*many, query()]))
    kept = states.state.queries
    assert (len(kept), kept[0].phase, len(kept[1].problem)) == (heard.MOST_QUERIES, "running", 300)


@pytest.mark.parametrize("sent", [b"", b"POST /v1/rep", head(length="100") + b"{"], ids=["none", "a head", "a body"])
@pytest.mark.usefixtures("plugin")
def test_who_dawdles_is_told_so_and_sent_away(monkeypatch, tmp_path, sent):
    monkeypatch.setattr(listen, "_READ_S", 0.1)
    with socket.create_connection(("127.0.0.1", int((tmp_path / "port").read_text())), timeout=5) as line:
        line.sendall(sent)
        assert line.recv(20).startswith(b"HTTP/1.1 408")


REPORT = json.dumps({"version": 1, "state": state()}).encode()


@pytest.fixture
def line(plugin):
    with socket.create_connection(("127.0.0.1", plugin.port), timeout=5) as found:
        yield found


def asked(line, sent):
    line.sendall(sent)
    return line.recv(4096)


def test_one_line_serves_for_many_calls(line):
    for _ in range(3):
        assert asked(line, head(length=len(REPORT)) + REPORT).startswith(b"HTTP/1.1 200")


def test_a_line_that_is_idle_is_closed_without_a_word(line, monkeypatch):
    monkeypatch.setattr(listen, "_READ_S", 0.1)
    asked(line, head(length=len(REPORT)) + REPORT)
    assert line.recv(1) == b""


@pytest.mark.parametrize(
    "last",
    [head(length=2) + b"{}", head(length=len(REPORT), more="Connection: close\r\n") + REPORT,
     head("POST /v1/report HTTP/1.0", len(REPORT)) + REPORT],
    ids=["refused", "asked to", "HTTP/1.0"],
)  # fmt: skip
def test_a_line_ends_with_a_refusal_and_where_the_caller_wants_it(line, last):
    asked(line, head(length=len(REPORT)) + REPORT)
    assert b"Connection: close" in asked(line, last)
    assert line.recv(1) == b""


def test_who_leaves_in_the_middle_is_no_trouble(plugin):
    assert plugin.raw(head(length="100") + b"{") == b""
    assert plugin.report()[0] == 200


def test_a_flood_of_silent_peers_is_bounded_and_the_plugin_is_heard_once_they_are_gone(plugin, tmp_path):
    where = ("127.0.0.1", int((tmp_path / "port").read_text()))
    silent = [socket.create_connection(where, timeout=5) for _ in range(talk.MOST_CONNECTIONS)]
    with socket.create_connection(where, timeout=5) as one_more:
        assert one_more.recv(1) == b""
    for line in silent:
        line.close()
    waiting.until(lambda: heard_by(plugin))


def heard_by(plugin):
    """Whether the server has seen that the others are gone."""
    with contextlib.suppress(http.client.HTTPException, ConnectionError):
        return plugin.report()[0] == 200


def test_port_and_token_appear_whole_and_for_the_folders_group_alone(tmp_path):
    (tmp_path / "port").symlink_to("/etc/passwd")  # as a hostile driver might leave it
    folder.Folder(tmp_path).introduce(1234, TOKEN)
    assert (tmp_path / "port").read_text() == "1234"
    assert not (tmp_path / "port").is_symlink()
    assert mode(tmp_path / "token") == 0o644
    tmp_path.chmod(0o2770)
    folder.Folder(tmp_path).introduce(1234, TOKEN)
    assert mode(tmp_path / "token") == 0o640
    assert sorted(file.name for file in tmp_path.iterdir()) == ["port", "token"]


def mode(file: pathlib.Path) -> int:
    return file.stat().st_mode & 0o777


def test_a_token_is_as_the_protocol_has_it_and_another_each_time():
    one, other = folder.new_token(), folder.new_token()
    assert one != other
    assert len(one) >= 16
    assert set(one) <= set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-")
