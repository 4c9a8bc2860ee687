"""Jin et al., TPDS 2019, sentence by sentence, and what the default does instead."""

import pytest

from sluice_policies import lever, lever_published
from sluice_policies.lever_published import Group, Ratios, classify, degradation, learn, predict, reassign, transit
from sluice_policies.lever_types import Batch, Measured, State

EIGHT = [Measured(name, 100, float(seconds)) for name, seconds in zip("abcdefgh", range(8, 0, -1), strict=True)]


def test_nodes_before_the_first_quartile_are_stragglers_those_after_the_third_are_faster_the_rest_median():
    """Reference: section 3.2."""
    groups = classify(EIGHT)
    assert [name for name in groups if groups[name] is Group.STRAGGLER] == ["a", "b"]
    assert [name for name in groups if groups[name] is Group.MEDIAN] == ["c", "d", "e", "f"]
    assert [name for name in groups if groups[name] is Group.FASTER] == ["g", "h"]


def test_ftm_is_median_over_faster_and_mts_is_stragglers_over_median():
    """Reference: section 3.2."""
    assert degradation(EIGHT, classify(EIGHT)) == Ratios(ftm=4.5 / 1.5, mts=7.5 / 4.5)


@pytest.mark.parametrize(
    ("initial", "input_ratio", "final"),
    [
        pytest.param(Group.STRAGGLER, 0.51, Group.STRAGGLER, id="a straggler above 1/MTS stays one"),
        pytest.param(Group.STRAGGLER, 0.5, Group.MEDIAN, id="a straggler at 1/MTS becomes median"),
        pytest.param(Group.STRAGGLER, 0.125, Group.MEDIAN, id="a straggler at 1/(FTM*MTS) becomes median"),
        pytest.param(Group.STRAGGLER, 0.124, Group.FASTER, id="a straggler below 1/(FTM*MTS) becomes faster"),
        pytest.param(Group.MEDIAN, 2.01, Group.STRAGGLER, id="a median node above MTS becomes a straggler"),
        pytest.param(Group.MEDIAN, 2.0, Group.MEDIAN, id="a median node at MTS stays"),
        pytest.param(Group.MEDIAN, 0.25, Group.MEDIAN, id="a median node at 1/FTM stays"),
        pytest.param(Group.MEDIAN, 0.24, Group.FASTER, id="a median node below 1/FTM becomes faster"),
        pytest.param(Group.FASTER, 8.01, Group.STRAGGLER, id="a faster node above FTM*MTS becomes a straggler"),
        pytest.param(Group.FASTER, 8.0, Group.MEDIAN, id="a faster node at FTM*MTS becomes median"),
        pytest.param(Group.FASTER, 4.0, Group.MEDIAN, id="a faster node at FTM becomes median"),
        pytest.param(Group.FASTER, 3.99, Group.FASTER, id="a faster node below FTM stays"),
    ],
)
def test_table_1(initial, input_ratio, final):
    """Reference: section 3.2, Table 1, for FTM 4 and MTS 2."""
    assert transit(initial, input_ratio, Ratios(ftm=4.0, mts=2.0)) is final


def test_a_faster_node_that_gets_more_data_is_predicted_a_straggler_before_it_is_one():
    """Reference: section 3.2, "the faster nodes may possibly become stragglers in current batch"."""
    arrived = dict.fromkeys("abcdefg", 100) | {"h": 100 * 10}
    assert predict(EIGHT, arrived)["h"] is Group.STRAGGLER


def test_input_that_did_not_change_changes_no_group_even_where_faster_and_median_nodes_are_alike():
    """Table 1 to the letter calls a node at inputRatio 1 = FTM median: then nobody would help."""
    measured = [Measured("a", 100, 1.0), Measured("b", 100, 1.0), Measured("c", 100, 4.0)]
    assert predict(measured, dict.fromkeys("abc", 100)) == classify(measured)
    assert transit(Group.FASTER, 1.0, Ratios(ftm=1.0, mts=4.0)) is Group.MEDIAN


def test_capacity_starts_as_throughput_and_moves_by_c_over_t_times_the_deviation_from_the_median_time():
    """Reference: section 3.3 Eq. 1-2, Algorithm 1 lines 18-20."""
    measured = [Measured("a", 100, 4.0), Measured("b", 100, 2.0), Measured("c", 100, 1.0)]
    assert learn(State(()), measured) == {"a": 50.0, "b": 100.0, "c": 200.0}
    known = State((("a", 10.0), ("b", 20.0), ("c", 30.0)))
    assert learn(known, measured) == {"a": 10 + 10 / 4 * (2 - 4), "b": 20.0, "c": 30 + 30 / 1 * (2 - 1)}


