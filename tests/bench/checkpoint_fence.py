"""Drivers that stood still while another took over: what they write once they go on.

Driver and executors are stopped in the middle of a batch, the next driver takes the checkpoint with a higher epoch,
and the old ones go on. The controls are the same in plain Spark, which stops the old one only where both write the same
file. It overwrites state in place; the controls with the plugin's format of state show what the fence alone prevents.
"""

import collections
import contextlib
import dataclasses
import functools
import os
import random
import re
import signal
import time
from collections.abc import Callable, Iterator, Mapping

from bench import checkpoint_stage, ledger, outcome
from house import trouble
from plugin import agent, drivers, sinks, storage

_ROUNDS, _PART, _FEW = 20, 5, 3
_PATIENCE_S = 300
_NOT_REFERRED = (".crc", ".sst", ".tmp")  # what no reader finds: checksums, a state's tables without their list, parts
_OF_FORMAT_2 = re.compile(r"state/.*/\d+_([0-9a-f-]{36})\.\w+")
Kinds = Mapping[str, object]
_MICRO_BATCH: Kinds = {"state": "dedup", "sink": "file", "master": "local-cluster[1,2,1024]", "row_ms": 5}
_REAL_TIME: Kinds = {
    "state": "dedup", "sink": "lines", "engine": "RealTime", "real_time": "5 seconds",
    "master": "local-cluster[1,4,1024]",
}  # fmt: skip


@dataclasses.dataclass(frozen=True)
class Case:
    """How a driver is overtaken."""

    kinds: Kinds
    ahead: int  # batches the next driver has committed when the old one goes on; 0: it is in its first one
    moment_s: float = 0.4  # a batch, about
    s3a: bool = False

    def plain(self, conf: Mapping[str, str]) -> "Case":
        """Its control."""
        return dataclasses.replace(self, kinds={**self.kinds, "conf": conf})


_POSIX, _S3A = Case(_MICRO_BATCH, 3), Case(_MICRO_BATCH, 3, s3a=True)
_AT_ONCE, _IN_REAL_TIME = Case(_MICRO_BATCH, 0), Case(_REAL_TIME, 1, moment_s=4.0)
_FEWER = {"posix, at once": _AT_ONCE, "posix, Real-Time": _IN_REAL_TIME}
_CONTROLS = {
    "posix, plain Spark": _POSIX.plain(checkpoint_stage.ROCKSDB),
    "posix, plain Spark, state of format 2": _POSIX.plain(checkpoint_stage.FORMAT_2),
    "posix, at once, plain Spark, state of format 2": _AT_ONCE.plain(checkpoint_stage.FORMAT_2),
    "posix, Real-Time, plain Spark": _IN_REAL_TIME.plain(checkpoint_stage.ROCKSDB),
}
_DAMAGED = {  # where the table must show what the fence prevents
    "plain": "posix, plain Spark",
    "format-2-at-once": "posix, at once, plain Spark, state of format 2",
}
_WARM = 2  # batches
_WATCHED_S = 30  # so long the old one may go on
_NAMES = ("rounds", "landed", "orphans", "ended", "missing", "repeated")
Files = Mapping[str, str]


def run(book: ledger.Ledger) -> outcome.Outcome:
    """20 rounds on each store, a few of the other cases, and the controls."""
    fenced = {
        **{store: _all_rounds(book, store, case) for store, case in {"posix": _POSIX, "s3a": _S3A}.items()},
        **{
            said: checkpoint_stage.once(book, f"fence {said}", functools.partial(_rounds, case, _FEW))
            for said, case in _FEWER.items()
        },
    }
    controls = {
        said: checkpoint_stage.once(book, f"fence control {said}", functools.partial(_control, case))
        for said, case in _CONTROLS.items()
    }
    table = outcome.Table(
        "A driver and its executors stopped in the middle of a batch, overtaken, and continued when the next one has"
        f" committed {_POSIX.ahead} batches ({_IN_REAL_TIME.ahead} in Real-Time Mode; at once: none yet). A file has"
        " landed when the old one writes, changes or deletes it and a batch or a reader of Spark refers to it. In"
        " Real-Time Mode rows leave the batch that runs, so the next driver repeats them, fence or not",
        ("store", "rounds", "files landed", "orphans", "ended by themselves", "rows lost", "rows repeated"),
        tuple((said, *(f"{one[name]:.0f}" for name in _NAMES)) for said, one in {**fenced, **controls}.items()),
    )
    repeated = sum(one["repeated"] for said, one in fenced.items() if "Real-Time" not in said)
    bars = (
        outcome.Bar("fence-files-landed", sum(one["landed"] for one in fenced.values()), 0),
        outcome.Bar("fence-rows-lost-or-repeated", repeated + sum(one["missing"] for one in fenced.values()), 0),
        *(
            outcome.Bar(f"fence-control-files-landed-{name}", controls[said]["landed"], 1, at_least=True)
            for name, said in _DAMAGED.items()
        ),
    )
    return outcome.Outcome((table,), bars)


