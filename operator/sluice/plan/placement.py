"""Where executors go that wait at their gate: one patch each, with node and reason. Called by the fleet's cycle; pure.

All that wait are planned together (StroMAX §3.3: one graph of all running jobs). A vertex is an executor pod, an edge
the traffic of a pair; before any measurement each pair of a job counts one (StroMAX §3.2). The driver, executors that
sit already and the pods of `placement.near` are pinned. It fails open: no gate stays shut for want of a plan.
"""

import collections
import dataclasses
from collections.abc import Iterable, Mapping, Sequence

import sluice_policies
from sluice.plan import destined, eligible, placed, retry_place, room
from sluice.values import names, records, steps, streamjob, views
from sluice.values.streamjob import Body
from sluice_policies import measures, model, stay

_TURNED_AWAY = 2  # so many nodes that could not take a job's executors, and the scheduler is asked instead
Seats = dict[str, placed.Place]  # by task name


@dataclasses.dataclass(frozen=True)
class _Guest:
    """An executor that waits, and what its job asks for."""

    pod: records.Pod
    job: streamjob.StreamJob
    nodes: tuple[str, ...]  # that may take it, by name

    @property
    def team(self) -> room.Key:
        """Whose executors it talks to."""
        return _team(self.pod)

    @property
    def task(self) -> str:
        """Its name among those of all jobs."""
        return f"{self.pod.namespace}/{self.pod.name}"


def plan(fleet: views.FleetView, gate_timeout_s: float) -> steps.Steps:
    """Opens every gate: with a node where one is found and wanted, without where not."""
    guests, opened = _sorted_out(fleet, gate_timeout_s)
    table = _table(fleet)
    seats = _sent(table, guests, destined.nodes(fleet))
    for group in _groups(guest for guest in guests if guest.task not in seats):
        seats |= _seated(table, group)
    lifted = [_lift(guest.pod, _as_observed(guest, seats[guest.task])) for guest in guests]
    return steps.Steps(((*lifted, *opened),) if fleet.waiting else ())


@dataclasses.dataclass(frozen=True)
class _Table:
    """What all guests share while they are seated."""

    now_s: float
    space: room.Room
    beside: Mapping[room.Key, Sequence[records.Pod]]  # by team: what of it has a node already
    near: Mapping[tuple[str, str], Sequence[records.Pod]]  # by job: what its executors should be near


def _table(fleet: views.FleetView) -> _Table:
    space = room.Room(fleet.nodes, fleet.used)
    beside: dict[room.Key, list[records.Pod]] = {}
    for pod in fleet.placed:
        beside.setdefault(_team(pod), []).append(pod)
        if pod.role == names.EXECUTOR:
            space.seat(_team(pod), pod.node)
    return _Table(fleet.now_s, space, beside, fleet.near)


def _team(pod: records.Pod) -> room.Key:
    """A driver and its executors. While one takes over from another a job has two, and they do not talk."""
    return pod.namespace, pod.job, pod.labels.get(names.ATTEMPT, "")


def _sorted_out(fleet: views.FleetView, gate_timeout_s: float) -> tuple[list[_Guest], list[steps.Step]]:
    """Those to plan for, and the steps of those to be let go at once."""
    guests: list[_Guest] = []
    opened: list[steps.Step] = []
    for pod in fleet.waiting:
        job = fleet.jobs.get((pod.namespace, pod.job))
        if why := _why_open(pod, job, fleet.now_s, gate_timeout_s):
            opened.append(_lift(pod, placed.Place(fleet.now_s, "", "", why)))
        elif job is not None:
            guests.append(_Guest(pod, job, _allowed(fleet, job, pod)))
    return guests, opened


def _why_open(pod: records.Pod, job: streamjob.StreamJob | None, now_s: float, gate_timeout_s: float) -> str:
    if job is None:
        return f"there is no {names.KIND} {pod.job}"
    if job.spec.placement.mode == "Off":
        return "placement.mode is Off"
    if now_s - pod.created_s > gate_timeout_s:
        return f"it waited for more than {gate_timeout_s:.0f} s"
    avoided = retry_place.read(job.status, now_s)
    if len(avoided) >= _TURNED_AWAY:
        return f"{', '.join(one.node for one in avoided)} could not take executors of this job"
    return ""


def _allowed(fleet: views.FleetView, job: streamjob.StreamJob, pod: records.Pod) -> tuple[str, ...]:
    avoided = {one.node for one in retry_place.read(job.status, fleet.now_s)}
    wishes = pod.wishes or records.Wishes()
    return tuple(n.name for n in fleet.nodes if n.name not in avoided and eligible.allows(n, wishes))


def _sent(table: _Table, guests: Iterable[_Guest], wanted: Mapping[str, str]) -> Seats:
    """Those that come in place of one that moves, where there is room for them."""
    return {
        guest.task: placed.Place(table.now_s, node, guest.job.spec.placement.policy, "an executor moves there")
        for guest in guests
        if (node := wanted.get(guest.pod.uid)) and _sit(guest, node, table.space)
    }


def _groups(guests: Iterable[_Guest]) -> list[list[_Guest]]:
    """Those that may go to the same nodes by the same policy, the most restricted first."""
    groups: dict[tuple[int, tuple[str, ...], str], list[_Guest]] = {}
    for guest in guests:
        groups.setdefault((len(guest.nodes), guest.nodes, guest.job.spec.placement.policy), []).append(guest)
    return [groups[key] for key in sorted(groups)]