def test_a_straggler_and_its_helpers_finish_together():
    """Reference: section 3.4.2 Eq. 9; 600 rows over capacities 1, 2 and 3."""
    groups = {"s": Group.STRAGGLER, "h": Group.FASTER, "i": Group.FASTER, "m": Group.MEDIAN}
    rows = reassign(dict.fromkeys("shim", 200), {"s": 1.0, "h": 2.0, "i": 3.0, "m": 9.0}, groups, helpers=4)
    assert rows == {"s": 100, "h": 200, "i": 300, "m": 200}


def test_nodes_in_the_median_group_do_nothing():
    """Reference: section 3.2; section 5.6 owns that this "impedes Lever's perfect load balancing"."""
    groups = {"s": Group.STRAGGLER, "m": Group.MEDIAN, "h": Group.FASTER}
    rows = reassign({"s": 90, "m": 90, "h": 90}, {"s": 1.0, "m": 100.0, "h": 2.0}, groups, helpers=4)
    assert rows["m"] == 90


def test_the_r_faster_nodes_of_the_largest_capacity_are_the_helpers():
    """Reference: section 3.4.1."""
    groups = {"s": Group.STRAGGLER, "h": Group.FASTER, "i": Group.FASTER, "k": Group.FASTER}
    rows = reassign(dict.fromkeys("shik", 60), {"s": 1.0, "h": 2.0, "i": 4.0, "k": 3.0}, groups, helpers=2)
    assert (rows["h"], rows["s"] < 60, rows["i"] > 60, rows["k"] > 60) == (60, True, True, True)


def test_a_helper_that_already_has_more_than_its_part_gives_nothing_back():
    """Eq. 9 is negative there; the paper does not say what then."""
    groups = {"s": Group.STRAGGLER, "h": Group.FASTER}
    assert reassign({"s": 10, "h": 90}, {"s": 9.0, "h": 1.0}, groups, helpers=4) == {"s": 10, "h": 90}


def test_with_the_sum_kept_current_the_second_straggler_is_relieved_too():
    """Algorithm 1 line 34 read as meant for line 33 of the next straggler."""
    groups = {"s": Group.STRAGGLER, "t": Group.STRAGGLER, "h": Group.FASTER}
    capacities = {"s": 1.0, "t": 1.0, "h": 4.0}
    assert reassign(dict.fromkeys("sth", 100), capacities, groups, 4, "letter") == {"s": 40, "t": 100, "h": 160}
    assert reassign(dict.fromkeys("sth", 100), capacities, groups, 4, "meant") == {"s": 40, "t": 52, "h": 208}


def cut_once(speed, variant, rows):
    """The batch time over its bound, after one equal batch was measured."""
    per_node = rows // len(speed)
    measured = tuple(Measured(name, per_node, per_node / rate) for name, rate in speed.items())
    shares = lever.step(State(()), Batch(measured, tuple(speed), rows), lever.Args(variant=variant)).shares
    return max(share.rows / speed[share.name] for share in shares) / (rows / sum(speed.values()))


def test_with_three_executors_the_published_cut_is_1_2_times_the_bound_and_ours_reaches_it():
    """Two at 50 % of a core and one at 12 %: the median one keeps a third of the rows."""
    speed = {"a": 50.0, "b": 50.0, "c": 12.0}
    assert cut_once(speed, "published", 112_000) == pytest.approx(1.204, abs=0.001)
    assert cut_once(speed, "all", 112_000) == pytest.approx(1.0, abs=0.001)


def test_of_two_equal_stragglers_the_published_cut_relieves_only_the_first():
    """Algorithm 1 lines 30 and 34: the helpers' rows grow, the sum over them does not."""
    speed = dict.fromkeys("abcdefgh", 10.0) | {"c": 2.0, "d": 2.0}
    measured = tuple(Measured(name, 1000, 1000 / rate) for name, rate in speed.items())
    groups = lever_published.classify(measured)
    assert [name for name in groups if groups[name] is Group.STRAGGLER] == ["c", "d"]
    published = dict(lever.step(State(()), Batch(measured, tuple(speed), 8000), lever.Args("published")).shares)
    assert (published["c"] < 300, published["d"]) == (True, 1000)
    assert cut_once(speed, "published", 8000) == pytest.approx(1000 / 2 / (8000 / 64))
    assert cut_once(speed, "all", 8000) == pytest.approx(1.0, abs=0.001)
