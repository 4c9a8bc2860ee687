"""StroMAX, sentence by sentence (Jiang et al.)."""

import dataclasses

import pytest

from policies import clusters
from sluice_policies import measures, rooms, stromax


def chain(where=None):
    """Spouts a and b feed c, c feeds d."""
    return clusters.snapshot(
        {"n1": 2, "n2": 2}, ["a 1", "b 1", "c 1", "d 1"], ["a c 10", "b c 30", "c d 5"], where
    )  # fmt: skip


def scored(snapshot, task, weight):
    return stromax.scores(rooms.Rooms(snapshot, snapshot.placement()), task, weight)


def test_a_task_comes_before_those_it_feeds():
    """Reference: §3.2, Topology Linearization, rule 1; Alg. 1, lines 1-14."""
    order = stromax.linearise(chain(), {"a", "b", "c", "d"})
    assert order.index("a") < order.index("c") < order.index("d")
    assert order.index("b") < order.index("c")


def test_the_first_element_is_a_random_spout():
    """Reference: §3.2, rule 3. The seed of the snapshot is the chance."""
    first = [stromax.linearise(dataclasses.replace(chain(), seed=seed), set("abcd"))[0] for seed in (0, 1, 2)]
    assert first == ["a", "b", "a"]


def test_a_graph_that_is_not_a_dag_is_an_error():
    """Reference: Alg. 1, lines 12-14."""
    args = stromax.Args(cycles="refuse")
    with pytest.raises(ValueError, match=r"edges: a is on a cycle.*allowed is a DAG"):
        stromax.plan(clusters.shuffle(), args)


def test_by_default_a_cycle_is_broken_at_the_first_name():
    """A deviation: Spark's executors always form cycles."""
    assert stromax.linearise(clusters.shuffle(), set("abcd")) == ["a", "b", "c", "d"]


def test_bootstrap_counts_neighbours_and_weighs_them_with_idleness():
    """Reference: §3.2, Eq. 5: |P ∩ N(v)| (1 - |P| / capacity)."""
    tasks = ["a 1", "b 1", "c 1", "v 1"]
    where = {"a": "n1", "b": "n1", "c": "n2"}
    snapshot = clusters.snapshot({"n1": 4, "n2": 4}, tasks, ["a v 1", "b v 1", "c v 999"], where)
    assert scored(snapshot, "v", "count") == {"n1": 2 * (1 - 2 / 4), "n2": 1 * (1 - 1 / 4)}
    assert stromax.plan(snapshot, stromax.Args(scope="new")).placement(snapshot)["v"] == "n1"


def test_a_task_goes_to_the_node_with_less_running_tasks_if_nothing_else_tells():
    """Reference: §3.2, first intuition."""
    snapshot = clusters.snapshot({"n1": 3, "n2": 3}, ["a 1", "v 1"], [], {"a": "n1"})
    assert stromax.bootstrap(snapshot)["v"] == "n2"


def test_bootstrap_leaves_running_tasks_where_they_are():
    """Reference: §3.3, Motivation: Bootstrap "only considers the newly committed topology"."""
    plan = stromax.plan(clusters.lost_node(), stromax.Args(scope="new"))
    assert [(move.task, move.target) for move in plan.moves] == [("b", "n1")]


def test_repartition_weighs_a_neighbour_by_its_computation_cost():
    """Reference: §3.3, Eq. 10."""
    where = {"a": "n1", "b": "n2"}
    snapshot = clusters.snapshot({"n1": 10, "n2": 10}, ["a 4", "b 2", "v 1"], ["a v 1", "b v 999"], where)
    assert scored(snapshot, "v", "computation") == {"n1": 4 * (1 - 4 / 10), "n2": 2 * (1 - 2 / 10)}


def test_with_bytes_the_same_equation_follows_its_own_objective():
    """Reference: §3.3, Eq. 8: the cost is communication. Eq. 10 and this disagree on the same tasks."""
    tasks, edges = ["a 4", "b 2", "v 1"], ["a v 1", "b v 999"]
    snapshot = clusters.snapshot({"n1": 20, "n2": 20}, tasks, edges)
    literal = stromax.repartition(snapshot, stromax.Args(neighbour_weight="computation"))
    by_bytes = stromax.repartition(snapshot, stromax.Args(neighbour_weight="bytes_per_s"))
    assert literal["v"] == literal["a"]
    assert by_bytes["v"] == by_bytes["b"]


def test_repartition_takes_all_running_jobs_together():
    """Reference: §3.3: the global-topology-graph is the union of all topologies."""
    snapshot = clusters.torn_pairs()
    plan = stromax.plan(snapshot, stromax.Args(neighbour_weight="bytes_per_s"))
    assert plan.after.cut_bytes_per_s == 1
    assert plan.placement(snapshot)["a"] == plan.placement(snapshot)["b"]


def test_a_node_is_overloaded_when_it_is_above_the_mean_by_theta():
    """Reference: §3.3, Eq. 11 and the sentence below it; §5.3: 12 %."""
    snapshot = clusters.hot_node()
    assert stromax.limit(snapshot, snapshot.placement(), 0.12) == pytest.approx(1.12 * 6 / 3)


def test_the_task_with_most_traffic_to_other_nodes_leaves_first_and_goes_where_it_talks_most():
    """Reference: Alg. 2, lines 3-7. a has 90 B/s with f on n2; b has nothing outside."""
    snapshot = clusters.hot_node()
    moved, _ = stromax.reassign(snapshot, snapshot.placement())
    assert moved["a"] == "n2"


def test_reassignment_stops_when_the_load_is_below_the_threshold():
    """Reference: §3.3, last sentence; Alg. 2, line 4. With the limit at 2.24, n1 keeps two of its five."""
    snapshot = clusters.hot_node()
    moved, _ = stromax.reassign(snapshot, snapshot.placement())
    assert measures.node_loads(snapshot, moved) == {"n1": 2, "n2": 2, "n3": 2}


def test_a_larger_theta_hardly_triggers():
    """Reference: §5.3, Parameter Tuning."""
    snapshot = clusters.hot_node()
    assert stromax.reassign(snapshot, snapshot.placement(), stromax.Args(skew_share=2))[0] == snapshot.placement()


def test_reassignment_never_passes_the_overload_on():
    """A deviation: the paper checks neither capacity nor limit of the target."""
    where = dict.fromkeys("abc", "n1") | {"d": "n2"}
    snapshot = clusters.snapshot({"n1": 9, "n2": 1, "n3": 9}, [f"{t} 1" for t in "abcd"], ["a d 99"], where)
    moved, _ = stromax.reassign(snapshot, where)
    assert moved["a"] == "n3"


@pytest.mark.parametrize("wrong", [{"scope": "some"}, {"skew_share": -1.0}, {"neighbour_weight": "count"}])
def test_a_wrong_argument_is_named_with_its_value_and_what_is_allowed(wrong):
    (field, value), *_ = wrong.items()
    with pytest.raises(ValueError, match=f"{field}={value!r}: allowed is"):
        stromax.Args(**wrong)
