"""Latency-based load balancing: traffic moves from slow downstream tasks to fast ones.

Called by the operator every ~15 s with what Prometheus says of the executors (the weights then scale Lever's shares),
and by the plugin's weighted round robin: in come latencies per downstream task, out go weights that add up to 1.

Paper: Du & Gupta, "New Techniques to Curtail the Tail Latency in Stream Processing Systems", DCC 2016, section 3.3.
Objective: the load-weighted latency of an operator's tasks. Cost: O(n log n).
It never moves more than one step per task and period, never empties a task, never guesses a latency.

The default (`variant="ours"`) leaves Algorithm 2 where that runs to the floor: a task slow by nature (a far node, a
slow disk) stays slow however little it gets, so the published rule takes its traffic away 1 % at a time until nothing
is left or its helpers are as slow. Ours, and the effect:
- A step that did not lower the pair's load-weighted latency is taken back, and the slow task rests. Each further
  failure makes its rest twice as long and its next step half as large, each success undoes one such doubling: probes
  cost less and less, the last bit of gain is still found, and a changed world is still noticed.
- A floor, so that every task goes on being measured. Nobody is cut off by one bad period.
- A step is a part of what the slow one carries, sized by the gap, and at most a twentieth of what the fast one does:
  1 % of all traffic is nothing to one of three tasks and everything to one of a hundred. Without that limit one step
  can push a busy task over, and its queue outlasts the step's undoing (seen in the simulator, scenario a of Table 3).
- Hysteresis: a pair starts above `thres` and goes on down to `stop`; latencies near the limit do not flap.
- Mean, p90 or p99, as `by` says. A tail lives in quantiles; a mean needs fewer samples.

The published one (:mod:`sluice_policies.latency_published`) is the control, chosen by `variant="published"`.
"""

import dataclasses
import operator
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from sluice_policies import bounds, latency_published
from sluice_policies.latency_types import Observed, Rest, Shift, State, Task

VARIANTS = ("ours", "published")
STATISTICS = ("mean", "p90", "p99")
_LONGEST_REST_PERIODS = 64


@dataclasses.dataclass(frozen=True)
class Args:
    """What to look at and how far to go. `alpha`, `thres`, `unit` and `period_s` default to the paper's section 4."""

    variant: str = "ours"
    """`ours`, or `published`: Algorithm 2, which knows only `alpha`, `thres`, `unit` and `by`."""
    by: str = "mean"
    """Which latency counts: `mean`, `p90` or `p99`."""
    period_s: float = 5.0
    """How often the caller steps, 1 to 300. Nothing here looks at a clock."""
    alpha: float = 0.5
    """How much a new latency weighs against the aged one, 0.05 to 1."""
    thres: float = 1.2
    """A pair begins to shift when slow / fast is above this, 1 to 10."""
    unit: float = 0.01
    """The published step, as a part of all traffic, 0.001 to 0.1. Only `published`."""
    stop: float = 1.1
    """A pair that shifted goes on until slow / fast is at or below this, 1 to `thres`. Only `ours`."""
    gain: float = 0.5
    """Step = gain x weight x (slow - fast) / (slow + fast), 0.05 to 1. Only `ours`."""
    most: float = 0.05
    """A step is at most this part of what its taker carries, 0.005 to 1: a taker near its limit is not pushed over.
    Only `ours`."""
    floor: float = 0.1
    """The least weight, as a part of an equal one, 0.01 to 1. Only `ours`."""

    def __post_init__(self) -> None:
        bounds.one_of("variant", self.variant, VARIANTS)
        bounds.one_of("by", self.by, STATISTICS)
        bounds.within("period_s", self.period_s, 1, 300)
        bounds.within("alpha", self.alpha, 0.05, 1)
        bounds.within("thres", self.thres, 1, 10)
        bounds.within("unit", self.unit, 0.001, 0.1)
        bounds.within("stop", self.stop, 1, self.thres)
        bounds.within("gain", self.gain, 0.05, 1)
        bounds.within("most", self.most, 0.005, 1)
        bounds.within("floor", self.floor, 0.01, 1)


class Decision(NamedTuple):
    """The weights of the next period by name, and what to hand to the next step."""

    weights: tuple[tuple[str, float], ...]
    state: State


def step(state: State, observed: Sequence[Observed], args: Args) -> Decision:
    """One monitor period. Who is not in `observed` is gone; who is new joins with the mean weight."""
    latest = _latest(observed, args.by)
    tasks = _age(_join(state.tasks, latest), latest, args.alpha)
    if args.variant == "published":
        after = State(latency_published.shift(tasks, args.thres, args.unit))
    else:
        after = _step_ours(State(tasks, state.shifts, state.rests), latest, args)
    return Decision(tuple((task.name, task.weight) for task in after.tasks), after)


def _latest(observed: Sequence[Observed], by: str) -> dict[str, float | None]:
    bounds.distinct("observed", [one.name for one in observed])
    figure = operator.attrgetter(f"{by}_ms")
    latest: dict[str, float | None] = {one.name: figure(one) for one in sorted(observed, key=operator.itemgetter(0))}
    for name, value in latest.items():
        if value is not None and not 0.0 <= value <= 1e9:
            bounds.within(f"observed[{name}].{by}_ms", value, 0.0, 1e9)
    return latest


