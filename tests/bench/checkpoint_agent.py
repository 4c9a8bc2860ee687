"""The real agent killed 20 times, and frozen: no batch is lost, and none takes longer for it.

Batches with the agent there and without it take turns in one driver, so the machine's moods meet both.
"""

import contextlib
import pathlib
import signal
import statistics
import subprocess
from collections.abc import Callable, Iterator

from agent import fake_api
from bench import checkpoint_stage, ledger, outcome
from plugin import beside, drivers, sinks, storage

_KILLS, _FREEZES = 20, 10
_BATCHES = 8
_WARM_BATCHES = 20
_PATIENCE_S = 300
_SLOWER = 1.1
_PARTS = ("batches", "median_ms", "p90_ms", "p99_ms", "longest_ms", "slower")
COLUMNS = ("batches", "median ms", "p90 ms", "p99 ms", "longest ms", "slower ones")
UNDISTURBED = (
    f"Slower ones took more than {_SLOWER} times as long as the longest undisturbed one of the same run: some of any"
    " kind are long on this machine, so 99 of 100 must not"
)


def run(book: ledger.Ledger) -> outcome.Outcome:
    """Once."""
    found = checkpoint_stage.once(book, "agent away", _measure)
    whens = {"there": "there", "killed": f"killed {_KILLS} times", "frozen": f"frozen {_FREEZES} times"}
    table = outcome.Table(
        f"Batches while the agent is there, dead or frozen, {_BATCHES} at a time in turns. {UNDISTURBED}",
        ("agent", *COLUMNS),
        tuple((said, *row(found, when)) for when, said in whens.items()),
    )
    bars = [
        outcome.Bar("agent-batches-lost", found["lost"], 0),
        outcome.Bar("agent-rows-lost-or-repeated", found["rows_wrong"], 0),
    ]
    bars += [bar for when in ("killed", "frozen") for bar in ratios(found, when, f"agent-{when}")]
    return outcome.Outcome((table,), tuple(bars))


def row(found: dict[str, float], when: str) -> tuple[str, ...]:
    """One kind of batches, under `COLUMNS`."""
    return tuple(f"{found[f'{when}_{part}']:.0f}" for part in _PARTS)


def ratios(found: dict[str, float], when: str, name: str) -> list[outcome.Bar]:
    """How these batches compare with the undisturbed ones: like with like, and nearly all with the longest."""
    compared = {"median": ("median", "median"), "p90": ("p90", "p90"), "p99-to-longest": ("p99", "longest")}
    return [
        outcome.Bar(f"{name}-batch-{part}-ratio", found[f"{when}_{ours}_ms"] / found[f"there_{theirs}_ms"], _SLOWER)
        for part, (ours, theirs) in compared.items()
    ]


def _measure() -> dict[str, float]:
    with checkpoint_stage.standing() as stage, fake_api.serving() as api:
        shared = beside.folder(stage.folder / "shared")
        beside.order(api, 1, gate={"open": True})
        job = checkpoint_stage.job(
            stage, state="aggregation", trigger="200 milliseconds", master="local[2]", conf=checkpoint_stage.ALL_KEPT
        )
        checkpoint = storage.Checkpoint.of(job)
        spans: dict[str, list[range]] = {"there": [], "killed": [], "frozen": []}
        with _agent(api, shared) as agent, drivers.Driver(job, "a", shared) as driver:
            batches(driver, checkpoint, _WARM_BATCHES)
            for n in range(_KILLS):
                spans["there"].append(batches(driver, checkpoint, _BATCHES))
                agent.kill()
                spans["killed"].append(batches(driver, checkpoint, _BATCHES))
                beside.forget(api)
                agent.start()
                driver.until(lambda: _is_heard(api), _PATIENCE_S)
                if n < _FREEZES:
                    spans["there"].append(batches(driver, checkpoint, _BATCHES))
                    agent.process.send_signal(signal.SIGSTOP)
                    spans["frozen"].append(batches(driver, checkpoint, _BATCHES))
                    agent.process.send_signal(signal.SIGCONT)
            took = took_ms(job)
            beside.order(api, 2, gate={"open": True}, drain={"id": "end", "timeoutMs": 60_000, "stop": True})
            driver.end()
        return {**losses(job, checkpoint), **figures(spans, took)}


class _Agent:
    """One process after another."""

    def __init__(self, begin: Callable[[], "subprocess.Popen[str]"]) -> None:
        self._begin = begin
        self.start()

    def start(self) -> None:
        self.process = self._begin()

    def kill(self) -> None:
        beside.kill(self.process)


@contextlib.contextmanager
def _agent(api: fake_api.FakeApi, shared: pathlib.Path) -> Iterator[_Agent]:
    made = _Agent(lambda: beside.start(api, shared))
    try:
        yield made
    finally:
        made.kill()


def batches(
    driver: drivers.Driver, checkpoint: storage.Checkpoint, count: int, patience_s: float = _PATIENCE_S
) -> range:
    """So many whole batches from now on."""
    first = checkpoint.last("offsets") + 1
    driver.until(lambda: checkpoint.last("commits") >= first + count - 1, patience_s)
    return range(first, first + count)


def _is_heard(api: fake_api.FakeApi) -> bool:
    """The new agent has heard the plugin, and said so."""
    said = api.said_by(beside.POD)
    return said.get("phase") == "Running" and bool(said["queries"])


def losses(job: drivers.Job, checkpoint: storage.Checkpoint) -> dict[str, float]:
    """Batches that were never called or not ended, and rows that are not at the sink just once."""
    begun, ended = checkpoint.last_ids()
    rows = sinks.judge(job, checkpoint.consumed(job.source))
    calls = [call["batch"] for call in drivers.calls(job.out)]
    lost = len(set(range(ended + 1)) - set(calls)) + (begun != ended)
    return {"lost": lost, "rows_wrong": rows.missing + rows.repeated}


def took_ms(job: drivers.Job) -> dict[int, float]:
    """From a batch's offsets to its commit, as their files say."""
    began, ended = (
        {n: (job.root() / log / str(n)).stat().st_mtime for n in drivers.ids(job.root() / log)}
        for log in ("offsets", "commits")
    )
    return {n: (at_s - began[n]) * 1000 for n, at_s in ended.items() if n in began}


def figures(spans: dict[str, list[range]], took: dict[int, float]) -> dict[str, float]:
    """How long the batches of each kind took."""
    found: dict[str, float] = {}
    undisturbed_ms = max(took[n] for span in spans["there"] for n in span if n in took)
    for when, ranges in spans.items():
        values = sorted(took[n] for span in ranges for n in span if n in took)
        found[f"{when}_batches"] = len(values)
        found[f"{when}_median_ms"] = statistics.median(values)
        found[f"{when}_p90_ms"] = values[len(values) * 9 // 10]
        found[f"{when}_p99_ms"] = values[len(values) * 99 // 100]
        found[f"{when}_longest_ms"] = values[-1]
        found[f"{when}_slower"] = sum(ms > _SLOWER * undisturbed_ms for ms in values)
    return found
