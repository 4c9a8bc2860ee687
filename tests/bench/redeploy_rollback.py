"""A new revision is bad, each in another way, under load: how long until the old one is back, and at what cost."""

import functools
import time
from typing import Any

from bench import ledger, outcome, redeploy_kinds, redeploy_stage
from demo import plain_spark, streamjobs

_WAYS = {
    "crashes": "crashes before its query starts",
    "fails": "fails at its third batch",
    "slow": "is slower than the SLO",
    "hangs": "hangs before its query starts",
}
_SLO: dict[str, Any] = {"slo": {"batchLatency": "2s"}, "update": {"rollback": {"batches": 5}}}
_PATIENCE_S = 900


def run(book: ledger.Ledger) -> outcome.Outcome:
    """Each way, remembered."""
    found = {wrong: book.once(f"rollback {wrong}", functools.partial(_measure, wrong)) for wrong in _WAYS}
    rows = tuple(
        (_WAYS[wrong], *(str(one[word]) for word in ("back_s", "records", "lost", "repeated", "said")))
        for wrong, one in found.items()
    )
    header = ("the new revision", "s until the old one is back", "records", "lost", "repeated", "what status says")
    bars = (
        outcome.Bar("rollback-ways-back", len(found), len(_WAYS), at_least=True),
        outcome.Bar("rollback-records-lost", sum(one["lost"] for one in found.values()), 0),
        outcome.Bar("rollback-records-repeated", sum(one["repeated"] for one in found.values()), 0),
    )
    return outcome.Outcome((outcome.Table("A bad revision, rolled back without a person", header, rows),), bars)


def _measure(wrong: str) -> dict[str, Any]:
    with redeploy_stage.running(redeploy_kinds.of("foreach-batch"), **_SLO) as (job, load):
        good = job.status()["revision"]
        bad = redeploy_kinds.of("foreach-batch", wrong)
        began_s = time.monotonic()
        job.change(application=dict(bad.application))
        plain_spark.until(f"{good} is back", functools.partial(_is_back, job, good), _PATIENCE_S)
        back_s = round(time.monotonic() - began_s)
        begun = load.sent + 5 * redeploy_stage.RECORDS_S
        plain_spark.until("it goes on", lambda: load.sent > begun)
        said = job.status()["givenUp"]["why"]
        return {"back_s": back_s, "said": said, **redeploy_kinds.judge(job, load)}


def _is_back(job: streamjobs.Job, good: str) -> bool:
    """The other revision is given up, and the one before runs, alone."""
    status = job.status()
    alone = status.get("handoff", {}).get("phase") not in ("Preparing", "Draining", "Taking")
    given_up = status.get("givenUp", {}).get("revision", good) != good
    return given_up and alone and status["revision"] == good and job.condition("Ready")["status"] == "True"
