"""The executors of a driver that runs: which are to be replaced, which go next, what the others wait for. Pure.

For plan.rolling. An executor counts as fit some seconds after it is ready: it has registered, and its JVM is warm.
"""

import dataclasses
from collections.abc import Mapping, Sequence

from sluice.build import executors
from sluice.plan import causes, eligible, retry_place
from sluice.values import moves, names, records, views
from sluice.values.streamjob import Body

WARM_S = 10.0
_TOLD = 8  # names in a sentence
_SICK = ("ImagePull", "ContainerConfig", "NodeLost")  # more room would not help


@dataclasses.dataclass(frozen=True)
class Crew:
    """All of them that are not over."""

    wanted: int
    leaving: tuple[records.Pod, ...]
    present: tuple[records.Pod, ...]  # the others
    old: Mapping[str, str]  # by uid, those that are to be replaced: why
    cordoned: frozenset[str]  # nodes that are to be left
    mover: str  # who goes to another node, or nobody
    now_s: float

    @property
    def stale(self) -> list[records.Pod]:
        """Those to be replaced that nobody has sent away yet."""
        return [pod for pod in self.present if pod.uid in self.old]

    @property
    def fit(self) -> list[records.Pod]:
        """Those that work."""
        return [pod for pod in self.present if self.is_fit(pod)]

    def is_fit(self, pod: records.Pod) -> bool:
        """Whether it has been ready for a while."""
        return pod.phase == "Running" and pod.ready and self.now_s - pod.ready_s >= WARM_S

    def surplus(self) -> list[records.Pod]:
        """Those to go next: whoever does no work yet, sits on a cordoned node, is the youngest.

        While some are to be replaced it is they who go, and only once enough others work.
        """
        able, there = (self.stale, self.fit) if self.stale else (self.present, self.present)
        return self._dearest_last(able)[: max(0, len(there) - self.wanted)]

    def idle(self) -> list[records.Pod]:
        """Those to be replaced that do not run: nothing is lost with them."""
        return [pod for pod in self.stale if pod.phase != "Running"]

    def expendable(self) -> list[records.Pod]:
        """Those whose own room serves their replacement: not on a cordoned node, nor if it is to be on another."""
        able = (pod for pod in self._dearest_last(self.stale) if pod.name != self.mover)
        return [pod for pod in able if self.is_fit(pod) and pod.node not in self.cordoned]

    def unfit(self) -> list[records.Pod]:
        """Those that are awaited."""
        return [pod for pod in self.present if not self.is_fit(pod)]

    def _dearest_last(self, pods: Sequence[records.Pod]) -> list[records.Pod]:
        return sorted(pods, key=lambda pod: (pod.phase == "Running", pod.node not in self.cordoned, -int(number(pod))))


def of(view: views.JobView, driver: records.Pod, told: Body) -> Crew:
    """The driver's, by what it is told."""
    named = told.get("executors", {}).get("decommission", ())
    pods = [pod for pod in view.pods if pod.owner_uid == driver.uid and number(pod).isdecimal() and not pod.over]
    leaving = tuple(pod for pod in pods if pod.deleting or number(pod) in named)
    # Who says in the template that cordons do not matter is left alone, or would be sent to and fro.
    cordoned = view.cordoned if eligible.leaves_cordoned(view.job.spec.executors.template) else frozenset()
    mark = executors.mark(view.job) if "executorTemplate" in told else ""
    now = moves.read(view.job.status).now
    moved = {now.wish.executor: f"it moves to {now.wish.target}"} if now and now.phase == moves.MOVING else {}
    old = {pod.uid: why for pod in pods if (why := _why(pod, mark, cordoned) or moved.get(pod.name, ""))}
    present = tuple(pod for pod in pods if pod not in leaving)
    return Crew(view.job.spec.executors.count, leaving, present, old, cordoned, next(iter(moved), ""), view.now_s)


def number(pod: records.Pod) -> str:
    """As Spark counts it, the youngest highest; of another pod nothing that is a number."""
    return pod.name.rpartition("-exec-")[2] if pod.role == names.EXECUTOR else ""


def numbers(pods: Sequence[records.Pod]) -> str:
    """For a sentence."""
    if len(pods) > _TOLD:
        return f"{len(pods)} executors"
    found = ", ".join(sorted((number(pod) for pod in pods), key=int))
    return f"executor{'s' if len(pods) > 1 else ''} {found}"


def state(view: views.JobView, pod: records.Pod) -> str:
    """What is awaited of it."""
    cause = causes.waiting(pod, view.lost_nodes)
    return cause.message if cause else f"{pod.name} has to {'warm up' if pod.phase == 'Running' else 'run'} first"


def shut_out(view: views.JobView, crew: Crew, *, overdue: bool) -> str:
    """Why one more finds no room, or nothing: it may still come, or it is something else that keeps it from running."""
    retried = {pod.uid for pod, _ in retry_place.turned_away(view)}
    coming = [pod for pod in crew.unfit() if pod.uid not in crew.old and pod.uid not in retried]
    found = [(pod, causes.waiting(pod, view.lost_nodes)) for pod in coming]
    if any(pod.phase == "Running" or (cause and cause.reason in _SICK) for pod, cause in found):
        return ""
    turned_down = [cause.message for _, cause in found if cause]
    late = f"{coming[0].name} is {coming[0].phase} for too long" if coming else "Spark was given no further one"
    return turned_down[0] if turned_down else late if overdue else ""


def _why(pod: records.Pod, mark: str, cordoned: frozenset[str]) -> str:
    if pod.node in cordoned:
        return f"node {pod.node} is cordoned"
    return "it is of an earlier template" if mark and pod.labels.get(names.TEMPLATE) != mark else ""
