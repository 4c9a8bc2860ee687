"""What the parts of ``make bench NAME=checkpoint`` have in common: a folder, a store, a broker, waiting for a batch.

A part measures under names of its own in the ledger, on a jar built from this tree; none begins a measurement when an
hour is over.
"""

import contextlib
import dataclasses
import hashlib
import os
import pathlib
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from bench import jar, ledger
from house import trouble
from plugin import agent, broker, drivers, s3

_SLICE_S = 3000.0
_BEGAN_S = time.monotonic()
ALL_KEPT = {"spark.sql.streaming.minBatchesToRetain": "2000"}  # where the times of their files are the measurement
_STATE = "spark.sql.streaming.stateStore"
ROCKSDB = {f"{_STATE}.providerClass": "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"}
FORMAT_2 = {  # what the plugin chooses for the state of a new checkpoint, for drivers without it
    **ROCKSDB,
    f"{_STATE}.rocksdb.changelogCheckpointing.enabled": "true",
    f"{_STATE}.checkpointFormatVersion": "2",
}
MASTER = "local[4]"  # Real-Time Mode runs the tasks of both stages at once


@dataclasses.dataclass(frozen=True)
class Stage:
    """Where one measurement is played."""

    folder: pathlib.Path
    store: s3.Store | None
    kafka: str


@contextlib.contextmanager
def standing(s3a: bool = False, kafka: bool = False) -> Iterator[Stage]:
    """A stage; it is gone afterwards, with all that runs on it."""
    with contextlib.ExitStack() as stack:
        folder = pathlib.Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="sluice-checkpoint-")))
        store = stack.enter_context(s3.serving()) if s3a else None
        servers = stack.enter_context(broker.serving(folder / "kafka")) if kafka else ""
        yield Stage(folder, store, servers)


def job(stage: Stage, **kinds: object) -> drivers.Job:
    """A job on a stage, its checkpoint on the stage's store."""
    made = drivers.Job(stage.folder / "job", kafka=stage.kafka, topic="rows")
    if stage.store:
        made = dataclasses.replace(made, checkpoint=stage.store.url("checkpoint"), conf=stage.store.conf())
    return dataclasses.replace(made, **kinds)  # type: ignore[arg-type]


def once(book: ledger.Ledger, name: str, measure: Callable[[], object]) -> dict[str, Any]:
    """A measurement, unless the ledger has it; an hour's slice that is full says so."""

    def in_time() -> object:
        if time.monotonic() - _BEGAN_S > _SLICE_S:
            raise trouble.Trouble(f"this hour is full before {name!r}")
        jar.build()
        print(f"{time.strftime('%H:%M:%S')} {name}", flush=True)
        found = measure()
        print(f"{time.strftime('%H:%M:%S')} {name}: {found}", flush=True)
        return found

    return dict(book.once(name, in_time))


def on_disk(folder: pathlib.Path) -> dict[str, str]:
    """Every file below a folder, by content and time."""
    found: dict[str, str] = {}
    for at, _, names in os.walk(folder):  # which minds no folder that goes meanwhile
        for file in (pathlib.Path(at, name) for name in names):
            with contextlib.suppress(FileNotFoundError):  # a part that was renamed meanwhile
                digest = hashlib.sha256(file.read_bytes()).hexdigest()
                found[str(file.relative_to(folder))] = f"{digest} {file.stat().st_mtime_ns}"
    return found


def at_least(batch: int) -> Callable[[agent.Document], bool]:
    """Every query has committed that batch."""
    return lambda state: bool(state["queries"]) and all(one["committed"] >= batch for one in state["queries"])


def drained(drain: str, *states: str) -> Callable[[agent.Document], bool]:
    """That drain has come to one of these states."""
    return lambda state: state["drain"]["id"] == drain and state["drain"]["state"] in states


def shown(values: Sequence[float]) -> tuple[str, str, str]:
    """Median, nine in ten, and the longest."""
    ordered = sorted(values)
    return tuple(f"{v:.0f}" for v in (statistics.median(ordered), ordered[len(ordered) * 9 // 10], ordered[-1]))  # type: ignore[return-value]
