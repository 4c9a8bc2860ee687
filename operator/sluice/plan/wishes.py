"""One graph of all running jobs with measured traffic: at most one executor of each job, and a better node for it.

Called once a minute by :mod:`sluice.rounds`; pure. A vertex is an executor, an edge what a pair has shuffled. Jobs that
may not move now (plan.restraint) are pinned and still take their room. A policy plans as if all could move at once; of
its plan each job gets the one step that helps by itself and has room, and the next minute's plan begins from there.
"""

import dataclasses
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence

import sluice_policies
from sluice.plan import eligible, restraint, retry_place, room, sampled
from sluice.values import driver_state, moves, records, streamjob, views
from sluice.values.traffic import Traffic
from sluice_policies import model, stay, stromax
from sluice_policies import moves as planned

LEAST_SAVED = 0.08  # of what an executor exchanges between nodes: one that would save less is not worth a restart
_SKEW = 0.12  # how far above the mean load StroMAX's Alg. 2 acts
Key = tuple[str, str]  # namespace and name of a StreamJob


@dataclasses.dataclass(frozen=True)
class _Team:
    """A driver's executors, measured."""

    job: streamjob.StreamJob
    executors: Mapping[str, records.Pod]  # by Spark's number
    pairs: Mapping[tuple[str, str], int]  # bytes between two of them
    peers: Mapping[str, Mapping[str, int]]  # the same of each with every other
    busy_m: Mapping[str, int]  # millicores of work
    span_s: float  # in which that was measured
    homes: sampled.Homes
    traffic: Traffic
    nodes: tuple[str, ...]  # that may take one, by name
    draws: frozenset[str]  # nodes of what it wants to be near: who sits there stays
    alone: frozenset[tuple[str | None, str]]  # from where to where nothing of it goes
    free: bool  # it may move now

    def task(self, number: str) -> str:
        """An executor's name among those of all jobs."""
        return f"{self.job.namespace}/{self.executors[number].name}"

    @property
    def room_key(self) -> room.Key:
        """Whose executors they are."""
        return self.job.namespace, self.job.name, str(driver_state.read(self.job.status).attempt)


@dataclasses.dataclass(frozen=True)
class _Step:
    """Of a plan, looked at by itself."""

    team: _Team
    number: str
    target: str
    cause: moves.Cause
    why: str
    kept: int  # bytes that would no longer cross between nodes
    before: moves.Measures

    @property
    def saved(self) -> float:
        """The part of those that cross now."""
        return self.kept / self.before.cross_bytes if self.before.cross_bytes else 0.0

    def wish(self) -> moves.Wish:
        """As its job is told."""
        pod = self.team.executors[self.number]
        return moves.Wish(pod.name, pod.node, self.target, self.cause, self.why, self.before)


def plan(fleet: views.FleetView, measured: Mapping[Key, Traffic]) -> dict[Key, moves.Wish]:
    """What is wanted of each job now; most of the time nothing."""
    teams = _teams(fleet, measured)
    space = room.Room(fleet.nodes, fleet.used)
    for team in teams:
        for pod in team.executors.values():
            space.seat(team.room_key, pod.node)
    found: dict[Key, moves.Wish] = {}
    for group in _groups(teams):
        for steps in _plans(fleet, teams, group):
            for step in steps:
                if step.team.job.key not in found and _fits(step, space):
                    found[step.team.job.key] = step.wish()
    return found


def _fits(step: _Step, space: room.Room) -> bool:
    """Its replacement comes first, so the node has to take one more while the old one is still where it is."""
    needs, most = step.team.executors[step.number].requests, step.team.job.spec.executors.max_per_node
    if not space.takes(step.team.room_key, step.target, needs, most):
        return False
    space.seat(step.team.room_key, step.target, needs)
    return True


def _teams(fleet: views.FleetView, measured: Mapping[Key, Traffic]) -> list[_Team]:
    pods: dict[Key, list[records.Pod]] = {}
    for pod in fleet.placed:
        pods.setdefault((pod.namespace, pod.job), []).append(pod)
    found = []
    for key in sorted(measured.keys() & fleet.jobs.keys()):
        job = fleet.jobs[key]
        executors = sampled.numbered(tuple(pods.get(key, ())), driver_state.read(job.status).pod)
        if executors:
            found.append(_team(fleet, job, executors, measured[key]))
    return found


def _team(
    fleet: views.FleetView, job: streamjob.StreamJob, executors: Mapping[str, records.Pod], traffic: Traffic
) -> _Team:
    nodes = _allowed(fleet, job)
    complete = len(executors) == job.spec.executors.count and all(pod.node in nodes for pod in executors.values())
    between = sampled.between(traffic).items()
    told = sampled.enough(traffic) >= restraint.LEAST_BATCHES
    return _Team(
        job=job,
        executors=executors,
        pairs={pair: count for pair, count in between if pair[0] in executors and pair[1] in executors},
        peers=sampled.peers(traffic),
        busy_m=sampled.loads_m(traffic),
        span_s=max(sampled.span_s(traffic), 1e-3),
        homes=sampled.homes(executors),
        traffic=traffic,
        nodes=nodes,
        draws=frozenset(pod.node for pod in fleet.near.get(job.key, ())),
        alone=frozenset(restraint.left_alone(moves.read(job.status), fleet.now_s)),
        free=complete and told and not restraint.holds(job, fleet.now_s),
    )


