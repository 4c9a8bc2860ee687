"""How the bench of rebalancing judges placement, and what its Prometheus lies about."""

import json

import pytest

from bench import rebalance_cuts, rebalance_liar, rebalance_placement, rebalance_prometheus
from plan import balances, made
from sluice.observe import histograms, latencies
from sluice.values import latencies as values

SKEWED = [("1", "3", 80), ("3", "1", 80), ("2", "4", 80), ("4", "2", 80), ("1", "2", 10), ("3", "4", 10)]
NODES = {"a": 3, "b": 3, "c": 3}


def homes(*nodes):
    return {str(number): node for number, node in enumerate(nodes, 1)}


@pytest.mark.parametrize(
    ("where", "crosses"),
    [("aaaa", 0), ("abab", 20), ("aabb", 320), ("abac", 180), ("aaab", 170), ("abcd", 340)],
)
def test_what_crosses_is_what_two_nodes_exchange(where, crosses):
    assert rebalance_cuts.crossing(SKEWED, homes(*where)) == crosses


@pytest.mark.parametrize(
    ("slots", "crosses"),
    [
        ({"a": 4}, 0),
        (NODES, 20),
        ({"a": 2, "b": 2}, 20),
        ({"a": 2, "b": 1, "c": 1}, 180),
        (dict.fromkeys("abcd", 1), 340),
    ],
)
def test_the_least_that_crosses_is_found_within_the_slots(slots, crosses):
    assert rebalance_cuts.least(SKEWED, "1234", slots) == crosses


@pytest.mark.parametrize(("where", "ratio"), [("abab", 1.0), ("baba", 1.0), ("aaab", 8.5)])
def test_a_placement_is_judged_by_the_optimum_of_the_same_bytes(where, ratio):
    assert rebalance_placement.by_optimum({"pairs": SKEWED, "homes": homes(*where), "slots": NODES}) == ratio


def test_a_spread_is_told_by_how_many_are_where():
    assert rebalance_cuts.spread(homes("a", "b", "a", "c")) == "2/1/1"


def graph(pinned_on="c"):
    """Three busy executors on one node, one on another, and one beside the broker."""
    crowd = {"homes": homes(*"aaab"), "pairs": SKEWED, "busy_m": dict.fromkeys("1234", 100), "span_s": 10.0}
    beside = {"homes": {"1": "c"}, "pairs": [], "busy_m": {"1": 150}, "span_s": 10.0}
    return rebalance_cuts.graph({"crowd": crowd, "beside": beside}, dict.fromkeys("abc", 2000), pinned_on)


@pytest.mark.parametrize(("theta", "moves"), [(0.05, 0), (0.12, 1), (0.7, 0)])
def test_alg_2_moves_by_theta_what_talks_most_to_other_nodes(theta, moves):
    plan = rebalance_cuts.relieved(graph(), theta)
    assert [(move.task, move.target) for move in plan.moves] == [("crowd-2", "b")] * moves


def test_who_sits_beside_the_broker_is_pinned_there():
    assert [task.name for task in graph().tasks if task.pinned] == ["beside-1"]
    assert [edge.bytes_per_s for edge in graph().edges if edge.source == "crowd-1"] == [1, 8]


def truth():
    """Twenty tasks of each executor in the last quarter of an hour, as Prometheus has them."""
    asked_s = [made.NOW_S - 25.0, made.NOW_S - 5.0]
    series = []
    for number in "123":
        whose = {"streamjob_namespace": made.NAMESPACE, "streamjob": "clicks", "query": "clicks", "executor": number}
        for kind, value in (("count", 20), ("sum", 2.0), ("bucket", 20)):
            metric = {
                "__name__": f"{histograms.METRIC}_{kind}",
                **whose,
                **({"le": "+Inf"} if kind == "bucket" else {}),
            }
            series.append({"metric": metric, "values": [[asked_s[0], "40"], [asked_s[1], str(40 + value)]]})
    return json.dumps({"status": "success", "data": {"resultType": "matrix", "result": series}}).encode()


def shown(answer):
    """What the loop makes of it."""
    seen = balances.view()
    driver = balances.DRIVER
    asked = values.Asked(made.NAMESPACE, "clicks", driver.name, driver.uid, driver.ip, made.NOW_S - 15, 45.0)
    found = histograms.parts(latencies._series(json.loads(answer)["data"]["result"]), asked)
    return balances.judged(seen, values.Reading("Prometheus", found)).shown


def test_the_truth_is_believed():
    assert shown(rebalance_liar.answer(truth(), "honest")).reason == "Balanced"


@pytest.mark.parametrize(
    "lie", [lie for lie in rebalance_prometheus._LIES if lie.name in {*rebalance_liar.LIES, "nothing"}]
)
def test_each_lie_is_refused_in_the_words_that_are_waited_for(lie):
    found = shown(rebalance_liar.answer(truth(), lie.name))
    assert found.reason == "Refused"
    assert lie.refusal in found.message


def test_no_lie_of_the_liar_is_forgotten():
    assert {*rebalance_liar.LIES} < {lie.name for lie in rebalance_prometheus._LIES}


def test_nonsense_is_no_answer():
    with pytest.raises(ValueError, match="Expecting value"):
        json.loads(rebalance_liar.answer(truth(), "nonsense"))
