"""``make bench NAME=checkpoint``: drains in one driver, and what the plugin costs a fast job.

On Spark's local mode, with the tests' own source and sink (:mod:`plugin.drivers`).
"""

import pathlib
import random
import statistics
import tempfile
import time
from collections.abc import Callable

from bench import ledger, outcome
from house import stages, testing
from plugin import agent, drivers

_DRAINS = 50
_BATCHES = 200
_WARM_BATCHES = 20


def run(_: ledger.Ledger) -> outcome.Outcome:
    """Every part once, on a jar built from this tree."""
    stages.run("JVM tools", testing.jvm_stages())
    testing.build_plugin()
    with tempfile.TemporaryDirectory(prefix="sluice-checkpoint-") as folder:
        at = pathlib.Path(folder)
        return drains(at / "drains") + cost(at / "cost")


def drains(at: pathlib.Path) -> outcome.Outcome:
    """Drain and un-drain one running driver at random moments; count what its sink got."""
    job = drivers.Job(at, most=2**60)
    quiet_ms = []
    with agent.FakeAgent(at / "agent") as fake, drivers.Driver(job, "a", fake.folder):
        fake.wait(lambda state: state["queries"] and state["queries"][0]["committed"] >= _WARM_BATCHES, 300)
        for n in range(_DRAINS):
            time.sleep(random.random() * 0.5)
            asked_s = time.time()
            fake.order(drain={"id": f"d{n}", "timeoutMs": 60_000, "stop": False})
            fake.wait(_quiet(f"d{n}"))
            quiet_s = fake.states[-1][0]
            ended_s = (job.root() / "commits" / str(drivers.last_ids(job.root())[1])).stat().st_mtime
            quiet_ms.append((quiet_s - max(asked_s, ended_s)) * 1000)
            fake.order(drain=None)
            fake.wait(lambda state: state["drain"]["state"] == "none")
        fake.order(drain={"id": "end", "timeoutMs": 60_000, "stop": True})
        fake.wait(lambda state: state["drain"]["state"] == "stopped")
    begun, ended = drivers.last_ids(job.root())
    rows = drivers.sink_rows(job)
    table = outcome.Table(
        f"{_DRAINS} drains and un-drains of one driver",
        ("rows", "missing", "repeated", "batches", "quiet, median ms", "p90 ms", "longest ms"),
        ((*map(str, (rows.got, rows.missing, rows.repeated, ended + 1)), *_shown(quiet_ms)),),
    )
    bars = (
        outcome.Bar("drain-rows-lost-or-repeated", rows.missing + rows.repeated, 0),
        outcome.Bar("drain-batches-begun-not-committed", begun - ended, 0),
        outcome.Bar("drain-to-quiet-median-s", statistics.median(quiet_ms) / 1000, 0.3),
    )
    return outcome.Outcome((table,), bars)


def _quiet(drain: str) -> Callable[[agent.Document], bool]:
    return lambda state: bool((state["drain"]["id"], state["drain"]["state"]) == (drain, "quiet"))


def _reached(root: pathlib.Path, batch: int) -> Callable[[], bool]:
    return lambda: drivers.last_ids(root)[1] >= batch


def _shown(values_ms: list[float]) -> tuple[str, ...]:
    ordered = sorted(values_ms)
    return tuple(f"{ms:.0f}" for ms in (statistics.median(ordered), ordered[len(ordered) * 9 // 10], ordered[-1]))


def cost(at: pathlib.Path) -> outcome.Outcome:
    """Two drivers of the same job side by side, one with the plugin: so the machine's moods meet both."""
    jobs = {
        name: drivers.Job(at / name, state="aggregation", trigger="200 milliseconds") for name in ("with", "without")
    }
    with agent.FakeAgent(at / "agent") as fake:
        with (
            drivers.Driver(jobs["with"], "a", fake.folder) as on,
            drivers.Driver(jobs["without"], "a", None, plugin={}) as off,
        ):
            for driver in (on, off):
                driver.until(_reached(driver.job.root(), _WARM_BATCHES + _BATCHES), 600)
        batches = fake.batches[_WARM_BATCHES:]
    took_ms = {name: _batch_ms(job) for name, job in jobs.items()}
    own = [batch["ownUs"] / 1000 / max(1, batch["batchMs"]) for batch in batches]
    table = outcome.Table(
        f"{_BATCHES} batches, with and without the plugin, side by side",
        ("", "batch, median ms", "p90 ms", "longest ms"),
        tuple((name, *_shown(values)) for name, values in took_ms.items()),
    )
    bars = (
        outcome.Bar("own-share-of-batch", statistics.median(own), 0.01),
        outcome.Bar("own-ms-a-batch", statistics.median(batch["ownUs"] for batch in batches) / 1000, 1.0),
    )
    return outcome.Outcome((table,), bars)


def _batch_ms(job: drivers.Job) -> list[float]:
    """From a batch's offsets to its commit, as their files say: both kinds of driver write them."""
    began, ended = (_written_s(job.root() / log) for log in ("offsets", "commits"))
    return [(ended[n] - began[n]) * 1000 for n in sorted(ended) if n in began and n >= _WARM_BATCHES]


def _written_s(log: pathlib.Path) -> dict[int, float]:
    return {n: (log / str(n)).stat().st_mtime for n in drivers.ids(log)}
