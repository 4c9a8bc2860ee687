"""Reads a checkpoint as it lies on storage, on a disk or in an S3: the ids of its logs, and which rows were read."""

import dataclasses
import json
import pathlib
from collections.abc import Callable

from plugin import drivers, s3

ROWS_A_FILE = 10  # of those `plugin.feeds` writes
RATE = 100  # rows a second of Spark's own source in `job.py`


@dataclasses.dataclass(frozen=True)
class Checkpoint:
    """One query's, whatever it lies on."""

    names: Callable[[str], list[str]]
    text: Callable[[str], str]

    @classmethod
    def of(cls, job: drivers.Job, store: s3.Store | None = None, query: int = 0) -> "Checkpoint":
        """The checkpoint of a query of a job."""
        if store is None:
            root = job.root(query)
            return cls(
                lambda folder: [file.name for file in (root / folder).glob("*")],
                lambda name: (root / name).read_text(),
            )
        root_key = f"{(job.checkpoint or '').split('/', 3)[3]}/q{query}"
        return cls(lambda folder: store.names(f"{root_key}/{folder}"), lambda name: store.get(f"{root_key}/{name}"))

    def last(self, log: str) -> int:
        """The last batch of a log."""
        return max((int(name) for name in self.names(log) if name.isdigit()), default=-1)

    def last_ids(self) -> tuple[int, int]:
        """The last batch begun and the last one committed."""
        return self.last("offsets"), self.last("commits")

    def consumed(self, source: str) -> set[int]:
        """The ids of all rows the committed batches have read; of a join, those that both sides have."""
        lines = self.text(f"offsets/{self.last('commits')}").splitlines()[2:]
        return set.intersection(*(self._read(source, n, line) for n, line in enumerate(lines)))

    def _read(self, source: str, n: int, offset: str) -> set[int]:
        if source == "rate":
            return set(range(int(offset) * RATE))
        if source == "file":
            return self._of_files(n, json.loads(offset)["logOffset"])
        if source == "kafka":
            (ends,) = json.loads(offset).values()
            return {2 * i + int(partition) for partition, end in ends.items() for i in range(end)}
        return {id_ for partition, end in enumerate(json.loads(offset)) for id_ in range(partition, end, 2)}

    def _of_files(self, n: int, last: int) -> set[int]:
        lines = [line for name in self.names(f"sources/{n}") for line in self._log(f"sources/{n}/{name}")]
        entries = [json.loads(line) for line in lines if line.startswith("{")]
        files = {pathlib.PurePath(entry["path"]).stem for entry in entries if entry["batchId"] <= last}
        return {int(file) * ROWS_A_FILE + i for file in files for i in range(ROWS_A_FILE)}

    def _log(self, name: str) -> list[str]:
        return self.text(name).splitlines() if not name.rsplit("/", 1)[1].startswith(".") else []
