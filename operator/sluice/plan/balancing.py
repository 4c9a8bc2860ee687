"""The latency loop's decision: from task times to weights, or a sentence that says why there is no move. Pure.

Every 15 s for a job with a micro-batch query, called by :mod:`sluice.balance`. The policy is
:mod:`sluice_policies.latency`, as it is. It waits for whatever is faster or slower than itself: until Lever's shares
have settled, and until no driver or executor is on its way. What is measured decides nothing that is missing, old,
contradictory or another's.
"""

import dataclasses
from collections.abc import Iterator, Mapping, Sequence

from sluice.plan import crew, inside, orders, weights
from sluice.values import balances, driver_state, handoff, latencies, names, records, reports, views
from sluice_policies import latency
from sluice_policies.latency_types import Observed, State, Task

KIND = "Rebalance"  # of decisions
PERIOD_S = 15.0
_OLD_S = 2 * PERIOD_S
_PATIENT_S = 300.0  # so long tasks are waited for; as long as the longest window
_YOUNG_S = 60.0  # an executor has to end its first tasks
_FEWEST = {"mean": 3, "p90": 10, "p99": 100}  # tasks of each executor
_MOST = 1e9  # of milliseconds, or of tasks: the policy's own limit
_ON_ITS_WAY = "the job is on its way to what its spec wants"
_NOTHING_YET = "nothing was measured yet"


@dataclasses.dataclass(frozen=True)
class Memory:
    """What is known of a job from one period to the next; of an operator that has just begun, the weights in force."""

    shown: balances.Balance
    state: State
    since_s: float  # since 1970; what was measured before does not count


@dataclasses.dataclass(eq=False)
class _Refused(Exception):
    """Why what was measured moves nothing."""

    cause: str  # as one word, for a metric
    sentence: str
    lies: bool = True  # it is not to be believed; else it may yet come


def driver(view: views.JobView) -> records.Pod | None:
    """Whose executors are to be looked at; None: there is nothing for this loop to do."""
    spec = view.job.spec
    if spec.rebalance.mode == "Off" or not spec.rebalance.latency or spec.real_time:
        return None
    name = driver_state.read(view.job.status).pod
    found = next((pod for pod in orders.living(view) if pod.name == name and pod.name in orders.told(view)), None)
    return found if found and found.ip and found.phase == "Running" and _queries(view, found) else None


def asked(view: views.JobView, pod: records.Pod, memory: Memory) -> latencies.Asked:
    """What to read."""
    window_s = min(_PATIENT_S, view.now_s - memory.since_s) + _OLD_S  # and the last sample before it
    return latencies.Asked(view.job.namespace, view.job.name, pod.name, pod.uid, pod.ip, memory.since_s, window_s)


def remembered(view: views.JobView, pod: records.Pod, memory: Memory | None) -> Memory:
    """What is known of this driver; of another one nothing."""
    if memory is not None and memory.shown.driver == pod.name:
        return memory
    found = weights.in_force(orders.told(view)[pod.name])
    tasks = tuple(Task(name, found[name], None) for name in sorted(found))
    shown = balances.Balance(pod.name, "Waiting", _NOTHING_YET, found, view.now_s)
    return Memory(shown, State(tasks), view.now_s)


def waits(view: views.JobView, pod: records.Pod) -> str:
    """What has to come to rest before anything is measured; nothing if all is."""
    said = inside.heard(view, pod)
    if handoff.read(view.job.status).on:
        return "another driver takes over"
    progressing = (c for c in view.job.status.get("conditions", ()) if c["type"] == "Progressing")
    if any(c["status"] == "True" or c["reason"] in ("Rolling", "Scaling") for c in progressing):
        return _ON_ITS_WAY
    if said is None or said.phase != "Running":
        return "the driver drains" if said and said.phase != "Silent" else "the driver says nothing"
    cut = _cut(view, pod)
    if not cut:
        return unsaid(_queries(view, pod)) or "no input is cut"
    moving = [one.name for one in cut if one.settled is not True] if view.job.spec.rebalance.lever else []
    return f"Lever's shares of {moving[0]} have not settled" if moving else ""


def unsaid(queries: Sequence[reports.Query]) -> str:
    """That the driver does not say what it does with the input of one; nothing if it does."""
    found = [one.name for one in queries if one.split is None]
    return f"the driver does not say whether the input of {found[0]} is cut" if found else ""


def wait(view: views.JobView, memory: Memory, why: str) -> Memory:
    """Nothing that was measured until now counts; what was not judged yet never will be."""
    shown = dataclasses.replace(memory.shown, reason="Waiting", message=why, what="", cause="")
    return Memory(shown, memory.state._replace(shifts=()), view.now_s)


