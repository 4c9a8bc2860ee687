"""Images with a Spark that Sluice does not know: the job runs, as plain Spark, and the agent tells the operator why."""

import functools

from agent import fake_api
from bench import checkpoint_stage, ledger, outcome
from house import stages
from plugin import beside, drivers, older

_BATCHES = 5


def run(book: ledger.Ledger) -> outcome.Outcome:
    """One driver for each version."""
    stages.run("older Sparks", [older.stage(version) for version in older.VERSIONS])
    found = {
        version: checkpoint_stage.once(book, f"spark {version}", functools.partial(_measure, version))
        for version in older.VERSIONS
    }
    rows = tuple((version, f"{one['batches']:.0f}", one["problem"]) for version, one in found.items())
    title = "Other Sparks, started with the words of an operator's driver pod"
    table = outcome.Table(title, ("Spark", "batches", "what the agent tells"), rows)
    plain = sum(one["problem"].endswith("so this job runs as plain Spark") for one in found.values())
    bar = outcome.Bar("sparks-that-do-not-run-unmanaged", len(older.VERSIONS) - plain, 0)
    return outcome.Outcome((table,), (bar,))


def _measure(version: str) -> dict[str, object]:
    with checkpoint_stage.standing() as stage, fake_api.serving() as api:
        shared = beside.folder(stage.folder / "shared")
        beside.order(api, 1, gate={"open": True})
        agent = beside.start(api, shared)
        try:
            with older.start(version, stage.folder, shared) as driver:
                driver.until(lambda: drivers.last_ids(older.root(stage.folder))[1] >= _BATCHES)
                driver.until(lambda: api.said_by(beside.POD).get("problem"))
                batches = drivers.last_ids(older.root(stage.folder))[1]
                return {"batches": batches, "problem": api.said_by(beside.POD)["problem"]}
        finally:
            beside.kill(agent)
