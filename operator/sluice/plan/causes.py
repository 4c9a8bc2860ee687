"""Why a driver does not run, or ended: Kubernetes' words as one reason, a sentence and a hint. Called by plan.life."""

import dataclasses

from sluice.values import driver_state, records

_PULL = {"ErrImagePull", "ImagePullBackOff", "InvalidImageName", "ErrImageNeverPull", "ImageInspectError"}
_SETUP = {"CreateContainerConfigError", "CreateContainerError", "RunContainerError", "CrashLoopBackOff"}
_GONE_WITH_NODE = {"NodeLost", "NodeShutdown", "Shutdown", "Terminated"}
_GAVE_UP = 11  # Spark's exit code after spark.executor.maxNumFailures
_SHORT = 200  # of a sentence of others within one of ours


@dataclasses.dataclass(frozen=True)
class Cause:
    """One word for conditions, and a sentence with what to do."""

    reason: str
    message: str


def waiting(pod: records.Pod, lost_nodes: frozenset[str]) -> Cause | None:
    """What keeps a pod that is not over from running; None if it only needs a moment."""
    name, role = pod.name, f"{pod.role}{'s' if pod.role == 'executor' else ''}"
    said = _short(pod.waiting_message) or pod.waiting
    if pod.node in lost_nodes:
        return Cause("NodeLost", _LOST.format(pod=pod))
    if pod.unschedulable:
        hint = f"make room, or lower spec.{role}.cores or spec.{role}.memory"
        return Cause("Unschedulable", f"no node takes {name}: {_short(pod.unschedulable)}: {hint}")
    if pod.waiting in _PULL:
        hint = "look at spec.image and spec.imagePullSecrets"
        return Cause("ImagePull", f"the image of {name} cannot be pulled: {said}: {hint}")
    if pod.waiting in _SETUP:
        hint = f"look at the volumes, secrets and env of spec.{role}.template"
        return Cause("ContainerConfig", f"a container of {name} cannot start: {said}: {hint}")
    return None


_LOST = (
    "node {pod.node} of {pod.name} does not answer: what runs there may still run, so nothing takes its place until the"
    " node is back or the pod is gone; if the node is off for good:"
    " kubectl -n {pod.namespace} delete pod {pod.name} --force"
)


def failure(pod: records.Pod, attempt: int, now_s: float) -> driver_state.Failure:
    """How a driver that is over ended."""
    ended = pod.ended or records.Ended(exit_code=-1, message=pod.message)
    cause = _of_pod(pod) or _of_container(pod, ended)
    words = f"{cause.message}\n{ended.message}".strip()
    return driver_state.Failure(attempt, ended.exit_code, cause.reason, _last(words), ended.at_s or now_s)


def _of_pod(pod: records.Pod) -> Cause | None:
    if pod.reason == "Evicted":
        return Cause("Evicted", f"{pod.name} was evicted from {pod.node}: {_short(pod.message)}.")
    if pod.reason in _GONE_WITH_NODE:
        return Cause("NodeLost", f"{pod.name} ended with its node {pod.node}: {_short(pod.message)}.")
    if pod.ended is None:
        return Cause(pod.reason or "Rejected", f"{pod.name} was not run: {_short(pod.message) or pod.reason}.")
    return None


def _of_container(pod: records.Pod, ended: records.Ended) -> Cause:
    if ended.reason == "OOMKilled" or "java.lang.OutOfMemoryError" in ended.message:
        return Cause("OutOfMemory", f"{pod.name} needed more memory than it has: raise spec.driver.memory.")
    if ended.exit_code == 0:
        hint = "restart.policy is Always; a job that is meant to end needs OnFailure"
        return Cause("EndedByItself", f"{pod.name} ended with exit code 0: {hint}.")
    if ended.exit_code in (137, 143):
        return Cause("Killed", f"{pod.name} was killed from outside, exit code {ended.exit_code}.")
    if ended.exit_code in (126, 127):
        hint = "is spec.image an image of Spark, with its entry point?"
        return Cause("ContainerConfig", f"{pod.name} has nothing to run, exit code {ended.exit_code}: {hint}")
    hint = f"kubectl -n {pod.namespace} logs {pod.name}"
    if ended.exit_code == _GAVE_UP:
        why = f"too many executors failed or could not be made: {hint}; kubectl -n {pod.namespace} describe quota"
        return Cause("ExecutorsFailed", f"{pod.name} gave up, exit code {_GAVE_UP}: {why}.")
    return Cause("ApplicationError", f"{pod.name} ended with exit code {ended.exit_code}: {hint}.")


def _short(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= _SHORT else text[: _SHORT - 1] + "…"


def _last(words: str) -> str:
    """The first line, and as much of the end as there is room for."""
    if len(words) <= driver_state.LONGEST_WORDS:
        return words
    head, _, tail = words.partition("\n")
    return f"{head}\n…{tail[len(head) + 2 - driver_state.LONGEST_WORDS :]}"