def _join(tasks: Sequence[Task], names: Iterable[str]) -> list[Task]:
    """The tasks there are now: the dead one's weight is shared out in proportion, a new one gets the mean."""
    known = {task.name: task for task in tasks}
    stay = [known[name].weight for name in names if name in known]
    mean = sum(stay) / len(stay) if sum(stay) > 0 else 1.0
    joined = [known.get(name) or Task(name, mean, None) for name in names]
    total = sum(task.weight for task in joined) or 1.0
    return [Task(name, weight / total, aged_ms) for name, weight, aged_ms in joined]


def _age(tasks: Sequence[Task], latest: Mapping[str, float | None], alpha: float) -> tuple[Task, ...]:
    """Algorithm 2 line 5. The first latency is taken whole: an age of nothing would halve it."""
    aged = []
    for name, weight, old_ms in tasks:
        new_ms = latest[name]
        if new_ms is None or old_ms is None:
            aged.append(Task(name, weight, old_ms if new_ms is None else new_ms))
        else:
            aged.append(Task(name, weight, alpha * new_ms + (1 - alpha) * old_ms))
    return tuple(aged)


def _step_ours(state: State, latest: Mapping[str, float | None], args: Args) -> State:
    tasks = {task.name: task for task in state.tasks}
    tasks, worked, failed = _judge(tasks, state.shifts, latest)
    rests = _rest(state.rests, worked, failed, tasks)
    limits = {task: args.stop if task in worked else args.thres for task in tasks}
    shifts = _pair(tasks, latest, limits, rests, args)
    tasks = _move(tasks, [(one.slow, one.fast, one.moved) for one in shifts])
    return State(tuple(tasks.values()), shifts, rests)


def _pair_ms(tasks: Mapping[str, Task], latest: Mapping[str, float | None], slow: str, fast: str) -> float:
    """The load-weighted latency of two tasks, by the last period alone: the aged one would hide what a shift did."""
    total = tasks[slow].weight + tasks[fast].weight
    now = [tasks[name].weight * (latest[name] or tasks[name].aged_ms or 0.0) for name in (slow, fast)]
    return sum(now) / total if total > 0 else 0.0


def _judge(
    tasks: dict[str, Task], shifts: Sequence[Shift], latest: Mapping[str, float | None]
) -> tuple[dict[str, Task], frozenset[str], frozenset[str]]:
    """Takes back what did not help; the slow tasks whose shift did help, and those whose did not."""
    both_seen = [one for one in shifts if latest.get(one.slow) is not None and latest.get(one.fast) is not None]
    failed = [one for one in both_seen if _pair_ms(tasks, latest, one.slow, one.fast) >= one.before_ms]
    tasks = _move(tasks, [(one.fast, one.slow, min(one.moved, tasks[one.fast].weight)) for one in failed])
    names = frozenset(one.slow for one in failed)
    return tasks, frozenset(one.slow for one in both_seen) - names, names


def _rest(
    rests: Sequence[Rest], worked: frozenset[str], failed: frozenset[str], tasks: Mapping[str, Task]
) -> tuple[Rest, ...]:
    lengths = {rest.name: rest.length_periods for rest in rests}
    now = {rest.name: rest._replace(left_periods=max(rest.left_periods - 1, 0)) for rest in rests}
    for name in failed:
        length = min(2 * lengths.get(name, 0) or 1, _LONGEST_REST_PERIODS)
        now[name] = Rest(name, length, length)
    for name in worked & now.keys():
        now[name] = Rest(name, 0, lengths[name] // 2)
    return tuple(now[name] for name in sorted(now) if name in tasks and now[name].length_periods > 0)


def _pair(
    tasks: Mapping[str, Task],
    latest: Mapping[str, float | None],
    limits: Mapping[str, float],
    rests: Sequence[Rest],
    args: Args,
) -> tuple[Shift, ...]:
    """Lines 7-15: slowest with fastest, second slowest with second fastest, as long as the gap is wide enough."""
    resting = {rest.name for rest in rests if rest.left_periods > 0}
    shrink = {rest.name: 2 * rest.length_periods for rest in rests}
    order = sorted((task.aged_ms, task.name) for task in tasks.values() if task.aged_ms and task.name not in resting)
    least = args.floor / len(tasks) if tasks else 0.0
    shifts = []
    for (fast_ms, fast), (slow_ms, slow) in zip(order, reversed(order[-(len(order) // 2) :]), strict=False):
        gap = (slow_ms - fast_ms) / (slow_ms + fast_ms)
        wanted = args.gain / shrink.get(slow, 1) * gap * tasks[slow].weight
        moved = min(wanted, args.most * max(tasks[fast].weight, least), tasks[slow].weight - least)
        if slow_ms > fast_ms * limits[slow] and moved > 0:
            shifts.append(Shift(slow, fast, moved, _pair_ms(tasks, latest, slow, fast)))
    return tuple(sorted(shifts))


def _move(tasks: Mapping[str, Task], parts: Sequence[tuple[str, str, float]]) -> dict[str, Task]:
    """Each part of the traffic from its giver to its taker."""
    moved = dict(tasks)
    for giver, taker, part in parts:
        for name, change in ((giver, -part), (taker, part)):
            task = moved[name]
            moved[name] = Task(name, task.weight + change, task.aged_ms)
    return moved
