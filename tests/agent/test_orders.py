"""The operator's orders are read whole or not at all, and a refusal says which field, what it is, what is allowed."""

import json
import math

import pytest

from sluice_agent import documents, orders

POD = "clicks-5f3a9c-1"
TEMPLATE = json.dumps({"apiVersion": "v1", "kind": "Pod", "spec": {"containers": [{"name": "executor"}]}})


def status_orders(serial=42, version=1, **ours):
    return {"version": version, "serial": serial, "drivers": {POD: ours}}


def test_what_is_absent_is_not_wanted():
    found = orders.read(status_orders(), POD)
    assert found.document == {
        "version": 1,
        "serial": found.serial,
        "gate": {"open": False, "epoch": 0},
        "executors": {"total": 0, "decommission": []},
        "warmUp": False,
        "preload": False,
    }


def test_everything_that_can_be_said_reaches_the_plugin_in_its_own_words():
    said = {
        "gate": {"open": True, "epoch": 7},
        "drain": {"id": "handover-3", "timeoutMs": 60000, "calmMs": 10000, "stop": True},
        "executors": {"total": 4, "decommission": ["2"]},
        "warmUp": True,
        "preload": True,
    }
    found = orders.read(status_orders(**said, executorTemplate=TEMPLATE), POD)
    assert {key: found.document[key] for key in said} == said
    assert (found.order, found.template, found.decommission) == (42, TEMPLATE, ("2",))


CUTS = [
    ({"act": True, "lever": True}, {"whole": False}),
    ({"act": True, "lever": True, "whole": True}, {"whole": True}),
    ({"act": True, "weights": {"1": 0.5}}, {"whole": False}),
    ({"act": True, "timeout": True}, None),
    ({"lever": True}, None),
    (None, None),
]


@pytest.mark.parametrize(("balance", "cut"), CUTS)
def test_a_querys_first_batch_is_cut_in_equal_parts_where_the_next_ones_are_cut(balance, cut):
    said = {} if balance is None else {"balance": balance}
    assert orders.read(status_orders(**said), POD).document.get("cut") == cut


@pytest.mark.parametrize("none", [None, {"version": 1, "serial": 1}, {"version": 1, "drivers": {"other": {}}}])
def test_a_driver_that_is_not_named_has_no_orders(none):
    assert orders.read(none, POD) is None


def test_the_same_words_have_the_same_serial_whatever_is_said_to_others_and_whoever_restarted():
    first = orders.read(status_orders(1, gate={"open": True}), POD)
    later = {**status_orders(2, gate={"epoch": 0, "open": True}, fromALaterRelease=1), "another": [1]}
    later["drivers"]["other"] = {"gate": {"open": False}}
    assert orders.read(later, POD).serial == first.serial
    assert orders.read(status_orders(3, gate={"open": False}), POD).serial != first.serial


WRONG = [
    ({"version": 2}, "orders: version is 2: this agent reads 1"),
    ({"version": True}, "orders: version is True: this agent reads 1"),
    ({"version": 1.0}, "orders: version is 1.0: this agent reads 1"),
    ({"serial": -1}, "orders.serial is -1: allowed is a whole number from 0 to 9007199254740991"),
    ({"serial": math.nan}, "orders.serial is nan: allowed is a whole number"),
    ({"gate": "open"}, "orders 42: gate is 'open': allowed is an object"),
    ({"gate": {"open": 1}}, "orders 42: gate.open is 1: allowed is true or false"),
    ({"gate": {"epoch": math.nan}}, "orders 42: gate.epoch is nan: allowed is a whole number from 0"),
    ({"gate": {"epoch": 1e300}}, "orders 42: gate.epoch is 1e+300: allowed is"),
    ({"gate": {"epoch": True}}, "orders 42: gate.epoch is True: allowed is"),
    ({"drain": {}}, "orders 42: drain.timeoutMs is missing: allowed is a whole number from 0 to 86400000"),
    ({"drain": {"id": "a b", "timeoutMs": 1}}, "orders 42: drain.id is 'a b': allowed is 1 to 64 letters"),
    ({"drain": {"id": "d", "timeoutMs": 86400001}}, "orders 42: drain.timeoutMs is 86400001: allowed is"),
    ({"drain": []}, "orders 42: drain is a list of 0: allowed is an object"),
    ({"executors": {"total": 1001}}, "orders 42: executors.total is 1001: allowed is a whole number from 0 to 1000"),
    (
        {"executors": {"decommission": "2"}},
        "orders 42: executors.decommission is '2': allowed is a list of at most",
    ),
    ({"executors": {"decommission": ["../x"]}}, "orders 42: executors.decommission is '../x': allowed is the numbers"),
    ({"executors": {"decommission": [{}]}}, "orders 42: executors.decommission is an object of 0: allowed is"),
    ({"executorTemplate": {}}, "orders 42: executorTemplate is an object of 0: allowed is text of 131072 characters"),
    ({"executorTemplate": "x" * 131073}, "orders 42: executorTemplate is 131073: allowed is text"),
    ({"executorTemplate": "kind: Pod"}, "orders 42: executorTemplate is not JSON: Expecting value"),
    ({"executorTemplate": '{"a": NaN}'}, "orders 42: executorTemplate is not JSON: NaN is no number"),
    ({"executorTemplate": '{"a": 1e999}'}, "orders 42: executorTemplate is not JSON: 1e999 is no number"),
    ({"executorTemplate": '{"a": 1, "a": 2}'}, "orders 42: executorTemplate is not JSON: 'a' stands twice"),
    ({"executorTemplate": "[" * 100_000}, "orders 42: executorTemplate is nested too deeply to be read"),
    ({"executorTemplate": "\ud800"}, "orders 42: executorTemplate is not JSON"),
    ({"executorTemplate": "{}"}, "orders 42: executorTemplate is an object of 0: allowed is a v1 Pod as JSON"),
    (
        {"executorTemplate": '{"apiVersion": "v1", "kind": "Pod"}'},
        "orders 42: executorTemplate.spec.containers is a",
    ),
    ({"padding": "x" * (512 << 10)}, "orders have 524"),
]


@pytest.mark.parametrize(("part", "sentence"), WRONG, ids=[sentence[:60] for _, sentence in WRONG])
def test_one_bad_field_refuses_all_of_it(part, sentence):
    with pytest.raises(documents.Wrong) as why:
        orders.read(status_orders(**part), POD)
    assert str(why.value).startswith(sentence)
    assert len(str(why.value)) < 400


GARBAGE = [[], "orders", 7, True, {}, {"version": 1, "drivers": []}, {"version": 1, "drivers": {"a/b": {}}}]


@pytest.mark.parametrize("garbage", GARBAGE)
def test_what_is_no_document_is_refused(garbage):
    with pytest.raises(documents.Wrong, match=r"^orders"):
        orders.read(garbage, POD)