def _all_rounds(book: ledger.Ledger, store: str, case: Case) -> dict[str, float]:
    """Some at a time."""
    parts = [
        checkpoint_stage.once(book, f"fence {store} {n}", functools.partial(_rounds, case, _PART))
        for n in range(_ROUNDS // _PART)
    ]
    return {name: sum(part[name] for part in parts) for name in _NAMES}


def _rounds(case: Case, rounds: int) -> dict[str, float]:
    """Each overtaker is the next one to be stopped."""
    with checkpoint_stage.standing(case.s3a) as stage, contextlib.ExitStack() as stack:
        job = _job(case, stage)
        checkpoint = storage.Checkpoint.of(job, stage.store)
        total = collections.Counter[str]()
        fake = stack.enter_context(agent.FakeAgent(job.out / "agent-0"))
        old = stack.enter_context(drivers.Driver(job, "driver-0", fake.folder))
        fake.wait(checkpoint_stage.at_least(_WARM), _PATIENCE_S)
        for n in range(1, rounds + 1):
            fake = stack.enter_context(agent.FakeAgent(job.out / f"agent-{n}"))
            fake.order(gate={"open": False}, preload=True)
            new = stack.enter_context(drivers.Driver(job, f"driver-{n}", fake.folder))
            fake.wait(lambda state: "loaded" in state["warmUp"], _PATIENCE_S)
            total.update(_overtaken(case, old, stage, checkpoint, functools.partial(_go, case, new, fake, checkpoint)))
            old = new
        fake.order(drain={"id": "end", "timeoutMs": 60_000, "stop": True})
        old.end()
        rows = sinks.judge(job, checkpoint.consumed(job.source))
        return _named(total, rounds, rows)


def _job(case: Case, stage: checkpoint_stage.Stage) -> drivers.Job:
    """Nothing is tidied up, so that what is listed can be read."""
    job = checkpoint_stage.job(stage, **case.kinds)
    return dataclasses.replace(job, conf={**job.conf, **checkpoint_stage.ALL_KEPT})


def _go(case: Case, new: drivers.Driver, fake: agent.FakeAgent, checkpoint: storage.Checkpoint) -> drivers.Driver:
    """The next driver takes over, and comes as far as it is to."""
    enough = checkpoint.last("commits") + case.ahead
    fake.order(gate={"open": True})
    fake.wait(lambda state: state["queries"][0]["phase"] == "running", _PATIENCE_S)
    fake.wait(checkpoint_stage.at_least(enough), _PATIENCE_S)
    return new


def _control(case: Case) -> dict[str, float]:
    """Plain Spark: nothing stops the old one but what Spark itself finds."""
    total, rows = collections.Counter[str](), drivers.Rows(0, 0, 0)
    for n in range(_FEW):
        with checkpoint_stage.standing() as stage, contextlib.ExitStack() as stack:
            job = _job(case, stage)
            checkpoint = storage.Checkpoint.of(job)
            old = stack.enter_context(drivers.Driver(job, "old", None, plugin={}))
            old.until(functools.partial(_is_warm, checkpoint), _PATIENCE_S)
            go = functools.partial(_start, case, job, stack, stage, checkpoint)
            total.update(_overtaken(case, old, stage, checkpoint, go))
            stack.close()
            found = sinks.judge(job, checkpoint.consumed(job.source))
        rows = drivers.Rows(rows.got + found.got, rows.missing + found.missing, rows.repeated + found.repeated)
        print(f"control {n}: {dict(total)} {rows}", flush=True)
    return _named(total, _FEW, rows)


def _is_warm(checkpoint: storage.Checkpoint) -> bool:
    return checkpoint.last("commits") >= _WARM


def _start(
    case: Case,
    job: drivers.Job,
    stack: contextlib.ExitStack,
    stage: checkpoint_stage.Stage,
    checkpoint: storage.Checkpoint,
) -> drivers.Driver:
    """The next driver begins where the checkpoint ends, as plain Spark does."""
    before, enough = _files(job, stage), checkpoint.last("commits") + case.ahead
    new = stack.enter_context(drivers.Driver(job, "new", None, plugin={}))
    new.until(lambda: checkpoint.last("commits") >= enough and _files(job, stage) != before, _PATIENCE_S)
    return new


def _named(total: Mapping[str, float], rounds: int, rows: drivers.Rows) -> dict[str, float]:
    return dict(zip(_NAMES, (rounds, *(total[name] for name in _NAMES[1:4]), rows.missing, rows.repeated), strict=True))


def _overtaken(
    case: Case,
    old: drivers.Driver,
    stage: checkpoint_stage.Stage,
    checkpoint: storage.Checkpoint,
    go: Callable[[], drivers.Driver],
) -> dict[str, int]:
    """One round; the next driver stands still while the old one goes on, so that every change is the old one's."""
    with contextlib.ExitStack() as rest:
        with _stopped_in_a_batch(case, old, checkpoint):
            rest.enter_context(_stopped(go()))
            before = _still(old.job, stage)
        ended = _ends(old)
        after = _files(old.job, stage)
    return {**_changes(old.job, checkpoint, before, after), "ended": int(ended)}


def _ends(old: drivers.Driver) -> bool:
    """Whether it ends by itself; in plain Spark it may as well go on for ever."""
    try:
        return old.end(_WATCHED_S).startswith("failed")
    except TimeoutError:
        return False


@contextlib.contextmanager
def _stopped_in_a_batch(case: Case, driver: drivers.Driver, checkpoint: storage.Checkpoint) -> Iterator[None]:
    deadline_s = time.monotonic() + _PATIENCE_S
    while time.monotonic() < deadline_s:
        time.sleep(random.random() * case.moment_s)
        with _stopped(driver):
            if _is_in_a_batch(driver.job, checkpoint):
                yield
                return
    raise trouble.Trouble("no batch was met in its middle")


@contextlib.contextmanager
def _stopped(driver: drivers.Driver) -> Iterator[None]:
    """Driver and executors stand still."""
    pids = driver.jvms()
    if len(pids) < 2:
        raise trouble.Trouble(f"driver and executor were to be stopped, there is only {pids}\n{driver.said()}")
    for pid in pids:
        os.kill(pid, signal.SIGSTOP)
    try:
        yield
    finally:
        for pid in pids:
            os.kill(pid, signal.SIGCONT)


def _is_in_a_batch(job: drivers.Job, checkpoint: storage.Checkpoint) -> bool:
    """Between a batch's offsets and its commit; in Real-Time Mode both are written at its end."""
    begun, ended = checkpoint.last_ids()
    if job.engine == "RealTime":
        return ended >= 0 and sinks.is_ahead(job, checkpoint.consumed(job.source))
    return begun > ended


def _still(job: drivers.Job, stage: checkpoint_stage.Stage) -> dict[str, str]:
    """Files as they are once what was under way to a store has arrived there."""
    before, deadline_s = _files(job, stage), time.monotonic() + _PATIENCE_S
    while time.monotonic() < deadline_s:
        time.sleep(0.5)
        after = _files(job, stage)
        if after == before:
            return after
        before = after
    raise trouble.Trouble(f"files still changed {_PATIENCE_S} s after the old driver had gone on")


def _files(job: drivers.Job, stage: checkpoint_stage.Stage) -> dict[str, str]:
    """Checkpoint and sink, by content and time."""
    sink = {f"sink/{name}": what for name, what in checkpoint_stage.on_disk(job.out / "files0").items()}
    if stage.store:
        return sink | stage.store.contents("checkpoint/q0")
    return sink | checkpoint_stage.on_disk(job.root())


def _changes(job: drivers.Job, checkpoint: storage.Checkpoint, before: Files, after: Files) -> dict[str, int]:
    """What of the changed files somebody refers to, and what nobody does."""
    changed = {name for name in before.keys() | after.keys() if before.get(name) != after.get(name)}
    referred = {f"sink/{file.relative_to(job.out / 'files0')}" for file in sinks.referred(job)}
    commits = "".join(checkpoint.text(f"commits/{name}") for name in checkpoint.names("commits") if name.isdigit())
    landed = {name for name in changed if _is_referred(name, referred, commits)}
    if landed:
        print(f"landed: {sorted(landed)}", flush=True)
    return {"landed": len(landed), "orphans": len(changed - landed)}


def _is_referred(name: str, files_of_sink: set[str], commits: str) -> bool:
    """State of format 2 is found by the id in its name, and that stands in the commit of its batch."""
    if name.startswith("sink/") and "/_spark_metadata/" not in name:
        return name in files_of_sink
    unique = _OF_FORMAT_2.fullmatch(name)
    return unique[1] in commits if unique else not name.endswith(_NOT_REFERRED)
