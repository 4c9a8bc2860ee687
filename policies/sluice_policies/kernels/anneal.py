"""Refinement by moves and exchanges that are sometimes taken although they cost, less and less often (annealing).

Tasks take turns in the order of their numbers: what is near in time is near in memory then, so that a task of a large
graph costs hardly more than one of a small graph. A proposal: the task to the node of one of its neighbours, or now
and then to any node. If that is full, tasks of it come back in exchange, as many as needed, up to `most`. Room is never
overdrawn, so every state on the way is a plan. The best one is kept. Whether a costly proposal is taken hangs on a
table of whole numbers and one multiplication, so that every machine decides alike.
"""

from typing import NamedTuple

import numpy as np

from sluice_policies.kernels import compiled, graph, table
from sluice_policies.kernels.graph import Graph, Ints, Small
from sluice_policies.kernels.table import Table

LEVELS = 40  # of heat, from first to last
RUNGS = 1024
REACH = 256  # tasks: what a proposal's task is drawn from; their rows fit a core's cache


class Heat(NamedTuple):
    """How a search wanders."""

    first: float  # a cost of this much (bytes/s) is taken once in e times at the start
    last: float  # and at the end
    proposals: int
    most: int  # tasks that may come back for one that goes
    far_share: int  # of 1024 proposals, so many go to any node


class Mood(NamedTuple):
    """What all proposals of one level share."""

    degree: float  # a cost of 65536 times this much is taken once in e times
    far_share: int  # as in `Heat`
    back: Small  # scratch: who comes back


class Luck(NamedTuple):
    """What chance is made of."""

    dice: Ints
    rungs: Ints  # 65536 * -ln((i + 0.5) / RUNGS): how many heats a proposal may cost at the i-th draw


@compiled.kernel
def anneal(tasks: Graph, part: Small, capacity: Ints, heat: Heat, luck: Luck) -> Small:
    """The best placement met; `part` must be feasible and is used up."""
    seats = table.lay(tasks, part, capacity)
    best = part.copy()
    lead = 0  # how much less the table costs than `best`
    block = max(1, heat.proposals // LEVELS)
    degree = heat.first / 65536.0
    fall = (heat.last / heat.first) ** (1.0 / LEVELS) if heat.first > 0 else 1.0
    back = np.empty(heat.most, np.int32)
    turn = 0
    reach = min(REACH, len(tasks.load))
    for _ in range(LEVELS):
        mood = Mood(degree, heat.far_share, back)
        for _ in range(block):
            v = turn + graph.draw(luck.dice, reach)
            v = v if v < len(tasks.load) else v - len(tasks.load)
            lead -= _propose(tasks, seats, v, mood, luck)
            turn = turn + 1 if turn + 1 < len(tasks.load) else 0
        if lead > 0:
            best[:] = seats.part
            lead = 0
        degree *= fall
    return best


@compiled.inlined
def _propose(tasks: Graph, seats: Table, v: int, mood: Mood, luck: Luck) -> int:
    """One proposal; how much the cut grew."""
    here = seats.part[v]
    there = _some_node(tasks, seats, v, mood.far_share, luck.dice)
    if there == here or there >= len(seats.room):
        return 0
    back = mood.back
    count = _pick(tasks, seats, v, there, back)
    if count < 0:
        return 0
    cost = table.loss(tasks, seats.part, v, here, there)
    if count:
        seats.part[v] = there
        for i in range(count):
            cost += table.loss(tasks, seats.part, back[i], there, here)
            seats.part[back[i]] = here
        seats.part[v] = here
        for i in range(count):
            seats.part[back[i]] = there
    if cost > 0 and cost > mood.degree * luck.rungs[graph.draw(luck.dice, RUNGS)]:
        return 0
    table.shift(tasks, seats, v, there)
    for i in range(count):
        table.shift(tasks, seats, back[i], here)
    return cost


@compiled.inlined
def _some_node(tasks: Graph, seats: Table, v: int, far_share: int, dice: Ints) -> int:
    first = tasks.offset[v]
    degree = tasks.offset[v + 1] - first
    if degree == 0 or graph.draw(dice, 1024) < far_share:
        return graph.draw(dice, len(seats.room))
    return int(seats.part[tasks.target[first + graph.draw(dice, degree)]])


@compiled.inlined
def _pick(tasks: Graph, seats: Table, v: int, there: int, back: Small) -> int:
    """Tasks of the full node that make room for v and find room where it leaves: how many, or -1."""
    need = tasks.load[v] - seats.room[there]
    if need <= 0:
        return 0
    u = seats.hand[there]
    if u < 0:
        return -1
    room = seats.room[seats.part[v]] + tasks.load[v]
    count = 0
    first = u
    while count < len(back):
        if tasks.load[u] <= room and tasks.load[u] > 0:
            back[count] = u
            count += 1
            room -= tasks.load[u]
            need -= tasks.load[u]
        u = seats.after[u]
        if need <= 0 or u == first:
            break
    seats.hand[there] = u
    return count if need <= 0 else -1
