"""A new driver at its gate beside the old one: it writes nothing, and what does not fit is refused before any drain.

The old driver commits 100 batches meanwhile; for a look at what the new one writes it rests and stands still a while.
"""

import dataclasses
import os
import signal
import time

from bench import checkpoint_stage, ledger, outcome
from house import trouble
from plugin import agent, drivers, sinks, storage

_BATCHES = 100
_PATIENCE_S = 600
_WATCHED_S = 12.0  # two loads of state, and what Spark does to state from time to time
_SOON = {"spark.sql.streaming.stateStore.maintenanceInterval": "5s"}
_UNFIT: dict[str, tuple[dict[str, object], str]] = {
    "source": ({"source": "rate"}, "from the sources ["),
    "schema": ({"key": "cast(id % 20 as string)"}, "does not fit the state"),
    "partitions": ({"conf": {**_SOON, "spark.sql.shuffle.partitions": "3"}}, "its state has 2 partitions"),
    "state format": (
        {"conf": {**_SOON, "spark.sql.streaming.stateStore.checkpointFormatVersion": "1"}},
        "its state has format 2",
    ),
}


def run(book: ledger.Ledger) -> outcome.Outcome:
    """Once."""
    found = checkpoint_stage.once(book, "gate", _measure)
    table = outcome.Table(
        f"A new driver waits at its gate, warm, while the old one commits {_BATCHES} batches; beside them four more,"
        " each unfit in another way",
        ("", "figure"),
        tuple((name.replace("_", " "), f"{value:.0f}") for name, value in found.items()),
    )
    bars = (
        outcome.Bar("gate-files-written-while-waiting", found["files_written_while_waiting"], 0),
        outcome.Bar("gate-batches-meanwhile", found["batches_meanwhile"], _BATCHES, at_least=True),
        outcome.Bar("gate-rows-lost-or-repeated", found["rows_lost"] + found["rows_repeated"], 0),
        outcome.Bar("gate-unfit-refused", found["unfit_refused"], len(_UNFIT), at_least=True),
        outcome.Bar("gate-drains-asked-for-the-unfit", found["drains_meanwhile"], 0),
    )
    return outcome.Outcome((table,), bars)


def _measure() -> dict[str, float]:
    with checkpoint_stage.standing() as stage:
        job = checkpoint_stage.job(stage, state="aggregation", master="local[2]", conf=_SOON)
        checkpoint = storage.Checkpoint.of(job)
        with (
            agent.FakeAgent(job.out / "agent-old") as old_agent,
            agent.FakeAgent(job.out / "agent-new") as new_agent,
            drivers.Driver(job, "old", old_agent.folder) as old,
        ):
            old_agent.wait(checkpoint_stage.at_least(3), _PATIENCE_S)
            new_agent.order(gate={"open": False}, warmUp=True, preload=True)
            with drivers.Driver(job, "new", new_agent.folder) as new:
                new_agent.wait(_is_loaded, _PATIENCE_S)
                written = _written(old, old_agent)
                began, said = checkpoint.last("commits"), len(old_agent.states)
                refused = sum(_is_refused(job, what, *unfit) for what, unfit in _UNFIT.items())
                drains = sum(state["drain"]["state"] != "none" for _, state in old_agent.states[said:])
                old_agent.wait(checkpoint_stage.at_least(began + _BATCHES), _PATIENCE_S)
                meanwhile = checkpoint.last("commits") - began
                waits = all(one["phase"] == "gate" for one in new_agent.state["queries"])
                _hand_over(old, old_agent, new, new_agent)
        rows = sinks.judge(job, checkpoint.consumed(job.source))
        batches = [call["batch"] for call in drivers.calls(job.out)]
        return {
            "files_written_while_waiting": written, "batches_meanwhile": meanwhile if waits else 0,
            "unfit_refused": refused, "drains_meanwhile": drains, "rows_lost": rows.missing,
            "rows_repeated": rows.repeated + (batches != list(range(len(batches)))),
        }  # fmt: skip


def _is_loaded(state: agent.Document) -> bool:
    if "cold" in state["warmUp"]:
        raise trouble.Trouble(state["warmUp"])
    return "loaded" in state["warmUp"] and all(one["phase"] == "gate" for one in state["queries"])


def _written(driver: drivers.Driver, old: agent.FakeAgent) -> int:
    """Files the waiting driver wrote, changed or removed, seen while the old one rests."""
    old.order(drain={"id": "look", "timeoutMs": 60_000, "stop": False})
    old.wait(checkpoint_stage.drained("look", "quiet"))
    os.kill(driver.jvm(), signal.SIGSTOP)
    before = checkpoint_stage.on_disk(driver.job.out / "checkpoint")
    time.sleep(_WATCHED_S)
    after = checkpoint_stage.on_disk(driver.job.out / "checkpoint")
    os.kill(driver.jvm(), signal.SIGCONT)
    old.order(drain=None)
    old.wait(lambda state: state["drain"]["state"] == "none")
    changed = sorted({name for name, _ in set(before.items()) ^ set(after.items())})
    print(f"written while waiting: {changed}", flush=True)
    return len(changed)


def _is_refused(job: drivers.Job, what: str, change: dict[str, object], sentence: str) -> bool:
    """At a closed gate: nobody has decided yet that this driver is to take over."""
    unfit = dataclasses.replace(job, **change)  # type: ignore[arg-type]
    who = f"unfit-{what.replace(' ', '-')}"
    with agent.FakeAgent(job.out / f"agent-{who}") as fake:
        fake.order(gate={"open": False})
        with drivers.Driver(unfit, who, fake.folder) as driver:
            ending = driver.end()
    print(f"{what}: {ending.splitlines()[0][:400]}", flush=True)
    return sentence in ending


def _hand_over(
    old: drivers.Driver, old_agent: agent.FakeAgent, new: drivers.Driver, new_agent: agent.FakeAgent
) -> None:
    old_agent.order(drain={"id": "over", "timeoutMs": 60_000, "stop": True})
    old_agent.wait(checkpoint_stage.drained("over", "quiet", "stopped"))
    reached = old_agent.state["queries"][0]["committed"]
    new_agent.order(gate={"open": True})
    new_agent.wait(checkpoint_stage.at_least(reached + 3), _PATIENCE_S)
    old.end()
    new_agent.order(drain={"id": "end", "timeoutMs": 60_000, "stop": True})
    new.end()
