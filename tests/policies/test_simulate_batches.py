"""Lever's batches: bounds that can be worked by hand, and the same seed twice."""

import pytest

from sluice_policies import lever
from sluice_policies.simulate import batches
from sluice_policies.simulate.batches import Executor, Workload

STILL = Workload(rows=112_000, swing=0.0, jitter=0.0)
THREE = (Executor("a", 50.0), Executor("b", 50.0), Executor("c", 12.0))


def test_an_equal_cut_lasts_as_long_as_the_slowest_needs_for_its_part():
    assert batches.run(THREE, STILL, None, 1, seed=1)[0] == pytest.approx(112_000 / 3 / 12, rel=1e-4)


def test_ours_reaches_the_bound_in_the_second_batch_and_stays():
    times = batches.run(THREE, STILL, lever.Args(), 10, seed=1)
    assert times[1:] == [pytest.approx(batches.bound_s(THREE, STILL), rel=1e-3)] * 9


def test_the_published_cut_is_a_fifth_over_the_bound_in_the_second_batch():
    times = batches.run(THREE, STILL, lever.Args(variant="published"), 2, seed=1)
    assert times[1] / batches.bound_s(THREE, STILL) == pytest.approx(1.204, abs=0.01)


def test_what_no_cut_changes_is_added_to_every_batch():
    more = Workload(rows=112_000, swing=0.0, jitter=0.0, fixed_s=5.0)
    assert batches.run(THREE, more, None, 1, seed=1)[0] == batches.run(THREE, STILL, None, 1, seed=1)[0] + 5.0


@pytest.mark.parametrize("args", [None, lever.Args(), lever.Args(variant="published")])
def test_the_same_seed_gives_the_same_batches_and_another_one_others(args):
    cluster, load = batches.paper_cluster(), Workload()
    first = batches.run(cluster, load, args, 8, seed=5)
    assert batches.run(cluster, load, args, 8, seed=5) == first
    assert batches.run(cluster, load, args, 8, seed=6) != first


def test_the_order_of_the_executors_says_nothing():
    cluster = batches.paper_cluster()
    forward, backward = (batches.run(c, STILL, lever.Args(), 5, seed=1) for c in (cluster, cluster[::-1]))
    assert forward == backward
