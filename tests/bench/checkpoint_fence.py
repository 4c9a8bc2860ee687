"""Drivers that stood still while another took over: what they write once they go on.

Driver and executors are stopped in the middle of a batch, the next driver takes the checkpoint with a higher epoch,
and the old ones go on. The control is the same without the plugin: nobody stops the old one.
"""

import collections
import contextlib
import functools
import os
import random
import re
import signal
import time
from collections.abc import Iterator, Mapping

from bench import checkpoint_stage, ledger, outcome
from house import trouble
from plugin import agent, drivers, sinks, storage

_ROUNDS, _AT_ONCE, _CONTROLS = 20, 5, 3
_PATIENCE_S = 300
_MASTER = "local-cluster[1,2,1024]"
_NOT_REFERRED = (".crc", ".sst", ".tmp")  # what no reader finds: checksums, a state's tables without their list, parts
_OF_FORMAT_2 = re.compile(r"state/.*/\d+_([0-9a-f-]{36})\.\w+")
_PLAIN = {
    "spark.sql.streaming.stateStore.providerClass": (
        "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
    )
}
Files = Mapping[str, str]


def run(book: ledger.Ledger) -> outcome.Outcome:
    """20 rounds on each store, and the control."""
    rows, landed, wrong = [], 0.0, 0.0
    for store in ("posix", "s3a"):
        parts = [
            checkpoint_stage.once(book, f"fence {store} {n}", functools.partial(_rounds, store == "s3a"))
            for n in range(_ROUNDS // _AT_ONCE)
        ]
        found = {name: sum(part[name] for part in parts) for name in parts[0]}
        rows.append((store, *(f"{value:.0f}" for value in found.values())))
        landed, wrong = landed + found["landed"], wrong + found["missing"] + found["repeated"]
    control = checkpoint_stage.once(book, "fence control", _control)
    rows.append(("posix, without the plugin", *(f"{value:.0f}" for value in control.values())))
    table = outcome.Table(
        "A driver and its executors stopped in the middle of a batch, overtaken, and continued. A file has landed when"
        " it is written, changed or gone and a batch or a reader of Spark refers to it",
        ("store", "rounds", "files landed", "orphans", "ended by themselves", "rows lost", "rows repeated"),
        tuple(rows),
    )
    bars = (
        outcome.Bar("fence-files-landed", landed, 0),
        outcome.Bar("fence-rows-lost-or-repeated", wrong, 0),
        outcome.Bar("fence-control-files-landed", control["landed"], 1, at_least=True),
    )
    return outcome.Outcome((table,), bars)


def _rounds(s3a: bool) -> dict[str, float]:
    """Each overtaker is the next one to be stopped."""
    with checkpoint_stage.standing(s3a) as stage, contextlib.ExitStack() as stack:
        job = checkpoint_stage.job(stage, state="dedup", sink="file", master=_MASTER, row_ms=5)
        checkpoint = storage.Checkpoint.of(job, stage.store)
        total = collections.Counter[str]()
        fake = stack.enter_context(agent.FakeAgent(job.out / "agent-0"))
        old = stack.enter_context(drivers.Driver(job, "driver-0", fake.folder))
        fake.wait(checkpoint_stage.at_least(2), _PATIENCE_S)
        for n in range(1, _AT_ONCE + 1):
            fake = stack.enter_context(agent.FakeAgent(job.out / f"agent-{n}"))
            fake.order(gate={"open": False}, preload=True)
            new = stack.enter_context(drivers.Driver(job, f"driver-{n}", fake.folder))
            fake.wait(lambda state: "loaded" in state["warmUp"], _PATIENCE_S)
            total.update(_overtaken(old, fake, stage, checkpoint))
            old = new
        fake.order(drain={"id": "end", "timeoutMs": 60_000, "stop": True})
        old.end()
        rows = sinks.judge(job, checkpoint.consumed(job.source))
        return {
            "rounds": _AT_ONCE, "landed": total["landed"], "orphans": total["orphans"], "ended": total["ended"],
            "missing": rows.missing, "repeated": rows.repeated,
        }  # fmt: skip


def _overtaken(
    old: drivers.Driver, fake: agent.FakeAgent, stage: checkpoint_stage.Stage, checkpoint: storage.Checkpoint
) -> dict[str, int]:
    """One round; the new driver rests while the old one goes on, so that every change is the old one's."""
    with _stopped_in_a_batch(old, checkpoint):
        fake.order(gate={"open": True})
        fake.wait(checkpoint_stage.at_least(checkpoint.last("commits") + 3), _PATIENCE_S)
        fake.order(drain={"id": "look", "timeoutMs": 60_000, "stop": False})
        fake.wait(checkpoint_stage.drained("look", "quiet"), _PATIENCE_S)
        before = _files(old.job, stage)
    ended = old.end().startswith("failed")
    after = _files(old.job, stage)
    fake.order(drain=None)
    fake.wait(lambda state: state["drain"]["state"] == "none")
    return {**_changes(old.job, checkpoint, before, after), "ended": int(ended)}


@contextlib.contextmanager
def _stopped_in_a_batch(driver: drivers.Driver, checkpoint: storage.Checkpoint) -> Iterator[None]:
    """Stops driver and executors somewhere between a batch's offsets and its commit."""
    pids = driver.jvms()
    if len(pids) < 2:
        raise trouble.Trouble(f"driver and executor were to be stopped, there is only {pids}\n{driver.said()}")
    deadline_s = time.monotonic() + _PATIENCE_S
    while True:
        if time.monotonic() > deadline_s:
            raise trouble.Trouble("no batch was met in its middle")
        time.sleep(random.random() * 0.4)
        for pid in pids:
            os.kill(pid, signal.SIGSTOP)
        begun, ended = checkpoint.last_ids()
        if begun > ended:
            break
        for pid in pids:
            os.kill(pid, signal.SIGCONT)
    try:
        yield
    finally:
        for pid in pids:
            os.kill(pid, signal.SIGCONT)


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


def _control() -> dict[str, float]:
    """Plain Spark: nobody can ask the overtaker to rest, so it is stopped as well while the old one goes on."""
    total = collections.Counter[str]()
    for n in range(_CONTROLS):
        with checkpoint_stage.standing() as stage:
            job = checkpoint_stage.job(stage, state="dedup", sink="file", master=_MASTER, row_ms=5, conf=_PLAIN)
            checkpoint = storage.Checkpoint.of(job)
            with drivers.Driver(job, "old", None, plugin={}) as old:
                old.until(functools.partial(_is_warm, checkpoint), _PATIENCE_S)
                total.update(_unfenced(old, stage, checkpoint))
            rows = sinks.judge(job, checkpoint.consumed(job.source))
        total.update(missing=rows.missing, repeated=rows.repeated)
        print(f"control {n}: {dict(total)}", flush=True)
    named = ("landed", "orphans", "ended", "missing", "repeated")
    return {"rounds": _CONTROLS, **{name: total[name] for name in named}}


def _is_warm(checkpoint: storage.Checkpoint) -> bool:
    return checkpoint.last("commits") >= 2


def _unfenced(old: drivers.Driver, stage: checkpoint_stage.Stage, checkpoint: storage.Checkpoint) -> dict[str, int]:
    with contextlib.ExitStack() as stack:
        with _stopped_in_a_batch(old, checkpoint):
            new = stack.enter_context(drivers.Driver(old.job, "new", None, plugin={}))
            enough = checkpoint.last("commits") + 3
            new.until(lambda: checkpoint.last("commits") >= enough, _PATIENCE_S)
            for pid in new.jvms():
                os.kill(pid, signal.SIGSTOP)
            before = _files(old.job, stage)
        ended = old.end().startswith("failed")
        return {**_changes(old.job, checkpoint, before, _files(old.job, stage)), "ended": int(ended)}