def judge(view: views.JobView, pod: records.Pod, memory: Memory, reading: latencies.Reading) -> Memory:
    """The next weights, or those in force and why."""
    working = sorted((crew.number(one) for one in _working(view, pod)), key=int)
    if len(working) < 2:
        return _shown(view, memory, "Balanced", "one executor has all of the input")
    try:
        observed = _observed(view, pod, working, reading)
    except _Refused as why:
        if not why.lies and view.now_s - memory.since_s < _PATIENT_S:
            waited = memory.shown.reason == "Waiting"
            return _shown(view, memory, "Waiting", _NOTHING_YET) if waited else memory
        found = _shown(view, memory, "Refused", f"{why.sentence}: nothing is shifted", why.cause)
        return dataclasses.replace(found, since_s=view.now_s)
    return _stepped(view, memory, observed)


def _queries(view: views.JobView, pod: records.Pod) -> list[reports.Query]:
    said = inside.heard(view, pod)
    return [one for one in (said.queries if said else ()) if one.phase == "running" and one.engine != "RealTime"]


def _cut(view: views.JobView, pod: records.Pod) -> list[reports.Query]:
    return [one for one in _queries(view, pod) if one.split == ""]


def _working(view: views.JobView, pod: records.Pod) -> list[records.Pod]:
    mine = (one for one in view.pods if one.role == names.EXECUTOR and one.owner_uid == pod.uid)
    return [one for one in mine if one.phase == "Running" and not one.deleting and crew.number(one).isdecimal()]


def _observed(
    view: views.JobView, pod: records.Pod, working: Sequence[str], reading: latencies.Reading
) -> list[Observed]:
    """One latency for each executor; of several queries, each counts by its part of all tasks."""
    parts = _believed(view, pod, reading)
    by = view.job.spec.rebalance.by
    rows = [(one.name, [parts.get((one.name, number)) for number in working]) for one in _cut(view, pod)]
    counted = [[part for part in row if part] for _, row in rows if not any(_lacking(part, by) for part in row)]
    if not counted:
        raise _missing(view, pod, working, rows)
    shares = [sum(part.tasks for part in row) for row in counted]
    times = [
        sum(share * (_figure(row[at], by) or 0.0) for share, row in zip(shares, counted, strict=True)) / sum(shares)
        for at in range(len(working))
    ]
    return [_latency(number, by, time_ms) for number, time_ms in zip(working, times, strict=True)]


def _latency(number: str, by: str, time_ms: float) -> Observed:
    """The others nobody asks for."""
    found: dict[str, float | None] = {"mean": None, "p90": None, "p99": None, by: time_ms}
    return Observed(number, found["mean"], found["p90"], found["p99"])


def _believed(
    view: views.JobView, pod: records.Pod, reading: latencies.Reading
) -> Mapping[tuple[str, str], latencies.Part]:
    """By query and executor; raises if one is not to be believed, for then neither is what stands beside it."""
    source = reading.source
    if reading.problem:
        raise _Refused("LatencyUnread", reading.problem)
    if not reading.parts:
        raise _Refused("LatencyNone", f"{source} has no task times of this job")
    known = {crew.number(one) for one in view.pods if one.owner_uid == pod.uid and one.role == names.EXECUTOR}
    found: dict[tuple[str, str], latencies.Part] = {}
    for part in reading.parts:
        if wrong := next(_wrong(view, part, known, source), None):
            raise wrong
        if part.executor in known:
            found[part.query, part.executor] = part
    return found


def _wrong(view: views.JobView, part: latencies.Part, known: set[str], source: str) -> Iterator[_Refused]:
    whose, which = f"{part.namespace}/{part.job}", f"executor {part.executor} of {part.query}"
    if (part.namespace, part.job) != view.job.key:
        yield _Refused("LatencyForeign", f"{source} answers with task times of {whose}, which it was not asked for")
    if flaw := part.flaw or _odd(part):
        yield _Refused(f"Latency{flaw}", f"{_FLAWS[flaw]} in what {source} has of {which}")
    age_s = view.now_s - part.at_s
    if part.executor in known and age_s > _OLD_S:
        yield _Refused("LatencyOld", f"what {source} has of {which} is older than {_OLD_S:.0f} s")
    if age_s < -_OLD_S:
        yield _Refused("LatencyAhead", f"what {source} has of {which} is of the future: two clocks differ")
    if part.executor not in known and part.tasks > 0 and age_s <= _OLD_S:
        yield _Refused("LatencyForeign", f"{source} has task times of {which}, which is none of the job's")


def _odd(part: latencies.Part) -> latencies.Flaw:
    """What no count and no time is."""
    if part.tasks < 0:
        return "Reset"
    found = (part.tasks, part.mean_ms, part.p90_ms, part.p99_ms)
    return "" if all(value is None or 0 <= value <= _MOST for value in found) else "NaN"


_FLAWS: Mapping[str, str] = {
    "NaN": "there is a number that is none",
    "Reset": "a count went backwards",
    "Twice": "there are two series for one",
    "Torn": "counts and sums contradict each other",
}


