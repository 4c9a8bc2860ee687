"""TurboStream's scheduler, sentence by sentence: Wu et al., "Towards Low-Latency Data Stream Processing", §V."""

import numpy as np
import pytest

from policies import clusters
from sluice_policies import measures, turbostream
from sluice_policies.kernels import graph, split


def near(*streams):
    """The neighbours of each task; a stream is (one, other, traffic)."""
    count = 1 + max(max(a, b) for a, b, _ in streams)
    found: list[dict[int, int]] = [{} for _ in range(count)]
    for a, b, rate in streams:
        found[a][b] = found[b][a] = rate
    return found


def parts(streams, load, share=0.5, factor=0.05):
    made = turbostream._graph(near(*streams), load)
    assert isinstance(made, graph.Graph)
    chosen = split.split(made, np.arange(len(load)), split.Goal(share, factor))
    return sorted(np.flatnonzero(chosen).tolist())


def test_a_task_is_consolidated_with_the_unvisited_neighbour_it_talks_to_most():
    """Reference: §V.B, Alg. 1, lines 4-14."""
    assert turbostream.consolidate(near((0, 1, 5), (0, 2, 9), (1, 3, 4)), [1] * 4, 99) == [0, 1, 0, 1]


def test_a_task_whose_neighbours_are_all_visited_is_its_own_parent():
    """Reference: §V.B, Alg. 1, lines 15-18."""
    assert turbostream.consolidate(near((0, 1, 9), (1, 2, 5)), [1] * 3, 99) == [0, 0, 1]


def test_traffic_within_a_parent_is_ignored_and_traffic_between_parents_added_up():
    """Reference: §V.B, Alg. 1, lines 21-27; Fig. 7."""
    merged, load = turbostream._merge(near((0, 1, 9), (2, 3, 8), (0, 2, 2), (1, 3, 3)), [1, 2, 3, 4], [0, 0, 1, 1])
    assert merged == [{1: 5}, {0: 5}]
    assert load == [3, 7]


def test_a_parent_does_not_outgrow_the_largest_node():
    """A deviation: the paper knows no hard capacity."""
    assert turbostream.consolidate(near((0, 1, 9), (0, 2, 1)), [3, 3, 1], 4) == [0, 1, 0]


def test_a_split_is_balanced_and_of_the_balanced_ones_has_the_least_cut():
    """Reference: §V.C, Alg. 2. Two pairs in a ring of four: each cut along the thin streams."""
    assert parts([(0, 1, 9), (1, 2, 1), (2, 3, 9), (3, 0, 1)], [1] * 4) in ([0, 1], [2, 3])


def test_gathering_stops_at_the_target_share():
    """Reference: §V.C, Alg. 2, lines 3 and 9: target is N1 / N; one node of four gets a quarter."""
    assert len(parts([(i, i + 1, 1) for i in range(7)], [1] * 8, share=0.25)) == 2


def test_a_task_that_would_worsen_the_balance_is_skipped():
    """Reference: §V.C, Alg. 2, lines 10-15 and the text: "otherwise we skip to the next task"."""
    assert parts([(0, 1, 50), (0, 2, 1), (2, 3, 1)], [2, 9, 2, 5], factor=0.06) in ([0, 2, 3], [1])


def test_parts_that_do_not_talk_are_reached_all_the_same():
    """Reference: §V.C, Alg. 2, lines 22-24: an unvisited task is put into the queue."""
    assert len(parts([(0, 1, 1), (2, 3, 1), (4, 5, 1)], [1] * 6, share=2 / 3)) == 4


def test_without_a_balanced_split_the_most_balanced_one_counts():
    """A deviation: the paper returns nothing then."""
    assert parts([(0, 1, 1)], [1, 9]) in ([0], [1])


def test_nodes_are_halved_until_a_part_has_one():
    """Reference: §V.C. Three nodes of two and three pairs: a pair each."""
    snapshot = clusters.snapshot(
        {"n1": 2, "n2": 2, "n3": 2}, [f"{t} 1" for t in "abcdef"], ["a b 9", "c d 9", "e f 9", "b c 1", "d e 1"]
    )
    assert measures.cut(snapshot, turbostream.assign(snapshot)) == 2


def test_online_follows_the_measured_traffic_and_offline_does_not():
    """Reference: §V.D. A ring of four; only a monitor knows which two of its streams are heavy."""
    edges = ["a b 1", "b c 90", "c d 1", "d a 90"]
    snapshot = clusters.snapshot({"n1": 2, "n2": 2}, [f"{task} 1" for task in "abcd"], edges)
    assert measures.cut(snapshot, turbostream.assign(snapshot)) == 2
    assert measures.cut(snapshot, turbostream.assign(snapshot, turbostream.Args(mode="offline"))) == 180


def test_redeployment_starts_only_with_a_better_assignment():
    """Reference: §V.D."""
    assert turbostream.plan(clusters.torn_pairs()).after.cut_bytes_per_s == 1
    good = clusters.two_pairs().placed({"a": "n2", "b": "n2", "c": "n1", "d": "n1"})
    assert turbostream.plan(good).moves == ()


def test_offline_leaves_what_runs_alone():
    """Reference: §III and §V.D: off-line avoids the redeployment."""
    assert turbostream.plan(clusters.torn_pairs(), turbostream.Args(mode="offline")).moves == ()


@pytest.mark.parametrize("wrong", [{"mode": "later"}, {"parents_per_node": 0}, {"factor": 2.0}])
def test_a_wrong_argument_is_named_with_its_value_and_what_is_allowed(wrong):
    (field, value), *_ = wrong.items()
    with pytest.raises(ValueError, match=f"{field}={value!r}: allowed is"):
        turbostream.Args(**wrong)
