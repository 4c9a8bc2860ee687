"""The one verifier: what every placement policy promises (:mod:`sluice_policies.contract`), for any snapshot."""

import random
from collections.abc import Callable

from sluice_policies import measures, model, moves

Planner = Callable[[model.Snapshot], moves.Plan]


def verify(plan: Planner, snapshot: model.Snapshot, levels_load: bool = False) -> moves.Plan:
    """The plan, after every promise was looked at. One that levels load may raise the cut."""
    found = plan(snapshot)
    then = found.placement(snapshot)
    nothing_lost(snapshot, found, then)
    pins_stay(snapshot, found)
    capacity_kept(snapshot, then)
    told_truly(snapshot, found, then)
    worse = (found.before.rank(), found.after.rank())
    assert worse[1][:2] <= worse[0][:2] if levels_load else worse[1] <= worse[0], worse
    assert moves.from_json(found.to_json()) == found
    assert plan(shuffled(snapshot)).to_json() == found.to_json()
    again = plan(snapshot.placed(then))
    assert again.moves == (), f"a second run moves {again.moves}"
    return found


def nothing_lost(snapshot: model.Snapshot, found: moves.Plan, then: dict[str, str]) -> None:
    """Every task has a node or a refusal, and no node that is not there."""
    refused = {refusal.task for refusal in found.refused}
    for task in snapshot.tasks:
        assert task.name in then or task.name in refused, f"{task.name} has no node and nobody says why"
        assert task.pinned or then.get(task.name) in {*snapshot.node_of, None}


def pins_stay(snapshot: model.Snapshot, found: moves.Plan) -> None:
    """Nothing pinned moves, and no move leads nowhere new."""
    for move in found.moves:
        assert not snapshot.task_of[move.task].pinned, f"{move.task} is pinned"
        assert move.source != move.target


def capacity_kept(snapshot: model.Snapshot, then: dict[str, str]) -> None:
    """No node above its capacity that was not so before, nor more than before."""
    before, after = measures.node_loads(snapshot, snapshot.placement()), measures.node_loads(snapshot, then)
    for node in snapshot.nodes:
        assert after[node.name] <= max(node.capacity, before[node.name]), f"{node.name} is overfull"


def told_truly(snapshot: model.Snapshot, found: moves.Plan, then: dict[str, str]) -> None:
    """What the plan says of itself is so."""
    now = snapshot.placement()
    assert found.before == measures.cost(snapshot, now)
    assert found.after == measures.cost(snapshot, then)
    assert all(move.source == now.get(move.task) and move.why for move in found.moves)


def shuffled(snapshot: model.Snapshot) -> model.Snapshot:
    """The same snapshot as another observer would have written it down."""
    order = random.Random(7)
    nodes, tasks, edges = list(snapshot.nodes), list(snapshot.tasks), list(snapshot.edges)
    order.shuffle(nodes)
    order.shuffle(tasks)
    order.shuffle(edges)
    return model.Snapshot(tuple(nodes), tuple(tasks), tuple(edges), snapshot.seed)
