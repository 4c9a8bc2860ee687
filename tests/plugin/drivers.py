"""Starts users' applications on a real Spark with the plugin in it, and reads what they left on storage."""

import collections
import contextlib
import dataclasses
import json
import os
import pathlib
import signal
import subprocess
import time
import typing
from collections.abc import Callable, Mapping
from typing import Any

from house import paths, spark
from sluice.build import conf as properties

_TARGET = paths.ROOT / "images" / "spark" / "plugin" / "target"
JARS = (_TARGET / "sluice-plugin-0.1.0.jar", _TARGET / "sluice-plugin-0.1.0-tests.jar")
_CONF: Mapping[str, str] = {"spark.ui.enabled": "false", "spark.sql.shuffle.partitions": "2"}
PLUGIN: Mapping[str, str] = {"spark.plugins": "dev.sluice.entry.SluicePlugin"}


@dataclasses.dataclass(frozen=True)
class Job:
    """An application, and where it works. The defaults are the smallest one there is."""

    out: pathlib.Path
    source: str = "tick"
    state: str = "none"
    sink: str = "foreachBatch"
    master: str = "local[2]"
    queries: int = 1
    named: bool = True
    checkpoint: str | None = ""
    engine: str = "MicroBatch"
    trigger: str = ""
    real_time: str = "15 seconds"
    kafka: str = ""
    topic: str = ""
    key: str = "id % 20"
    roles: tuple[str, ...] = ()
    sink_s: float = 0.0
    row_ms: int = 0
    rate: int = 200
    most: int = 2**60
    most_a_batch: int = 0
    partitions: int = 2
    idle: int = -1
    conf: Mapping[str, str] = dataclasses.field(default_factory=dict)
    env: Mapping[str, str] = dataclasses.field(default_factory=dict)
    replaced_manager: str = ""
    t0_ms: int = dataclasses.field(default_factory=lambda: int(time.time() * 1000))

    def root(self, query: int = 0) -> pathlib.Path:
        """The checkpoint of a query, where it lies on this machine's disk."""
        return self.out / "checkpoint" / f"q{query}"


class Running:
    """A process that is a driver, or has one as its child; leaving the context kills it and its children."""

    def __init__(self, who: str, log: pathlib.Path, words: list[str], env: Mapping[str, str]) -> None:
        self.who, self.log = who, log
        with log.open("w") as said:
            self.process = subprocess.Popen(
                words, env=dict(env), stdout=said, stderr=said, stdin=subprocess.DEVNULL, start_new_session=True
            )

    def __enter__(self) -> typing.Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()

    def said(self) -> str:
        """The end of its log."""
        return self.log.read_text()[-4000:]

    def jvms(self) -> list[int]:
        """Driver and executors."""
        return [pid for pid in _descendants(self.process.pid) if _is_java(pid)]

    def until(self, what: Callable[[], object], within_s: float = 180) -> None:
        """Waits until something is true; says what the driver said when it never is."""
        deadline_s = time.monotonic() + within_s
        while not what():
            if time.monotonic() > deadline_s or self.process.poll() is not None:
                raise TimeoutError(f"{self.who}: not within {within_s} s:\n{self.said()}")
            time.sleep(0.02)


class Driver(Running):
    """One run of a job: a Python process with Spark's driver as its child."""

    def __init__(self, job: Job, who: str, agent_dir: pathlib.Path | None, plugin: Mapping[str, str] = PLUGIN) -> None:
        self.job = job
        job.out.mkdir(parents=True, exist_ok=True)
        wanted: dict[str, Any] = {**dataclasses.asdict(job), "out": str(job.out), "who": who}
        extra = spark.extra().glob("*.jar") if job.kafka or (job.checkpoint or "").startswith("s3a:") else ()
        wanted["input"] = str(job.out / "input")
        wanted["engine"] = "RealTime" if job.sink == "lines" else job.engine
        if job.checkpoint == "":
            wanted["checkpoint"] = str(job.out / "checkpoint")
        jars = ",".join(str(jar) for jar in (*JARS, *extra))
        conf = {"spark.jars": jars, **plugin, **job.conf}
        env = {**environment(job.out / f"{who}.properties", conf, agent_dir), **job.env}
        program = str(pathlib.Path(__file__).with_name("job.py"))
        super().__init__(who, job.out / f"{who}.log", [str(spark.python()), program, json.dumps(wanted)], env)

    def jvm(self) -> int:
        """The process id of Spark's driver."""
        return next(pid for pid in _descendants(self.process.pid) if _is_java(pid))

    def end(self, within_s: float = 180) -> str:
        """Waits for the application's end; how it ended, as the user's code saw it."""
        try:
            self.process.wait(within_s)
        except subprocess.TimeoutExpired:
            raise TimeoutError(f"{self.who} still runs after {within_s} s:\n{self.said()}") from None
        ending = self.job.out / f"{self.who}.ending"
        return ending.read_text() if ending.exists() else f"no ending, exit {self.process.returncode}"


