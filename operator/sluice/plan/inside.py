"""What goes on inside a job, as its driver says: its queries for the status, and a few words for the message.

Called by plan.status, plan.measured, plan.running and plan.life.
"""

import dataclasses

from sluice.plan import orders, verdicts
from sluice.values import records, reports, views
from sluice.values.streamjob import Body

_SLACK_S = 1.0  # a pod's own moment is in whole seconds
_SENTENCES = {
    "Waiting": "Waiting at the gate",
    "Silent": "Silent, nothing was heard from inside the driver for a minute",
    "Ended": "All of its queries have ended, its program goes on",
}
_WORTH_SAYING = {"Draining", "Quiet", "Stopped", "DrainTimedOut", *_SENTENCES}


@dataclasses.dataclass(frozen=True)
class Inside:
    """All that is known of a job's driver from inside."""

    driver: str  # its pod's name
    begins: bool  # its pod is about to be made
    lives: bool
    plugged: bool  # it has the plugin, or soon will
    ever: bool  # some driver of the job had the plugin
    said: reports.Report | None  # nothing yet, or it is over


def look(view: views.JobView, verdict: verdicts.Verdict, ordered: Body | None) -> Inside:
    """At the driver that the verdict is about; `ordered` is what its agent is told."""
    pod = next((pod for pod in orders.living(view) if pod.name == verdict.driver.pod), None)
    plugged = ordered is not None and verdict.driver.pod in ordered["drivers"]
    said = heard(view, pod) if pod else None
    return Inside(verdict.driver.pod, verdict.plugged is not None, pod is not None, plugged, ordered is not None, said)


def words(view: views.JobView, pod: records.Pod) -> str:
    """What a message should add about a driver, from its `: ` on; nothing while all is as usual."""
    said = heard(view, pod)
    if said is None:
        return ""
    found = [_SENTENCES.get(said.phase, said.phase)] if said.phase in _WORTH_SAYING else []
    found += [said.drain_problem] if said.drain_problem else []
    found += [f"its orders are refused: {said.refused}"] if said.refused else []
    return "".join(f": {one}" for one in found)


def has_spark(said: reports.Report | None) -> bool:
    """Whether a driver's program has come as far as to start Spark, with the plugin in it."""
    return said is not None and said.phase != "Starting"


def failed(said: reports.Report) -> str:
    """The first query that ended and should not have, and why; nothing if none did."""
    ended = [one for one in said.queries if one.phase == "ended" and one.problem]
    return f"{ended[0].name}: {ended[0].problem}" if ended else ""


def queries(said: reports.Report) -> list[Body]:
    """As `status.queries` has them."""
    return [{name: value for name, value in _written(one).items() if value not in (None, "")} for one in said.queries]


def heard(view: views.JobView, pod: records.Pod) -> reports.Report | None:
    """What it said last. One of an earlier job of the name may have had the same name, and the Lease outlives it."""
    said = view.said.get(pod.name)
    return said if said and said.at_s >= pod.created_s - _SLACK_S else None


def _written(query: reports.Query) -> Body:
    return {
        "id": query.id,
        "name": query.name,
        "engine": query.engine,
        "phase": query.phase,
        "epoch": query.epoch,
        "committed": query.committed,
        "batch": query.batch,
        "batchMs": query.batch_ms,
        "lag": query.lag,
        "inputRowsPerSecond": query.input_rows_per_s,
        "processedRowsPerSecond": query.processed_rows_per_s,
        "problem": query.problem,
    }
