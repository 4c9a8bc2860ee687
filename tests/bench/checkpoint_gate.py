"""A new driver at its gate beside the old one: it writes nothing, and what does not fit is refused before any drain.

The old driver commits 100 batches meanwhile. While the new one starts and warms up it rests and stands still, so that
whatever changes is the new one's; it may write below `_sluice/` meanwhile, and must leave nothing there.
"""

import contextlib
import dataclasses
import os
import signal
import time
from collections.abc import Iterator

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
            with contextlib.ExitStack() as stack:
                with _at_rest(old, old_agent):
                    before = checkpoint_stage.on_disk(job.out / "checkpoint")
                    new = stack.enter_context(drivers.Driver(job, "new", new_agent.folder))
                    written = _written(new, new_agent, before)
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
    said = state.get("warmUp", "")
    if "cold" in said:
        raise trouble.Trouble(said)
    return "loaded" in said and all(one["phase"] == "gate" for one in state["queries"])


@contextlib.contextmanager
def _at_rest(old: drivers.Driver, fake: agent.FakeAgent) -> Iterator[None]:
    """The old driver has nothing in flight, and does nothing at all."""
    fake.order(drain={"id": "look", "timeoutMs": 60_000, "stop": False})
    fake.wait(checkpoint_stage.drained("look", "quiet"))
    os.kill(old.jvm(), signal.SIGSTOP)
    try:
        yield
    finally:
        os.kill(old.jvm(), signal.SIGCONT)
    fake.order(drain=None)
    fake.wait(lambda state: state["drain"]["state"] == "none")


def _written(new: drivers.Driver, fake: agent.FakeAgent, before: dict[str, str]) -> int:
    """Files the new driver wrote, changed or removed, for a moment or for good, until it has waited for a while."""
    changed: set[str] = set()

    def look() -> bool:
        now = checkpoint_stage.on_disk(new.job.out / "checkpoint")
        changed.update(name for name, _ in now.items() ^ before.items() if "/_sluice/" not in name)
        return _is_loaded(fake.state)

    new.until(look, _PATIENCE_S)
    ends_s = time.monotonic() + _WATCHED_S
    new.until(lambda: look() and time.monotonic() > ends_s, 2 * _WATCHED_S)
    left = {name for name, _ in checkpoint_stage.on_disk(new.job.out / "checkpoint").items() ^ before.items()}
    print(f"written while waiting: {sorted(changed | left)}", flush=True)
    return len(changed | left)


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
