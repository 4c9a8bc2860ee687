"""Pods of a job that nobody needs any more, and the numbers of attempts. For plan.life, plan.ended; pure."""

from collections.abc import Collection, Iterable

from sluice.values import driver_state, handoff, names, records, steps, views


def left(view: views.JobView, spared: Collection[str] = ()) -> list[records.Pod]:
    """Executors of drivers that are no more; spared are the uids of those that live."""
    return [pod for pod in view.pods if pod.role == names.EXECUTOR and pod.owner_uid not in spared]


def forgotten(view: views.JobView) -> list[records.Pod]:
    """Drivers that ended before the last one: the last is kept, to be looked at."""
    ended = [pod for pod in view.pods if pod.role == names.DRIVER and pod.over]
    return sorted(ended, key=attempt)[:-1]


def deletes(pods: Iterable[records.Pod]) -> tuple[steps.Step, ...]:
    """What takes them away."""
    return tuple(steps.Delete("Pod", pod.namespace, pod.name, pod.uid) for pod in pods if not pod.deleting)


def attempt(pod: records.Pod) -> int:
    """Which one a driver is of; 0 if somebody took its label away."""
    text = pod.labels.get(names.ATTEMPT, "")
    return int(text) if text.isdecimal() else 0


def next_attempt(view: views.JobView, state: driver_state.DriverState) -> int:
    """The number of the next: one that was prepared and never took over has had one, too."""
    return max(state.attempt, handoff.read(view.job.status).attempt) + 1
