"""status.orders on the way into force: the good are, the others leave the last good ones as they are."""

import json
import threading
import time

import pytest

from agent import fake_api
from agent.plugin import state
from sluice_agent import client, heard, settings, watch

POD = "clicks-5f3a9c-1"
TEMPLATE = {"apiVersion": "v1", "kind": "Pod", "spec": {"containers": [{"name": "executor"}]}}


@pytest.fixture
def api():
    with fake_api.serving() as fake:
        fake.window_s = 0.05
        yield fake


@pytest.fixture
def states():
    return heard.Heard(time.monotonic)


@pytest.fixture
def told(tmp_path):
    return settings.Driver("clicks", "shop", POD, "u-1", "127.0.0.1", tmp_path, tmp_path / "seed")


@pytest.fixture
def watching(api, on, states, told, tmp_path):
    lines = []

    def connect():
        lines.append(client.Client(api.url, tmp_path))
        return lines[-1]

    yield watch.Watch(connect, told, on, states)
    for line in lines:
        line.close()


def orders(serial=1, version=1, **ours):
    return {"version": version, "serial": serial, "drivers": {POD: ours}}


def test_it_watches_its_own_streamjob_as_it_is_and_as_it_becomes(api, watching, on):
    api.order(orders(1))
    watching.look()
    assert on.orders.order == 1
    ((method, asked),) = api.asked
    path, _, query = asked.partition("?")
    assert (method, path) == ("GET", "/apis/sluice.dev/v1alpha1/namespaces/shop/streamjobs")
    assert query == "watch=1&fieldSelector=metadata.name%3Dclicks&timeoutSeconds=120"


def test_a_change_is_in_force_as_soon_as_it_is_written(api, watching, on, states):
    api.window_s = 1.5
    api.order(orders(1))
    looking = threading.Thread(target=watching.look)
    looking.start()
    seen = states.wait(0, 5)
    assert on.orders.order == 1
    api.order(orders(2, gate={"open": True}))
    states.wait(seen, 5)
    assert (on.orders.order, on.orders.words["gate"]["open"]) == (2, True)
    api.end()
    looking.join()


def test_a_job_without_orders_changes_nothing(api, watching, on):
    api.order(orders(1))
    watching.look()
    api.order(None)
    watching.look()
    assert on.orders.order == 1


REFUSED = [
    (orders(2, version=9), "orders: version is 9: this agent reads 1"),
    (orders(2, executors={"decommission": ["99"]}), "orders 2: executors.decommission is '99': allowed are executors"),
    (orders(2, gate={"epoch": float("nan")}), "the StreamJob is not JSON: NaN is no number"),
    (orders(2, padding="x" * 10_000_000), "the StreamJob has more than 4194304 bytes: its orders are not read"),
    (orders(2, executorTemplate="kind: Pod"), "orders 2: executorTemplate is not JSON"),
    ([], "orders is a list of 0: allowed is an object"),
]


@pytest.mark.parametrize(("bad", "sentence"), REFUSED, ids=[sentence[:40] for _, sentence in REFUSED])
def test_bad_orders_are_refused_with_a_sentence_and_the_last_good_ones_stay(api, watching, on, tmp_path, bad, sentence):
    api.order(orders(1, gate={"open": True}, executorTemplate=json.dumps(TEMPLATE)))
    watching.look()
    api.order(bad)
    watching.look()
    assert on.refused.startswith(sentence)
    assert (on.orders.order, json.loads((tmp_path / "executor.yaml").read_text())) == (1, TEMPLATE)
    api.order(orders(3))
    watching.look()
    assert (on.orders.order, on.refused) == (3, "")


@pytest.mark.parametrize(
    "line", [b"[]\n", b"{}\n", b'{"type": 7}\n', b'{"type": "MODIFIED", "object": 1}\n', b"\xff\n"]
)
def test_a_line_that_is_no_event_is_survived(api, watching, on, line):
    api.say(line + b"\n")
    watching.look()
    assert on.orders is None


def test_a_watch_that_ends_with_an_error_is_unavailable(api, watching):
    api.say(b'{"type": "ERROR", "object": {"message": "too old"}}\n')
    with pytest.raises(client.Unavailable, match="too old"):
        watching.look()


@pytest.mark.parametrize("status", [0, 403, 500])
def test_an_api_server_that_does_not_let_us_watch_is_unavailable_and_orders_stay(api, watching, on, status):
    api.order(orders(1))
    watching.look()
    api.failing = [status]
    with pytest.raises(client.Unavailable):
        watching.look()
    assert on.orders.order == 1


def test_an_executor_that_exists_may_leave_and_may_be_gone_while_the_order_stands(api, watching, on):
    api.add(f"{POD}-exec-2", 5)
    api.order(orders(1, executors={"total": 4, "decommission": ["2"]}))
    watching.look()
    assert on.orders.decommission == ("2",)
    api.pods.clear()
    api.order(orders(2, executors={"total": 3, "decommission": ["2"]}))
    watching.look()
    assert (on.orders.order, on.refused) == (2, "")


def test_a_restarted_agent_takes_what_the_plugin_has_carried_out_as_it_is(api, watching, on, states):
    api.order(orders(1, executors={"decommission": ["2"]}))
    watching.look()
    assert "executors.decommission is '2'" in on.refused  # nobody said yet that it is old news
    carried_out = watch.orders.read(orders(1, executors={"decommission": ["2"]}), POD)
    states.take(heard.read(state(serial=carried_out.serial)))
    watching.look()
    assert (on.orders.order, on.refused) == (1, "")


def test_refused_orders_are_looked_at_again_soon(api, watching, on):
    api.order(orders(1, executors={"decommission": ["2"]}))
    watching.look()
    api.add(f"{POD}-exec-2", 0)
    watching.look()
    assert on.orders.decommission == ("2",)
    assert "timeoutSeconds=15" in api.asked[-2][1]


def test_the_template_is_in_its_file_before_the_plugin_hears_of_the_orders(api, watching, on, tmp_path, monkeypatch):
    there = []
    monkeypatch.setattr(on, "put", lambda _: there.append((tmp_path / "executor.yaml").exists()))
    api.order(orders(1, executorTemplate=json.dumps(TEMPLATE)))
    watching.look()
    assert there == [True]


def test_a_template_that_cannot_be_written_refuses_its_orders(api, watching, on, tmp_path):
    tmp_path.chmod(0o700)
    (tmp_path / "executor.yaml").mkdir()
    api.order(orders(1, executorTemplate=json.dumps(TEMPLATE)))
    watching.look()
    assert on.refused.startswith("orders 1: the executor template cannot be written: ")
    assert on.orders is None
