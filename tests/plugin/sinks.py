"""What a sink got of a job, against what its checkpoint says that it was to get.

Each state of `job.py` has its own rule: a row lost or worked off twice shows in each of them.
"""

import collections
import itertools
import json
import pathlib
from collections.abc import Sequence

from plugin import broker, drivers

Row = tuple[int, ...]
_KEYS = 20


def judge(job: drivers.Job, consumed: set[int], query: int = 0) -> drivers.Rows:
    """Rows at the sink, missing there, and repeated there."""
    rows = got(job, query)
    if job.state == "aggregation" and job.sink == "file":
        return _windows(rows)
    if job.state in ("aggregation", "transformWithState"):
        return _counts(rows, consumed)
    return _once(rows, _expected(job, consumed))


def is_ahead(job: drivers.Job, consumed: set[int], query: int = 0) -> bool:
    """Whether rows have arrived that no committed batch has read: in Real-Time Mode they leave a batch that runs."""
    return not {row[0] for row in got(job, query)} <= _expected(job, consumed)


def got(job: drivers.Job, query: int = 0) -> list[Row]:
    """All rows, in their columns' order."""
    if job.sink == "foreachBatch":
        return [tuple(row) for call in drivers.calls(job.out, query) for row in call["rows"]]
    if job.sink == "kafka":
        return [_values(line) for line in broker.texts(job.kafka, f"{job.topic}-out")]
    if job.sink == "lines":
        return [(int(n),) for file in job.out.glob(f"lines{query}-*") for n in file.read_text().split()]
    return [_values(line) for file in referred(job, query) for line in file.read_text().splitlines()]


def referred(job: drivers.Job, query: int = 0) -> list[pathlib.Path]:
    """The files of a file sink that its log names: those a reader of Spark sees."""
    paths = set()
    for log in (job.out / f"files{query}" / "_spark_metadata").glob("[0-9]*"):
        paths |= {json.loads(line)["path"] for line in log.read_text().splitlines() if line.startswith("{")}
    return [pathlib.Path(path.removeprefix("file://")) for path in sorted(paths)]


def _expected(job: drivers.Job, consumed: set[int]) -> set[int]:
    """Where each row is told once, under its id."""
    return {id_ // 200 * 50 + id_ % 50 for id_ in consumed} if job.state == "dedup" else consumed


def _values(line: str) -> Row:
    return tuple(json.loads(line).values())


def _once(rows: Sequence[Row], expected: set[int]) -> drivers.Rows:
    """Each id once; one that no committed batch has read is as wrong as one told twice."""
    ids = {row[0] for row in rows}
    return drivers.Rows(len(rows), len(expected - ids), len(rows) - len(ids) + len(ids - expected))


def _counts(rows: Sequence[Row], consumed: set[int]) -> drivers.Rows:
    """Counts per key grow, are told once each, and end at the number of rows."""
    told = collections.Counter((key, n) for key, n, _ in rows)
    last = {key: max(n for known, n in told if known == key) for key in {key for key, _ in told}}
    expected = collections.Counter(id_ % _KEYS for id_ in consumed)
    short = sum(max(0, n - last.get(key, 0)) for key, n in expected.items())
    over = sum(max(0, n - expected[key]) for key, n in last.items())
    return drivers.Rows(len(rows), short, len(rows) - len(told) + over)


def _windows(rows: Sequence[Row]) -> drivers.Rows:
    """Windows that follow each other hold ids that follow each other."""
    by_start = {start: (n, least, most) for start, n, least, most in rows}
    ordered = [by_start[start] for start in sorted(by_start)]
    gaps = [most - least + 1 - n for n, least, most in ordered]
    gaps += [after[1] - before[2] - 1 for before, after in itertools.pairwise(ordered)]
    gaps += [ordered[0][1]] if ordered else []
    missing, over = sum(gap for gap in gaps if gap > 0), -sum(gap for gap in gaps if gap < 0)
    return drivers.Rows(len(rows), missing, len(rows) - len(by_start) + over)