def _seated(table: _Table, group: Sequence[_Guest]) -> Seats:
    """A place for each of a group: the policy's where the node really has room, else the next best."""
    policy = group[0].job.spec.placement.policy
    snapshot = _snapshot(table, group)
    planned = sluice_policies.policy(policy).plan(snapshot)
    wanted = {move.task: move.target for move in planned.moves}
    where = snapshot.placement()
    for guest in group:
        if guest.task in wanted and _sit(guest, wanted[guest.task], table.space):
            where[guest.task] = wanted[guest.task]
    near = measures.neighbours(snapshot)
    seats: Seats = {}
    for guest in group:
        peers = collections.Counter(where.get(other, "") for other in near[guest.task])
        seats[guest.task] = _place(table, guest, where.get(guest.task), peers)
        where[guest.task] = seats[guest.task].node
    return seats


def _place(table: _Table, guest: _Guest, node: str | None, peers: Mapping[str, int]) -> placed.Place:
    """The policy's node; where that has no room, the one with room where most of its peers are; or the scheduler's."""
    policy = guest.job.spec.placement.policy
    if node:
        return placed.Place(table.now_s, node, policy, f"{_beside(peers, node)} there")
    if policy == stay.NAME:
        return placed.Place(table.now_s, "", policy, f"policy {policy} moves nothing")
    for other in sorted(guest.nodes, key=lambda name: (-peers.get(name, 0), name)):
        if _sit(guest, other, table.space):
            return placed.Place(
                table.now_s, other, policy, f"{_beside(peers, other)} there, the most where there is room"
            )
    needs, most = guest.pod.requests, guest.job.spec.executors.max_per_node
    limit = f", below {most} executors of the job each" if most else ""
    wants = f"{needs.cpu_m}m CPU and {needs.memory_bytes >> 20} MiB"
    return placed.Place(table.now_s, "", policy, f"none of {len(guest.nodes)} nodes has {wants} left{limit}")


def _beside(peers: Mapping[str, int], node: str) -> str:
    return f"{peers.get(node, 0)} of the {sum(peers.values())} pods it talks to are"


def _sit(guest: _Guest, node: str, space: room.Room) -> bool:
    needs, most = guest.pod.requests, guest.job.spec.executors.max_per_node
    if node not in guest.nodes or not space.takes(guest.team, node, needs, most):
        return False
    space.seat(guest.team, node, needs)
    return True


def _snapshot(table: _Table, group: Sequence[_Guest]) -> model.Snapshot:
    """The group's jobs as a policy sees them: one number per node, the scarcer of CPU and memory."""
    free = {node: table.space.free[node] for node in group[0].nodes}
    total_cpu_m = sum(max(0, left.cpu_m) for left in free.values())
    bytes_per_m = max(1, sum(max(0, left.memory_bytes) for left in free.values()) // max(1, total_cpu_m))
    nodes = tuple(
        model.Node(name, max(0, min(left.cpu_m, left.memory_bytes // bytes_per_m))) for name, left in free.items()
    )
    tasks = [model.Task(guest.task, _load(guest.pod.requests, bytes_per_m), guest.pod.job) for guest in group]
    pinned, edges = _surroundings(table, group)
    return model.Snapshot(nodes, (*tasks, *pinned), tuple(edges))


def _load(needs: records.Resources, bytes_per_m: int) -> int:
    return max(needs.cpu_m, -(-needs.memory_bytes // bytes_per_m))


def _surroundings(table: _Table, group: Sequence[_Guest]) -> tuple[list[model.Task], list[model.Edge]]:
    """What is pinned around the group, and who talks to whom."""
    teams: dict[room.Key, list[str]] = {}
    for guest in group:
        teams.setdefault(guest.team, []).append(guest.task)
    pinned: dict[str, model.Task] = {}
    edges: list[model.Edge] = []
    for team, members in teams.items():
        for pod in (*table.beside.get(team, ()), *table.near.get(team[:2], ())):
            name = f"{pod.namespace}/{pod.name}"
            pinned[name] = model.Task(name, 0, pod.job, pod.node, pinned=True)
            edges += [model.Edge(member, name, 1) for member in members]
        edges += [model.Edge(one, other, 1) for i, one in enumerate(members) for other in members[i + 1 :]]
    return list(pinned.values()), edges


def _as_observed(guest: _Guest, place: placed.Place) -> placed.Place:
    """Under `Observe` the plan is shown and the scheduler decides."""
    if guest.job.spec.placement.mode == "Act":
        return place
    would = f"placement.mode is Observe; {place.policy} would send it to {place.node}: {place.why}"
    return dataclasses.replace(place, node="", why=would if place.node else place.why)


def _lift(pod: records.Pod, place: placed.Place) -> steps.PatchPod:
    """Node, reason and open gate in one patch: no moment in between."""
    spec: dict[str, object] = {"schedulingGates": [{"name": gate} for gate in pod.gates if gate != names.GATE]}
    if place.node:
        spec["affinity"] = {"nodeAffinity": {_REQUIRED: {"nodeSelectorTerms": _bound(pod, place.node)}}}
    patch = {"metadata": {"annotations": {names.PLACED: place.write()}}, "spec": spec}
    return steps.PatchPod(pod.namespace, pod.name, pod.uid, pod.resource_version, patch)


_REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"


def _bound(pod: records.Pod, node: str) -> list[Body]:
    """The pod's own terms, each narrowed to the node: a gated pod allows no other change."""
    field = {"key": "metadata.name", "operator": "In", "values": [node]}
    own = eligible.terms(pod.wishes.affinity if pod.wishes else {}) or [{}]
    return [{**term, "matchFields": [*term.get("matchFields", ()), field]} for term in own]
