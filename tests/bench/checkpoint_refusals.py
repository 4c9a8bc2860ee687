"""Asks Spark whether it really refuses in Real-Time Mode what :mod:`bench.checkpoint_pairs` leaves out."""

import functools
import re

from bench import checkpoint_pairs, checkpoint_stage, ledger, outcome
from plugin import drivers

_CONDITION = re.compile(r"\[([A-Z][A-Z_0-9]+(?:\.[A-Z_0-9]+)*)\] ([^\n]*)")


def run(book: ledger.Ledger) -> outcome.Outcome:
    """One driver for each."""
    left_out = [(factor, value) for factor, values in checkpoint_pairs.NOT_IN_REAL_TIME.items() for value in values]
    found = {
        (factor, value): checkpoint_stage.once(
            book, f"refused {value} {factor}", functools.partial(_ask, factor, value)
        )
        for factor, value in left_out
    }
    rows = tuple((f"{factor} {value}", answer["why"]) for (factor, value), answer in found.items())
    table = outcome.Table("Left out in Real-Time Mode, for Spark says", ("kind", "Spark's own reason"), rows)
    accepted = sum(answer["why"] == "" for answer in found.values())
    return outcome.Outcome((table,), (outcome.Bar("kinds-left-out-though-spark-takes-them", accepted, 0),))


def _ask(factor: str, value: str) -> dict[str, str]:
    with checkpoint_stage.standing() as stage:
        kinds = {"sink": "lines", factor: value}
        job = checkpoint_stage.job(stage, engine="RealTime", real_time="5 seconds", master="local[8]", **kinds)
        (job.out / "input").mkdir(parents=True)
        with drivers.Driver(job, "a", None, plugin={}) as driver:
            driver.process.wait(120)
            said = _CONDITION.search(driver.log.read_text())
    return {"why": f"{said[1]}: {said[2][:200]}" if said else ""}
