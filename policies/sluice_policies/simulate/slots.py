"""Hone's experiment (section 4.4): slotted queues of one link, one tuple a slot, and the rule that picks the sender.

Called by the bench and its tests. In go the arrivals of each slot, out come the largest backlog, delays and fairness.
A backlog is counted after service, as in Eq. 1; a tuple may leave in the slot it came in.
"""

import dataclasses
from collections import deque
from collections.abc import Sequence

from sluice_policies import hone
from sluice_policies.simulate import draws

Arrivals = Sequence[Sequence[int]]
"""Per slot the queues a tuple arrived at, a queue once per tuple."""


@dataclasses.dataclass(frozen=True)
class Result:
    """What a rule did with the arrivals. Delays in slots, of the tuples that were sent."""

    largest_backlog: int
    mean_delay: float
    longest_delay: int
    sent: int
    idle_slots: int
    sampled: tuple[tuple[int, ...], ...]
    """All backlogs at the sampled slots."""


def poisson(queues: int, per_slot: float, slots: int, seed: int) -> list[list[int]]:
    """Poisson arrivals at the same rate for each queue: one stream of exponential gaps, each tuple to one by lot."""
    dice = draws.uniforms(seed)
    arrivals: list[list[int]] = [[] for _ in range(slots)]
    mean_gap = 1.0 / (queues * per_slot)
    at = draws.exponential(next(dice), mean_gap)
    while at < slots:
        arrivals[int(at)].append(int(next(dice) * queues))
        at += draws.exponential(next(dice), mean_gap)
    return arrivals


def run(queues: int, arrivals: Arrivals, rule: hone.Args, sees_arrivals: bool = True, every: int = 1000) -> Result:
    """Plays all slots. `sees_arrivals` False is Algorithm 1 to the letter: it picks before it counts what just came."""
    names = [f"q{i:04}" for i in range(queues)]
    waiting: dict[str, deque[int]] = {name: deque() for name in names}
    backlogs = dict.fromkeys(names, 0)
    last: str | None = None
    largest = idle = longest = total = sent = 0
    sampled = []
    for slot, came in enumerate(arrivals):
        turn = hone.step(backlogs, last, rule) if not sees_arrivals else None
        for queue in came:
            waiting[names[queue]].append(slot)
            backlogs[names[queue]] += 1
        last = (turn or hone.step(backlogs, last, rule)).sender
        if last is not None and backlogs[last]:
            delay = slot - waiting[last].popleft()
            backlogs[last] -= 1
            total, sent, longest = total + delay, sent + 1, max(longest, delay)
        else:
            idle += 1
        largest = max(largest, *(backlogs[names[queue]] for queue in came), 0)
        if slot % every == 0 and slot:
            sampled.append(tuple(backlogs.values()))
    return Result(largest, total / max(sent, 1), longest, sent, idle, tuple(sampled))


def fairness(backlogs: Sequence[int]) -> float:
    """Jain's index: 1 when all are equal, 1/n when one has all. All empty is as equal as can be."""
    squares = sum(backlog * backlog for backlog in backlogs)
    return sum(backlogs) ** 2 / (len(backlogs) * squares) if squares else 1.0


def halving(rounds: int, height: int) -> tuple[int, list[list[int]]]:
    """Arrivals hard for the largest backlog first: every queue gets `height`, then each round half of them again.

    Between rounds there is just time for someone who knows the future to empty the half that will be hit; whoever
    levels instead carries what it kept into the next burst. The number of queues is 2 to the rounds.
    """
    queues = 2**rounds
    arrivals = [[queue for queue in range(queues) for _ in range(height)]]
    hit = queues
    while hit > 1:
        hit //= 2
        arrivals += [[] for _ in range(hit * height - 1)]
        arrivals.append([queue for queue in range(hit) for _ in range(height)])
    return queues, arrivals
