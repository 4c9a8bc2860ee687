"""Drains at random moments: 50 in one driver, three of whole drivers, for every pair of kinds that Spark allows.

What a drain must leave: nothing in flight on storage, and at the sink each row once of those the checkpoint says were
read. Half of the whole drivers are told to end by SIGTERM, as a node that is drained tells them.
"""

import contextlib
import functools
import os
import random
import signal
import statistics
import time
from collections.abc import Iterator
from typing import Any

from bench import checkpoint_pairs, checkpoint_stage, ledger, outcome
from house import trouble
from plugin import agent, drivers, feeds, sinks, storage

_DRAINS = 50
_DRIVERS = "abc"
_PATIENCE_S = 300
_MORE = {"MicroBatch": 3, "RealTime": 1}  # batches before a driver is drained


def run(book: ledger.Ledger) -> outcome.Outcome:
    """Every job of the table, each remembered."""
    jobs = checkpoint_pairs.covering()
    found = {
        kinds: _rest(kinds) | checkpoint_stage.once(book, f"drain {kinds}", functools.partial(_measure, kinds, n))
        for n, kinds in enumerate(jobs)
    }
    rows = tuple(
        (
            str(kinds),
            *(str(got[name]) for name in ("rows", "missing", "repeated", "begun", "torn")),
            *checkpoint_stage.shown(got["quiet_ms"]),
            "yes" if got["rest_counts"] else "no",
        )
        for kinds, got in found.items()
    )
    refused = ", ".join(" with ".join(pair) for pair in checkpoint_pairs.refused_pairs())
    table = outcome.Table(
        f"{_DRAINS} drains in one driver and {len(_DRIVERS)} of whole drivers, every other one by SIGTERM."
        f" Every pair of kinds is there but those Spark refuses: {refused}. To quiet: from the order, or from the"
        " commit of the running batch where its rest does not count; it does in Real-Time Mode, where it is cut short",
        (
            "job",
            "rows at sink",
            "lost",
            "repeated",
            "batches begun",
            "drains with last offsets != last commits",
            "ms to quiet, median",
            "p90",
            "longest",
            "batch's rest counts",
        ),
        rows,
    )
    quiet_ms: dict[str, list[float]] = {}
    for kinds, got in found.items():
        if kinds.engine == "RealTime" or not got["rest_counts"]:
            quiet_ms.setdefault(_group(kinds), []).extend(got["quiet_ms"])
    bars = (
        outcome.Bar("drain-rows-lost", sum(got["missing"] for got in found.values()), 0),
        outcome.Bar("drain-rows-repeated", sum(got["repeated"] for got in found.values()), 0),
        outcome.Bar("drain-batches-torn", sum(got["torn"] for got in found.values()), 0),
        *(
            outcome.Bar(f"drain-to-quiet-median-s-{group}", statistics.median(ms) / 1000, 0.3)
            for group, ms in quiet_ms.items()
        ),
    )
    return outcome.Outcome((table,), bars)


def _measure(kinds: checkpoint_pairs.Kinds, number: int) -> dict[str, Any]:
    kafka = "kafka" in (kinds.source, kinds.sink)
    with checkpoint_stage.standing(kinds.store == "s3a", kafka) as stage:
        job = checkpoint_stage.job(
            stage, source=kinds.source, sink=kinds.sink, state=kinds.state, engine=kinds.engine,
            real_time="5 seconds", master=checkpoint_stage.MASTER,
        )  # fmt: skip
        checkpoint = storage.Checkpoint.of(job, stage.store)
        with feeds.feeding(job):
            quiet_ms, torn = _drains(job, checkpoint, number)
        begun, ended = checkpoint.last_ids()
        rows = sinks.judge(job, checkpoint.consumed(job.source))
        return {
            "rows": rows.got, "missing": rows.missing, "repeated": rows.repeated, "begun": begun + 1,
            "torn": torn + (begun != ended), "quiet_ms": [round(ms) for ms in quiet_ms],
            "rest_counts": kinds.engine == "RealTime",
        }  # fmt: skip


def _drains(job: drivers.Job, checkpoint: storage.Checkpoint, number: int) -> tuple[list[float], int]:
    """How long each took to be quiet once its batch was done, and after how many something was in flight."""
    quiet_ms: list[float] = []
    torn = 0
    for n, who in enumerate(_DRIVERS):
        with agent.FakeAgent(job.out / f"agent-{who}") as fake, drivers.Driver(job, who, fake.folder) as driver:
            started = checkpoint.last("commits") + _MORE[job.engine]
            with _told(driver):
                fake.wait(checkpoint_stage.at_least(started), _PATIENCE_S)
            if n == 0:
                quiet_ms, torn = _in_one_driver(job, fake, checkpoint)
            time.sleep(random.random() * 0.5)
            _end(driver, fake, by_signal=(number + n) % 2 == 0)
            torn += len(set(checkpoint.last_ids())) - 1
    return quiet_ms, torn


def _in_one_driver(job: drivers.Job, fake: agent.FakeAgent, checkpoint: storage.Checkpoint) -> tuple[list[float], int]:
    quiet_ms, torn = [], 0
    for n in range(_DRAINS):
        time.sleep(random.random() * 0.5)
        asked_s = time.time()
        fake.order(drain={"id": f"d{n}", "timeoutMs": 60_000, "stop": False})
        fake.wait(checkpoint_stage.drained(f"d{n}", "quiet"), _PATIENCE_S)
        is_quiet = checkpoint_stage.drained(f"d{n}", "quiet")
        quiet_s, quiet = next((at_s, state) for at_s, state in fake.states if is_quiet(state))
        begun, ended = checkpoint.last_ids()
        torn += begun != ended
        quiet_ms.append((quiet_s - max(asked_s, _batch_done_s(job, quiet))) * 1000)
        fake.order(drain=None)
        fake.wait(lambda state: state["drain"]["state"] == "none")
    return quiet_ms, torn


def _batch_done_s(job: drivers.Job, state: agent.Document) -> float:
    """When the running batch was done; a Real-Time one is cut short, so its rest is the drain's to answer for."""
    (query,) = state["queries"]
    return 0.0 if job.engine == "RealTime" else query["committedAtMs"] / 1000


def _rest(kinds: checkpoint_pairs.Kinds) -> dict[str, Any]:
    """What a ledger of before this was told apart says: of S3, which keeps no milliseconds, it had the whole wait."""
    return {"rest_counts": (kinds.store, kinds.engine) != ("posix", "MicroBatch")}


def _group(kinds: checkpoint_pairs.Kinds) -> str:
    return "real-time" if kinds.engine == "RealTime" else kinds.store


def _end(driver: drivers.Driver, fake: agent.FakeAgent, by_signal: bool) -> None:
    if by_signal:
        os.kill(driver.jvm(), signal.SIGTERM)
    else:
        fake.order(drain={"id": "end", "timeoutMs": 60_000, "stop": True})
    ending = driver.end()
    fake.wait(lambda state: state["drain"]["state"] == "stopped")
    if not by_signal and ending != "ended":
        raise trouble.Trouble(f"a drained driver ended with {ending!r}\n{driver.said()}")


@contextlib.contextmanager
def _told(driver: drivers.Driver) -> Iterator[None]:
    """A driver that never comes to its first batches says why."""
    try:
        yield
    except TimeoutError as why:
        raise trouble.Trouble(f"{why}\n{driver.said()}") from why