def _figure(part: latencies.Part, by: str) -> float | None:
    found: dict[str, float | None] = {"mean": part.mean_ms, "p90": part.p90_ms, "p99": part.p99_ms}
    return found[by]


def _lacking(part: latencies.Part | None, by: str) -> bool:
    return part is None or part.tasks < _FEWEST[by] or _figure(part, by) is None


def _missing(
    view: views.JobView,
    pod: records.Pod,
    working: Sequence[str],
    rows: Sequence[tuple[str, Sequence[latencies.Part | None]]],
) -> _Refused:
    """Of the first query, for it is as good as any other."""
    by = view.job.spec.rebalance.by
    query, row = rows[0]
    number, part = next((number, part) for number, part in zip(working, row, strict=True) if _lacking(part, by))
    if part is None:
        ready_s = {crew.number(one): one.ready_s for one in _working(view, pod)}[number]
        young = view.now_s - ready_s < _YOUNG_S
        return _Refused("LatencyPartial", f"no task times are there of executor {number} of {query}", lies=not young)
    if part.tasks < _FEWEST[by]:
        few = f"executor {number} of {query} ended fewer than {_FEWEST[by]} tasks within {_PATIENT_S / 60:.0f} minutes"
        return _Refused("LatencyFew", few, lies=False)
    return _Refused("LatencyPartial", f"no {by} is known of executor {number} of {query}")


def _shown(view: views.JobView, memory: Memory, reason: balances.Reason, message: str, cause: str = "") -> Memory:
    """With the weights in force. What it says again was said before."""
    before = memory.shown
    what = f"nothing is shifted ({cause})" if cause else ""
    shown = dataclasses.replace(before, reason=reason, message=message, cause=cause, what=what, at_s=view.now_s)
    same = (before.reason, before.message, before.cause) == (reason, message, cause)
    return dataclasses.replace(memory, shown=before if same else shown)


def _stepped(view: views.JobView, memory: Memory, observed: Sequence[Observed]) -> Memory:
    spec = view.job.spec.rebalance
    args = latency.Args(by=spec.by, period_s=PERIOD_S)
    _, after = latency.step(memory.state, observed, args)
    if spec.mode == "Observe":
        return _observing(view, memory, after, args)
    before = dict(memory.shown.weights) or {task.name: 1 / len(after.tasks) for task in after.tasks}
    now = weights.rounded({task.name: task.weight for task in after.tasks})
    since = Memory(memory.shown, after, view.now_s)
    if not _differ(before, now):
        return _shown(view, since, "Balanced", _at_rest(after, args))
    why = _slowest(after) if after.shifts else "the last shift helped nothing, or executors came or went"
    reason: balances.Reason = "Shifting" if after.shifts else "Balanced"
    shown = balances.Balance(memory.shown.driver, reason, why, now, view.now_s, _moved(before, now))
    return dataclasses.replace(since, shown=shown)


def _observing(view: views.JobView, memory: Memory, after: State, args: latency.Args) -> Memory:
    """Nothing is in force, so nothing adds up: each period asks what the first step would be."""
    equal = tuple(task._replace(weight=1 / len(after.tasks)) for task in after.tasks)
    blank = dataclasses.replace(memory.shown, weights={})
    since = Memory(blank, State(equal), view.now_s)
    if not after.shifts:
        return _shown(view, since, "Balanced", _at_rest(after, args))
    first = max(after.shifts, key=lambda shift: shift.moved)
    found = _shown(view, since, "Shifting", f"executor {first.slow} takes more than {args.thres} times as long")
    what = f"would move input from executor {first.slow} to others"
    return dataclasses.replace(found, shown=dataclasses.replace(found.shown, what=what))


def _at_rest(after: State, args: latency.Args) -> str:
    aged = [task.aged_ms for task in after.tasks if task.aged_ms is not None]
    if aged and max(aged) <= args.thres * min(aged):
        return f"no executor takes more than {args.thres} times as long as another"
    return "an executor is slower than others, and to give it less helps nothing more"


def _slowest(after: State) -> str:
    """The pair that most is moved between."""
    first = max(after.shifts, key=lambda shift: shift.moved)
    aged = {task.name: task.aged_ms or 0.0 for task in after.tasks}
    ratio = aged[first.slow] / aged[first.fast] if aged[first.fast] else 0.0
    return f"tasks take {ratio:.2g} times as long on executor {first.slow} as on executor {first.fast}"


def _differ(before: Mapping[str, float], now: Mapping[str, float]) -> bool:
    return before.keys() != now.keys() or any(abs(before[name] - now[name]) > 1e-5 for name in now)


def _moved(before: Mapping[str, float], now: Mapping[str, float]) -> str:
    """The two that changed most, one each way."""
    change = {name: now[name] - before.get(name, 0.0) for name in now}
    ends = (min(change, key=lambda name: change[name]), max(change, key=lambda name: change[name]))
    return "; ".join(f"executor {name}: {before.get(name, 0.0):.1%} → {now[name]:.1%} of the input" for name in ends)
