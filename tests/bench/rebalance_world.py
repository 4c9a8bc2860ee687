"""Jobs on nodes in memory: Spark, the scheduler and the agents as far as moves go; the decisions are the operator's.

Every ten seconds the orders are carried out, gates opened by plan.placement, and jobs looked at by plan.life; each
minute is a round by plan.wishes. No API server, no socket: the pure functions of the cycle, one after another.
"""

import collections
import dataclasses
import json
from typing import Any

from bench import rebalance_trace
from bench.rebalance_trace import Kind
from fakes import patching
from sluice import build
from sluice.plan import changes, life, placement, status, wishes
from sluice.values import driver_state, moves, names, records, reports, steps, streamjob, traffic, views

STEP_S, MINUTE_S = 10, 60
BEGIN_S = 1_800_000_000
_TEAM = "day"
_AROUND = build.Surroundings(agent_image="agent:1", plugin_image="plugin:1")
_NEEDS = records.Resources(1000, 1 << 30, 1)
_REST_MS, _ROW_MS, _BYTES_PER_MS = 400.0, 0.06, 100_000.0
_MOST_MINUTES = 8  # of twelve batches: what an agent remembers


@dataclasses.dataclass
class Job:
    """One of them, as the cluster has it."""

    kind: Kind
    job: streamjob.StreamJob
    driver: records.Pod
    pods: list[records.Pod]
    slots: dict[str, int]  # by Spark's number
    made: int
    moved: int = 0
    minutes: collections.deque[traffic.Query] = dataclasses.field(
        default_factory=lambda: collections.deque(maxlen=_MOST_MINUTES)
    )

    @property
    def now(self) -> moves.Move | None:
        """Its move, if there is one."""
        return moves.read(self.job.status).now

    def homes(self) -> dict[int, records.Pod]:
        """Who works for each slot: while two are there, the older."""
        found: dict[int, records.Pod] = {}
        for pod in sorted(self.pods, key=lambda one: int(_number(one))):
            if pod.phase == "Running":
                found.setdefault(self.slots[_number(pod)], pod)
        return found


@dataclasses.dataclass(frozen=True)
class Begun:
    """A move that was begun."""

    job: str
    at_s: int
    source: str
    target: str
    undoes: bool


