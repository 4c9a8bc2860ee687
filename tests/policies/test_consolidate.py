"""The default placer: which moves on which cluster, what it says when none help, and its slow twin."""

import dataclasses
import itertools
import random

import pytest

from policies import clusters
from sluice_policies import consolidate, measures, model, packing


def targets(plan):
    return {move.task: move.target for move in plan.moves}


HOME = {"a": "n1", "b": "n1", "c": "n2", "d": "n2"}
SWAPPED = [{"b": "n1", "c": "n2"}, {"a": "n2", "d": "n1"}]  # as good as each other
CASES = {
    "brings torn pairs together with two moves": (clusters.torn_pairs, {}, SWAPPED),
    "leaves alone what sits well": (lambda: clusters.two_pairs().placed(HOME), {}, [{}]),
    "exchanges two where there is no room for one": (clusters.near_broker, {}, [{"a": "n1", "b": "n2"}]),
    "does not move for less than the price": (clusters.near_broker, {"price": 5.0}, [{}]),
    "places the lost task beside what it talks to": (clusters.lost_node, {}, [{"b": "n1"}]),
    "relieves an overloaded node where that costs least": (clusters.overloaded_node, {}, [{"c": "n2"}]),
    "follows no broker that sits elsewhere": (clusters.broker_elsewhere, {}, [{"a": "n1"}]),
    "spreads nothing that fits together": (clusters.shuffle, {}, None),
    "finds the only way to fit": (clusters.awkward, {}, [HOME]),
}  # fmt: skip


@pytest.mark.parametrize("level", ["fast", "best"])
@pytest.mark.parametrize(("make", "args", "allowed"), CASES.values(), ids=CASES)
def test_consolidate(make, args, allowed, level):
    plan = consolidate.plan(make(), consolidate.Args(level=level, **args))
    if allowed is None:
        assert plan.after.cut_bytes_per_s == 0
    else:
        assert targets(plan) in allowed


SHORT = {
    "no_nodes": "there is no node",
    "too_much": "capacity is short by 1: the tasks' load is 4, the nodes have room for 3",
    "too_large": "a has a load of 4, the roomiest node has room for 3",
    "impossible": "the sum of the loads fits, but no way to divide the tasks keeps every capacity",
}


@pytest.mark.parametrize("name", clusters.INFEASIBLE)
def test_says_which_constraint_is_short(name):
    plan = consolidate.plan(clusters.ALL[name])
    assert plan.refused[0].why == SHORT[name]


def test_an_exact_search_that_runs_out_of_steps_says_that_it_does_not_know():
    nodes = {f"n{i}": 1000 for i in range(12)}
    dice = random.Random(3)
    tasks = [f"t{i:02} {dice.randrange(201, 420)}" for i in range(60)]
    odd = clusters.snapshot(nodes, tasks)
    spare = sum(node.capacity for node in odd.nodes) - sum(task.load for task in odd.tasks)
    last = clusters.snapshot(nodes, tasks[: len(tasks) + min(0, spare) // 100])
    answer = packing.search(last)
    assert answer.where is not None or answer.why


def random_cluster(seed):
    """Up to 8 tasks on up to 3 nodes, some with a broker."""
    dice = random.Random(seed)
    nodes = [model.Node(f"n{i}", dice.randrange(2, 7)) for i in range(dice.randrange(2, 4))]
    tasks = [model.Task(f"t{i}", dice.randrange(1, 4)) for i in range(dice.randrange(3, 9))]
    if dice.random() < 0.3:
        tasks.append(model.Task("broker", 1, node="n0", pinned=True))
    pairs = list(itertools.combinations([task.name for task in tasks], 2))
    edges = [model.Edge(a, b, dice.randrange(1, 99)) for a, b in pairs if dice.random() < 0.6]
    return model.Snapshot(tuple(nodes), tuple(tasks), tuple(edges), seed)


def brute_force(snapshot):
    """The least cut of all placements that keep every capacity, by trying them all; None if there is none."""
    free = [task for task in snapshot.tasks if not task.pinned]
    pinned = {task.name: task.node for task in snapshot.tasks if task.pinned}
    least = None
    for seats in itertools.product([node.name for node in snapshot.nodes], repeat=len(free)):
        where = pinned | {task.name: seat for task, seat in zip(free, seats, strict=True)}
        loads = measures.node_loads(snapshot, where)
        if all(loads[node.name] <= node.capacity for node in snapshot.nodes):
            cut = measures.cut(snapshot, where)
            least = cut if least is None else min(least, cut)
    return least


@pytest.mark.parametrize("seed", range(40))
def test_both_levels_find_what_trying_everything_finds(seed):
    snapshot = random_cluster(seed)
    least = brute_force(snapshot)
    for level in ("fast", "best"):
        plan = consolidate.plan(snapshot, consolidate.Args(level=level))
        if least is None:
            assert plan.refused
        else:
            assert (plan.refused, plan.after.cut_bytes_per_s) == ((), least)


def test_ten_tasks_too():
    tasks = [f"t{i} 1" for i in range(10)]
    edges = [f"t{i} t{j} {1 + i * j % 7}" for i, j in itertools.combinations(range(10), 2)]
    snapshot = clusters.snapshot({"n1": 5, "n2": 5}, tasks, edges)
    assert consolidate.plan(snapshot).after.cut_bytes_per_s == brute_force(snapshot)


def test_another_seed_may_give_another_plan_but_not_a_dearer_one_here():
    plans = [consolidate.plan(dataclasses.replace(clusters.shuffle(), seed=seed)) for seed in range(5)]
    assert {plan.after.cut_bytes_per_s for plan in plans} == {0}


@pytest.mark.parametrize("wrong", [{"level": "better"}, {"price": -0.1}, {"least_gain": 0.0}])
def test_a_wrong_argument_is_named_with_its_value_and_what_is_allowed(wrong):
    (field, value), *_ = wrong.items()
    with pytest.raises(ValueError, match=f"{field}={value!r}: allowed is"):
        consolidate.Args(**wrong)