def _allowed(fleet: views.FleetView, job: streamjob.StreamJob) -> tuple[str, ...]:
    """By the user's template: what stands on a pod that has its node is narrowed to that."""
    spec = job.spec.executors.template.get("spec") or {}
    wishes = records.Wishes(
        spec.get("nodeSelector") or {}, spec.get("affinity") or {}, tuple(spec.get("tolerations") or ())
    )
    avoided = {one.node for one in retry_place.read(job.status, fleet.now_s)}
    return tuple(node.name for node in fleet.nodes if node.name not in avoided and eligible.allows(node, wishes))


def _groups(teams: Iterable[_Team]) -> list[list[_Team]]:
    """Those that may move now, to the same nodes by the same policy, the most restricted first."""
    groups: dict[tuple[int, tuple[str, ...], str], list[_Team]] = {}
    for team in teams:
        policy = team.job.spec.placement.policy
        if team.free and policy != stay.NAME:
            groups.setdefault((len(team.nodes), team.nodes, policy), []).append(team)
    return [groups[key] for key in sorted(groups)]


def _plans(fleet: views.FleetView, teams: Sequence[_Team], group: Sequence[_Team]) -> Iterator[list[_Step]]:
    """The best steps first. StroMAX looks for overload (Alg. 2), then at the whole graph (Eq. 10)."""
    policy = group[0].job.spec.placement.policy
    if policy == stromax.NAME:
        relieved = stromax.plan(_graph(fleet, teams, group, busy=True), stromax.Args("overloaded", skew_share=_SKEW))
        yield _steps(group, relieved, moves.LOAD)
        anew = stromax.plan(_graph(fleet, teams, group, busy=False), stromax.Args("all", "bytes_per_s"))
        yield _steps(group, anew, moves.TRAFFIC)
    else:
        found = sluice_policies.policy(policy).plan(_graph(fleet, teams, group, busy=False))
        yield _steps(group, found, moves.TRAFFIC)


def _steps(group: Sequence[_Team], plan: planned.Plan, cause: moves.Cause) -> list[_Step]:
    """Each move alone, as if nobody else moved."""
    to = {move.task: move for move in plan.moves}
    found = [
        _step(team, number, move, cause)
        for team in group
        for number in team.executors
        if (move := to.get(team.task(number))) and (move.source, move.target) not in team.alone
    ]
    return sorted(filter(_is_worth_it, found), key=lambda one: (-one.kept, one.team.job.key, int(one.number)))


def _is_worth_it(step: _Step) -> bool:
    """What a node is relieved of shows in batch times, of which Real-Time Mode has none."""
    if step.cause == moves.LOAD:
        return not step.team.job.spec.real_time
    return step.saved >= LEAST_SAVED


def _step(team: _Team, number: str, move: planned.Move, cause: moves.Cause) -> _Step:
    peers, node = team.peers.get(number, {}), team.executors[number].node
    before = sampled.measures(team.traffic, team.homes, peers, node)
    after = sampled.measures(team.traffic, team.homes, peers, move.target)
    kept = before.cross_bytes - after.cross_bytes
    of = f"{kept / max(1, before.cross_bytes):.0%} of the bytes that it exchanges with other nodes"
    why = move.why if cause == moves.LOAD else f"{of} would stay on one, {kept / team.span_s:.0f} B/s"
    return _Step(team, number, move.target, cause, f"{team.job.spec.placement.policy}: {why}", kept, before)


def _graph(fleet: views.FleetView, teams: Sequence[_Team], group: Sequence[_Team], *, busy: bool) -> model.Snapshot:
    """The group's executors, those of all others pinned, on the nodes that the group may have.

    A load is what an executor asks for, or how busy it is; a node's capacity is what the graph may use of it.
    """
    free = room.Room(fleet.nodes, fleet.used).free
    usual = _Usual([pod.requests for team in group for pod in team.executors.values()])
    movable = {team.job.key for team in group}
    tasks, there = [], {name: free[name].cpu_m if busy else usual.fits(free[name]) for name in group[0].nodes}
    loads = dict.fromkeys(there, 0)
    for team in teams:
        for number, pod in team.executors.items():
            load = team.busy_m.get(number, 0) if busy else usual.load(pod.requests)
            pinned = team.job.key not in movable or pod.node in team.draws
            tasks.append(model.Task(team.task(number), load, team.job.name, pod.node, pinned))
            if pod.node in there:
                loads[pod.node] += load
                there[pod.node] += pod.requests.cpu_m if busy else load
    nodes = tuple(model.Node(name, max(0, loads[name], capacity)) for name, capacity in there.items())
    return model.Snapshot(nodes, tuple(tasks), tuple(edge for team in group for edge in _edges(team)))


class _Usual:
    """What is asked for as one number: thousandths of a usual executor. Exact where all ask for the same."""

    def __init__(self, asked: Sequence[records.Resources]) -> None:
        self._cpu_m = max(1.0, sum(one.cpu_m for one in asked) / len(asked))
        self._memory_bytes = max(1.0, sum(one.memory_bytes for one in asked) / len(asked))

    def load(self, needs: records.Resources) -> int:
        """Of an executor, by what it needs more of."""
        return math.ceil(1000 * max(needs.cpu_m / self._cpu_m, needs.memory_bytes / self._memory_bytes))

    def fits(self, left: records.Resources) -> int:
        """So much more a node takes, by what it has less of."""
        return math.floor(1000 * min(left.cpu_m / self._cpu_m, left.memory_bytes / self._memory_bytes, left.pods))


def _edges(team: _Team) -> Iterator[model.Edge]:
    for (one, other), count in team.pairs.items():
        yield model.Edge(team.task(one), team.task(other), min(model.LARGEST, round(count / team.span_s)))
