"""Four queries in one application: one runs, one has nothing to do, one fails, one is overtaken from elsewhere.

Each must be drained, fenced and reported by itself: what befalls one neither stops the others nor hides in them.
"""

from bench import checkpoint_stage, ledger, outcome
from plugin import agent, drivers, sinks, storage

_ROLES = ("runs", "idle", "fails", "overtaken")
_PATIENCE_S = 300
_HIGHER = 99


def run(book: ledger.Ledger) -> outcome.Outcome:
    """Once."""
    found = checkpoint_stage.once(book, "several queries", _measure)
    table = outcome.Table(
        f"{len(_ROLES)} queries in one application: {', '.join(_ROLES)}",
        ("is it so?", "1: yes"),
        tuple((name.replace("_", " "), f"{value:.0f}") for name, value in found.items()),
    )
    return outcome.Outcome(
        (table,), (outcome.Bar("queries-not-by-themselves", sum(v == 0 for v in found.values()), 0),)
    )


def _measure() -> dict[str, float]:
    with checkpoint_stage.standing() as stage:
        job = checkpoint_stage.job(stage, queries=len(_ROLES), roles=_ROLES, master="local[2]")
        with agent.FakeAgent(job.out / "agent") as fake, drivers.Driver(job, "a", fake.folder) as driver:
            failed = fake.wait(lambda state: _has_ended(state, 2), _PATIENCE_S)
            others = {n: _of(fake.state, n)["committed"] for n in (0, 3)}
            fake.wait(lambda state: all(_of(state, n)["committed"] > others[n] + 2 for n in others), _PATIENCE_S)
            (job.root(3) / "_sluice" / "epochs" / str(_HIGHER)).touch()
            fenced = fake.wait(lambda state: _has_ended(state, 3), _PATIENCE_S)
            reached = _of(fenced, 0)["committed"]
            fake.wait(lambda state: _of(state, 0)["committed"] > reached + 2, _PATIENCE_S)
            fake.order(drain={"id": "end", "timeoutMs": 60_000, "stop": True})
            driver.end()
            stopped = fake.wait(lambda state: state["drain"]["state"] == "stopped")
        return _judged(job, failed, fenced, stopped)


def _judged(
    job: drivers.Job, failed: agent.Document, fenced: agent.Document, stopped: agent.Document
) -> dict[str, float]:
    checkpoints = [storage.Checkpoint.of(job, None, n) for n in range(len(_ROLES))]
    ids = [one.last_ids() for one in checkpoints]
    rows = [sinks.judge(job, one.consumed(job.source), n) for n, one in enumerate(checkpoints[:2])]
    wrong = sum(one.missing + one.repeated for one in rows)
    found = {
        "the_failed_one_says_why": "made to fail" in _of(failed, 2)["problem"],
        "the_failed_one_ended_alone": [_of(failed, n)["phase"] for n in (0, 1, 3)].count("ended") == 0,
        "the_overtaken_one_says_why": f"epoch {_HIGHER} has taken" in _of(fenced, 3)["problem"],
        "the_overtaken_one_ended_alone": _of(fenced, 0)["phase"] == _of(fenced, 1)["phase"] == "running",
        "the_others_have_no_problem": all(_of(stopped, n)["problem"] == "" for n in (0, 1)),
        "the_running_one_is_at_rest": ids[0][0] == ids[0][1],
        "the_idle_one_is_at_rest": ids[1][0] == ids[1][1],
        "no_row_lost_or_repeated": wrong == 0 and rows[1].got == 50,
    }
    return {name: float(value) for name, value in found.items()}


def _has_ended(state: agent.Document, n: int) -> bool:
    """Its reason comes a moment after its end."""
    return _of(state, n).get("phase") == "ended" and _of(state, n)["problem"] != ""


def _of(state: agent.Document, n: int) -> agent.Document:
    """What is said of the query so named, for they come to their gates in any order."""
    named = [one for one in state["queries"] if one["name"] == f"q{n}"]
    return dict(named[0]) if named else {}