def environment(file: pathlib.Path, conf: Mapping[str, str], agent_dir: pathlib.Path | None) -> dict[str, str]:
    """What makes a Python program a driver with these settings, which are written to a file."""
    env = {**os.environ, "SPARK_LOCAL_IP": "127.0.0.1", "PYSPARK_PYTHON": str(spark.python())}
    env |= {"SLUICE_DRAIN_TIMEOUT_MS": "30000", "PYSPARK_SUBMIT_ARGS": _submit(file, {**_CONF, **conf})}
    return env if agent_dir is None else {**env, "SLUICE_AGENT_DIR": str(agent_dir)}


def _submit(file: pathlib.Path, conf: Mapping[str, str]) -> str:
    """As an operator would: by a file, not by the application, whose own settings would go over the plugin's."""
    file.write_text(properties.text(conf))
    return f"--properties-file {file} pyspark-shell"


def _descendants(pid: int) -> list[int]:
    found = []
    with contextlib.suppress(FileNotFoundError, ProcessLookupError):  # a thread, or all of it, ended meanwhile
        for task in pathlib.Path(f"/proc/{pid}/task").iterdir():
            with contextlib.suppress(FileNotFoundError, ProcessLookupError):
                for child in (task / "children").read_text().split():
                    found += [int(child), *_descendants(int(child))]
    return found


def _is_java(pid: int) -> bool:
    try:
        return pathlib.Path(f"/proc/{pid}/comm").read_text().strip() == "java"
    except (FileNotFoundError, ProcessLookupError):  # a Python worker, for one, ended meanwhile
        return False


def ids(folder: pathlib.Path) -> list[int]:
    """The batches in a log of a checkpoint."""
    return sorted(int(file.name) for file in folder.glob("[0-9]*") if file.name.isdigit())


def last_ids(root: pathlib.Path) -> tuple[int, int]:
    """The last batch begun and the last one committed."""
    return max(ids(root / "offsets"), default=-1), max(ids(root / "commits"), default=-1)


@dataclasses.dataclass(frozen=True)
class Rows:
    """What a sink got, against the numbers 0, 1, 2 … it was to get once each."""

    got: int
    missing: int
    repeated: int


def count(got: list[int], partitions: int = 2) -> Rows:
    """Adds up what a sink got; a source's partitions hold every n-th number each, and need not come equally far."""
    times = collections.Counter(got)
    missing = 0
    for partition in range(partitions):
        own = [n for n in times if n % partitions == partition]
        missing += len(range(partition, max(own, default=-1) + 1, partitions)) - len(own)
    return Rows(len(got), missing, len(got) - len(times))


def calls(out: pathlib.Path, query: int = 0) -> list[dict[str, Any]]:
    """The calls of a foreachBatch sink, in order."""
    file = out / f"sink{query}.jsonl"
    return [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []


def sink_rows(job: Job, query: int = 0) -> Rows:
    """What arrived at a job's sink."""
    if job.sink == "foreachBatch":
        return count([row[0] for call in calls(job.out, query) for row in call["rows"]], job.partitions)
    if job.sink == "lines":
        return count(
            [int(n) for file in job.out.glob(f"lines{query}-*") for n in file.read_text().split()], job.partitions
        )
    referred = set()
    for log in (job.out / f"files{query}" / "_spark_metadata").glob("[0-9]*"):
        referred |= {json.loads(line)["path"] for line in log.read_text().splitlines() if line.startswith("{")}
    files = [pathlib.Path(path.removeprefix("file://")) for path in sorted(referred)]
    return count([json.loads(line)["id"] for file in files for line in file.read_text().splitlines()])
