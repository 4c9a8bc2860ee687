"""What one batch of one query did, as the plugin measured it; read strictly.

From :mod:`sluice_agent.talk` to :mod:`sluice_agent.tally`. See `batch` in `images/spark/plugin/PROTOCOL.md`.
"""

import dataclasses
from collections.abc import Mapping
from typing import Any

from sluice_agent import documents

MOST_EXECUTORS = 1000
_MOST_BUCKETS = 2000
_MOST_PAIRS = 20_000
PARTS = (  # Spark's own, in the order in which a batch goes through them
    "latestOffset", "getOffset", "setOffsetRange", "walCommit", "getEndOffset", "getBatch", "queryPlanning", "addBatch",
    "commitBatch", "commitOffsets", "triggerExecution",
)  # fmt: skip
# What is summed per executor: field, and what one of it is in the unit of the metric.
WORK = {
    "tasks": 1.0, "failed": 1.0, "rows": 1.0, "inputBytes": 1.0, "runMs": 1e-3, "cpuMs": 1e-3, "pythonMs": 1e-3,
    "gcMs": 1e-3, "lostMs": 1e-3, "localBytes": 1.0, "remoteBytes": 1.0, "fetchWaitMs": 1e-3, "writtenBytes": 1.0,
}  # fmt: skip


@dataclasses.dataclass(frozen=True)
class Work:
    """One executor's part."""

    sums: Mapping[str, float]  # by the fields of WORK, times in seconds
    task_s: tuple[tuple[float, int], ...]  # lower edge of a bucket, tasks in it
    scan_rows: int = 0  # of the batch's input
    scan_s: float = 0.0  # from the scan's begin until it had read all of its rows
    beaten_s: float = 0.0  # so long after it a task of its own was not done, and a copy of it was; 0: none


@dataclasses.dataclass(frozen=True)
class Batch:
    """One that has ended."""

    query: str
    name: str
    batch: int
    rows: float
    took_s: float
    part_s: Mapping[str, float]
    gauges: Mapping[str, float]  # of what Spark knows: rates, lag, delay, state
    dropped: float
    own_s: float
    executors: Mapping[str, Work]
    crew: Mapping[str, int]  # who could take tasks when it was planned, and how many at once
    pieces: int  # into how many its input was cut; 0: as its source had it
    cut: str  # why it was not cut; empty where it was, or nothing was told
    stretch: tuple[tuple[float, int], ...]  # how many times its stage's median a task took, and how many tasks did
    pairs: Mapping[str, Mapping[str, float]]  # shuffled bytes, from and to


def read(found: Mapping[str, Any]) -> Batch:
    """The batch in a document of the plugin's."""
    query = documents.name(found, "query", "batch.")
    state = documents.within(found, "state", "batch.")
    executors = documents.within(found, "executors", "batch.")
    cut = documents.within(found, "cut", "batch.")
    if len(executors) > MOST_EXECUTORS:
        raise documents.wrong("batch.executors", executors, f"at most {MOST_EXECUTORS}")
    return Batch(
        query,
        documents.sentence(found, "name", 100, "batch.") or query,
        documents.whole(found, "batch", where="batch."),
        documents.amount(found, "rows", "batch."),
        documents.amount(found, "batchMs", "batch.") / 1000,
        _parts(documents.within(found, "partMs", "batch.")),
        _gauges(found, state),
        documents.amount(state, "rowsDroppedByWatermark", "batch.state."),
        documents.amount(found, "ownUs", "batch.") / 1e6,
        {_executor(name): _work(documents.within(executors, name, "batch.executors.")) for name in executors},
        _crew(documents.within(found, "crew", "batch.")),
        documents.whole(cut, "pieces", where="batch.cut."),
        documents.sentence(cut, "own", 200, "batch.cut."),
        _stretch(documents.items(found, "stretch", _MOST_BUCKETS, "batch.")),
        _pairs(documents.within(found, "shuffledBytes", "batch.")),
    )


def _executor(name: str) -> str:
    if not documents.is_name(name):
        raise documents.wrong("batch.executors", name, "the ids of executors")
    return name


def _parts(found: Mapping[str, Any]) -> dict[str, float]:
    return {part: documents.amount(found, part, "batch.partMs.") / 1000 for part in PARTS if part in found}


def _gauges(found: Mapping[str, Any], state: Mapping[str, Any]) -> dict[str, float]:
    delay_ms = documents.number(found, "watermarkDelayMs", "batch.")
    known = {
        "input": documents.number(found, "inputRowsPerSecond", "batch."),
        "processed": documents.number(found, "processedRowsPerSecond", "batch."),
        "lag": _lag(documents.items(found, "sources", 1000, "batch.")),
        "delay": None if delay_ms is None else delay_ms / 1000,
        "state_rows": documents.number(state, "rows", "batch.state."),
        "state_bytes": documents.number(state, "bytes", "batch.state."),
    }
    return {name: value for name, value in known.items() if value is not None}


def _lag(sources: list[Any]) -> float | None:
    """Of all sources that tell theirs."""
    if not all(isinstance(source, dict) for source in sources):
        raise documents.wrong("batch.sources", sources, "a list of objects")
    told = [lag for source in sources if (lag := documents.number(source, "lag", "batch.sources.")) is not None]
    return sum(told) if told else None


def _work(found: Mapping[str, Any]) -> Work:
    where = "batch.executors."
    sums = {field: scale * documents.amount(found, field, where) for field, scale in WORK.items()}
    task_s = tuple(_bucket(pair, f"{where}taskMs") for pair in documents.items(found, "taskMs", _MOST_BUCKETS, where))
    scan_s, beaten_s = (documents.amount(found, field, where) / 1000 for field in ("scanMs", "beatenMs"))
    return Work(sums, task_s, documents.whole(found, "scanRows", where=where), scan_s, beaten_s)


def _bucket(pair: Any, where: str) -> tuple[float, int]:
    """Of thousandths of something."""
    if not isinstance(pair, list) or len(pair) != 2:
        raise documents.wrong(where, pair, "pairs of a bucket's lower edge and its count")
    both = {"edge": pair[0], "count": pair[1]}
    return documents.amount(both, "edge", f"{where}.") / 1000, documents.whole(both, "count", where=f"{where}.")


def _stretch(pairs: list[Any]) -> tuple[tuple[float, int], ...]:
    """Percents, as the plugin has them, to times."""
    return tuple((10 * edge, count) for edge, count in (_bucket(pair, "batch.stretch") for pair in pairs))


def _crew(found: Mapping[str, Any]) -> dict[str, int]:
    if len(found) > MOST_EXECUTORS:
        raise documents.wrong("batch.crew", found, f"at most {MOST_EXECUTORS}")
    return {_executor(name): documents.whole(found, name, 1, where="batch.crew.") for name in found}


def _pairs(found: Mapping[str, Any]) -> dict[str, dict[str, float]]:
    """Too many of them to be kept are none: nobody may take a part for the whole."""
    rows = {_executor(name): documents.within(found, name, "batch.shuffledBytes.") for name in found}
    if sum(map(len, rows.values())) > _MOST_PAIRS:
        return {}
    where = "batch.shuffledBytes."
    return {name: {_executor(to): documents.amount(row, to, where) for to in row} for name, row in rows.items()}