class World:
    """All of them, and what came to be."""

    def __init__(self, trace: rebalance_trace.Trace) -> None:
        self.trace, self.now_s, self.begun = trace, BEGIN_S, list[Begun]()
        self.outcomes: collections.Counter[str] = collections.Counter()
        self.cross_bytes: collections.Counter[str] = collections.Counter()
        self.batch_ms: collections.Counter[str] = collections.Counter()  # summed over minutes
        self.nodes = tuple(records.Node(name, records.Resources(8000, 32 << 30, 110)) for name in rebalance_trace.NODES)
        self.jobs = {kind.name: _started(kind, at) for at, kind in enumerate(rebalance_trace.KINDS)}

    def run(self, minutes: int) -> None:
        """So long."""
        for minute in range(minutes):
            for job in self.jobs.values():
                self._work(job, minute)
            for tick in range(MINUTE_S // STEP_S):
                self._step(whole_round=tick == 0)
                self.now_s += STEP_S

    def rest(self, minutes: int) -> None:
        """So long, and nobody decides anything."""
        for minute in range(minutes):
            for job in self.jobs.values():
                self._work(job, minute)

    def _step(self, *, whole_round: bool) -> None:
        for job in self.jobs.values():
            self._obey(job)
        self._open_gates()
        wanted = wishes.plan(self._fleet(()), self._measured()) if whole_round else {}
        for job in self.jobs.values():
            if whole_round or (job.now and job.now.phase == moves.MOVING):
                self._look(job, wanted.get(job.job.key))

    def _look(self, job: Job, wish: moves.Wish | None) -> None:
        """And again at once if it says so, as the cycle does."""
        for _ in range(4):
            view = self._view(job, wish)
            verdict = life.judge(view, _AROUND)
            assert not verdict.stuck, verdict.message
            patch = status.difference(view.job.status, status.wanted(view, verdict))
            before = job.now
            said = patching.merged(job.job.status, patch)
            job.job = dataclasses.replace(job.job, status=said)
            self._note(job, before, verdict.moved)
            if verdict.look_again_s != 0.0:
                return

    def _note(self, job: Job, before: moves.Move | None, record: moves.Record | None) -> None:
        if record is None:
            return
        if record.now and record.now.phase == moves.MOVING and record.now != before:
            wish = record.now.wish
            self.begun.append(Begun(job.kind.name, self.now_s, wish.source, wish.target, record.now.undoes))
        if before and (record.now is None or record.now.undoes != before.undoes):
            self.outcomes[record.past[-1].outcome] += 1

    def _obey(self, job: Job) -> None:
        """As Spark does: one that is named goes, one that is missing comes, each step one."""
        told = job.job.status["orders"]["drivers"][job.driver.name].get("executors")
        if told is None:
            return
        if going := [pod for pod in job.pods if _number(pod) in told["decommission"]]:
            job.pods.remove(going[0])
            job.moved += 1
        elif len(job.pods) < told["total"]:
            job.made += 1
            now = job.now
            leaves = now.wish.executor.rpartition("-")[2] if now else ""
            free = sorted(set(range(job.kind.slots)) - {job.slots[_number(pod)] for pod in job.pods})
            job.slots[str(job.made)] = free[0] if free else job.slots[leaves]
            job.pods.append(_executor(job.driver, job.made, self.now_s))

    def _open_gates(self) -> None:
        """Who was sent somewhere is there with the next step."""
        for job in self.jobs.values():
            job.pods = [self._begun(pod) for pod in job.pods]
        waiting = tuple(pod for job in self.jobs.values() for pod in job.pods if pod.gated)
        for stage in placement.plan(self._fleet(waiting), 300.0).stages:
            for step in stage:
                assert isinstance(step, steps.PatchPod)
                self._lift(step)

    def _begun(self, pod: records.Pod) -> records.Pod:
        if pod.node or pod.gated:
            return pod
        node = json.loads(pod.placed)["node"]
        assert node, f"{pod.name} was left to the scheduler: {pod.placed}"
        return dataclasses.replace(pod, node=node, phase="Running", ready=True, ready_s=float(self.now_s))

    def _lift(self, step: steps.PatchPod) -> None:
        note = step.patch["metadata"]["annotations"][names.PLACED]
        for job in self.jobs.values():
            job.pods = [
                dataclasses.replace(pod, gates=(), wishes=None, placed=note) if pod.uid == step.uid else pod
                for pod in job.pods
            ]

    def _fleet(self, waiting: tuple[records.Pod, ...]) -> views.FleetView:
        pods = [pod for job in self.jobs.values() for pod in (job.driver, *job.pods)]
        used: dict[str, records.Resources] = collections.defaultdict(records.Resources)
        for pod in pods:
            home = pod.node or (json.loads(pod.placed)["node"] if pod.placed and not pod.gated else "")
            if home:
                used[home] += pod.requests
        return views.FleetView(
            jobs={job.job.key: job.job for job in self.jobs.values()},
            waiting=waiting,
            placed=tuple(pod for pod in pods if pod.node),
            near={},
            nodes=self.nodes,
            used=dict(used),
            now_s=float(self.now_s),
        )

    def _measured(self) -> dict[tuple[str, str], traffic.Traffic]:
        return {job.job.key: self._told(job) for job in self.jobs.values() if job.minutes}

    def _told(self, job: Job) -> traffic.Traffic:
        """By its agent."""
        return traffic.Traffic(float(self.now_s), (_together(list(job.minutes)),))

    def _view(self, job: Job, wish: moves.Wish | None) -> views.JobView:
        told = self._told(job) if job.minutes else None
        return views.JobView(
            job=job.job,
            pods=(job.driver, *job.pods),
            rival="",
            lost_nodes=frozenset(),
            now_s=float(self.now_s),
            said={job.driver.name: reports.Report(self.now_s, "Running")},
            traffic=told,
            wish=wish,
        )

    def _work(self, job: Job, minute: int) -> None:
        """What it does in a minute, as its agent measures it."""
        drawn, where = self.trace.of(job.kind, minute, job.moved), job.homes()
        batches = round(MINUTE_S / rebalance_trace.BATCH_S)
        pairs: dict[str, dict[str, int]] = {_number(pod): {} for pod in where.values()}
        cross = 0
        for (one, other), per_row in drawn.pairs.items():
            if one in where and other in where:
                count = round(per_row * drawn.rows)
                pairs[_number(where[one])][_number(where[other])] = count
                cross += count if where[one].node != where[other].node else 0
        rows = drawn.rows // max(1, len(where))
        run_ms = {
            _number(pod): rows * _ROW_MS * drawn.noise / self.trace.speed(pod.node, minute) for pod in where.values()
        }
        batch_ms = drawn.noise * (_REST_MS + (max(run_ms.values()) + cross / _BYTES_PER_MS) / batches)
        told = dict.fromkeys(run_ms, rows)
        job.minutes.append(traffic.Query("q", batches, float(MINUTE_S), batch_ms, 1.5 * batch_ms, run_ms, told, pairs))
        self.cross_bytes[job.kind.name] += cross
        self.batch_ms[job.kind.name] += round(batch_ms)


def _together(minutes: list[traffic.Query]) -> traffic.Query:
    run_ms: dict[str, float] = collections.defaultdict(float)
    rows: collections.Counter[str] = collections.Counter()
    pairs: dict[str, collections.Counter[str]] = collections.defaultdict(collections.Counter)
    for one in minutes:
        for number, spent_ms in one.run_ms.items():
            run_ms[number] += spent_ms
        rows.update(one.rows)
        for number, to in one.pairs.items():
            pairs[number].update(to)
    batches = sum(one.batches for one in minutes)
    mean_ms = sum(one.batch_ms * one.batches for one in minutes) / batches
    return traffic.Query("q", batches, sum(one.seconds for one in minutes), mean_ms, 1.5 * mean_ms, run_ms, rows, pairs)


def _started(kind: Kind, at: int) -> Job:
    """A job whose executors sit one on each node, as a night of failures may have left them."""
    spec = streamjob.Spec(
        image="day:1",
        application=streamjob.Application("local:///a.py"),
        checkpoint=streamjob.Checkpoint(f"s3a://day/{kind.name}"),
        executors=streamjob.Executors(kind.slots, cores=2),
        placement=streamjob.Placement(policy=kind.policy, max_moves_per_hour=kind.most_moves),
        slo=streamjob.Slo(batch_latency_s=4.0),
    )
    job = streamjob.StreamJob(_TEAM, kind.name, spec, f"uid-{kind.name}", "1", 1)
    driver = _driver(job, rebalance_trace.NODES[at % len(rebalance_trace.NODES)])
    numbers = range(1, kind.slots + 1)
    spread = [rebalance_trace.NODES[(at + number) % len(rebalance_trace.NODES)] for number in numbers]
    pods = [_sitting(driver, number, node) for number, node in zip(numbers, spread, strict=True)]
    slots = {str(number): number - 1 for number in numbers}
    return Job(kind, dataclasses.replace(job, status=_status(job, driver)), driver, pods, slots, kind.slots)


def _status(job: streamjob.StreamJob, driver: records.Pod) -> dict[str, Any]:
    begun = driver_state.DriverState(1, driver.name, driver.uid, changes.revision(job), since_s=BEGIN_S - 60)
    orders = {"version": 1, "serial": 1, "drivers": {driver.name: {"gate": {"open": True}}}}
    written = {name: value for name, value in begun.write().items() if value is not None}
    return {"phase": "Running", "revision": changes.revision(job), "driver": written, "orders": orders}


def _driver(job: streamjob.StreamJob, node: str) -> records.Pod:
    name = names.driver_pod(job.name, changes.revision(job), 1)
    labels = {
        names.JOB: job.name, names.ROLE: names.DRIVER, names.REVISION: changes.revision(job), names.ATTEMPT: "1",
    }  # fmt: skip
    return records.Pod(
        _TEAM, name, f"uid-{name}", labels=labels, owner_uid=job.uid, created_s=BEGIN_S - 60, phase="Running",
        node=node, ready=True, ready_s=BEGIN_S - 50, requests=_NEEDS,
    )  # fmt: skip


def _executor(driver: records.Pod, number: int, now_s: float) -> records.Pod:
    name = f"{driver.name}-exec-{number}"
    return records.Pod(
        _TEAM, name, f"uid-{name}", labels={**driver.labels, names.ROLE: names.EXECUTOR}, owner_uid=driver.uid,
        created_s=now_s, requests=_NEEDS, gates=(names.GATE,), wishes=records.Wishes(),
    )  # fmt: skip


def _sitting(driver: records.Pod, number: int, node: str) -> records.Pod:
    pod = _executor(driver, number, BEGIN_S - 50)
    return dataclasses.replace(pod, gates=(), wishes=None, node=node, phase="Running", ready=True, ready_s=BEGIN_S - 40)


def _number(pod: records.Pod) -> str:
    return pod.name.rpartition("-")[2]
