"""What gate, drain, fence and measuring cost a job of 200 ms batches: with and without the plugin, taking turns.

Two drivers of the same job; while one runs 20 batches the other stands still. The first batches after standing still
catch up and are left out. The noise is how far the turns of the plain driver lie apart. Both have run for a minute
before: what a JVM does it does in half the time once it has compiled it, and a stream runs for weeks.
"""

import contextlib
import dataclasses
import os
import signal
import statistics
from collections.abc import Iterator, Sequence

from bench import checkpoint_stage, ledger, outcome
from plugin import agent, drivers, storage

_TURNS, _BATCHES, _CATCH_UP = 10, 20, 3
_WARM_BATCHES = 300
_PATIENCE_S = 300
_CONF = {**checkpoint_stage.ALL_KEPT, **checkpoint_stage.FORMAT_2}  # for both: this is not about stores of state


def run(book: ledger.Ledger) -> outcome.Outcome:
    """Once."""
    found = checkpoint_stage.once(book, "cost", _measure)
    table = outcome.Table(
        f"{_TURNS * _BATCHES} batches with and {_TURNS * _BATCHES} without the plugin, in turns of {_BATCHES}",
        ("", "figure"),
        tuple((name.replace("_", " "), f"{value:.4g}") for name, value in found.items()),
    )
    bars = (
        outcome.Bar("plugin-batch-slower-beyond-noise", found["slower"] - found["noise"], 0),
        outcome.Bar("own-share-of-batch", found["own_share"], 0.01),
        outcome.Bar("own-share-of-all-batches", found["own_share_of_all"], 0.01),
        outcome.Bar("own-ms-a-batch", found["own_ms"], 1.0),
        outcome.Bar("own-ms-a-batch-p99", found["own_p99_ms"], 1.0),
    )
    return outcome.Outcome((table,), bars)


def _measure() -> dict[str, float]:
    with checkpoint_stage.standing() as stage, contextlib.ExitStack() as stack:
        fake = stack.enter_context(agent.FakeAgent(stage.folder / "agent"))
        made = checkpoint_stage.job(
            stage, state="aggregation", trigger="200 milliseconds", master="local[2]", conf=_CONF
        )
        on = stack.enter_context(_still(drivers.Driver(_at(made, "with"), "a", fake.folder)))
        off = stack.enter_context(_still(drivers.Driver(_at(made, "without"), "a", None, plugin={})))
        turns: dict[str, list[dict[int, float]]] = {"with": [], "without": []}
        for _ in range(_TURNS):
            turns["with"].append(_turn(on))
            turns["without"].append(_turn(off))
        counted = {number for turn in turns["with"] for number in turn}
        measured = [batch for batch in fake.batches if batch["batch"] in counted and batch["rows"]]
    medians = {name: statistics.median(ms for turn in spans for ms in turn.values()) for name, spans in turns.items()}
    plain = [statistics.median(turn.values()) for turn in turns["without"]]
    return {
        "with_ms": medians["with"], "without_ms": medians["without"],
        "slower": medians["with"] / medians["without"] - 1,
        "noise": statistics.quantiles(plain, n=4)[2] / statistics.quantiles(plain, n=4)[0] - 1,
        **_own(measured),
    }  # fmt: skip


def _own(batches: Sequence[agent.Document]) -> dict[str, float]:
    """What the plugin counted itself: listening, and the CPU time of telling the agent."""
    own_ms = sorted(batch["ownUs"] / 1000 for batch in batches)
    return {
        "own_share": statistics.median(batch["ownUs"] / 1000 / max(1, batch["batchMs"]) for batch in batches),
        "own_share_of_all": sum(own_ms) / sum(batch["batchMs"] for batch in batches),
        "own_ms": statistics.median(own_ms),
        "own_p99_ms": own_ms[len(own_ms) * 99 // 100], "own_longest_ms": own_ms[-1],
    }  # fmt: skip


def _at(job: drivers.Job, name: str) -> drivers.Job:
    return dataclasses.replace(job, out=job.out / name)


@contextlib.contextmanager
def _still(driver: drivers.Driver) -> Iterator[drivers.Driver]:
    """A driver that is warm, and stands still."""
    with driver:
        checkpoint = storage.Checkpoint.of(driver.job)
        driver.until(lambda: checkpoint.last("commits") >= _WARM_BATCHES, _PATIENCE_S)
        os.kill(driver.jvm(), signal.SIGSTOP)
        yield driver


def _turn(driver: drivers.Driver) -> dict[int, float]:
    """Lets it run so many batches; how many ms each took, from its offsets to its commit."""
    checkpoint = storage.Checkpoint.of(driver.job)
    first = checkpoint.last("offsets") + 1 + _CATCH_UP
    os.kill(driver.jvm(), signal.SIGCONT)
    driver.until(lambda: checkpoint.last("commits") >= first + _BATCHES, _PATIENCE_S)
    os.kill(driver.jvm(), signal.SIGSTOP)
    written = {
        log: {n: (driver.job.root() / log / str(n)).stat().st_mtime for n in range(first, first + _BATCHES)}
        for log in ("offsets", "commits")
    }
    return {n: (written["commits"][n] - written["offsets"][n]) * 1000 for n in range(first, first + _BATCHES)}
