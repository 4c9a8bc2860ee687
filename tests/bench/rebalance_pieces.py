"""An executor's share cut into several pieces a slot, of which a free slot takes the next one, beside one piece.

On this machine alone, without the cluster: Spark's own cluster of three executors with two slots each, with the plugin
and so much CPU for each. The agent's Lever answers, and one number of its answer is another with each phase: so nobody
needs a setting for it. Where rows compute, the two slots of an executor share its CPU, and whoever is late has all of
it; where rows wait, as for a service, each slot has its own time, and pieces can make up for rows of unequal cost.
"""

import asyncio
import collections
import contextlib
import functools
import json
import pathlib
import statistics
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from bench import jar, ledger, outcome, rebalance_stage
from house import spark, trouble
from plugin import agent, drivers
from sluice_agent import balance, batches, board, orders
from testbed import cgroups

_PIECES = {f"{number} a slot": number for number in (1, 2, 4, 8)}
_ONE = "1 a slot"
_ROUNDS, _BATCHES = 2, 25  # that count, of each number in each round
_EXECUTORS, _SLOTS = 3, 2
_ALIKE, _ONE_SLOW = (34, 34, 34), (45, 45, 11)  # percent of a core, by executor
_JOBS = {
    "rows that compute": ("plain", _ALIKE),
    "rows that compute, one executor slow": ("plain", _ONE_SLOW),
    "rows of unequal cost that compute, one executor slow": ("uneven", _ONE_SLOW),
    "rows of unequal cost that wait": ("waiting", _ALIKE),
}
_NOISE = 0.05
_PATIENCE_S, _SLICE_S = 300, 3000
_CONF = {
    "spark.jars": ",".join(map(str, drivers.JARS)),
    **drivers.PLUGIN,
    "spark.master": f"local-cluster[{_EXECUTORS},{_SLOTS},1024]",
    "spark.executor.cores": str(_SLOTS),
    "spark.locality.wait": "300ms",  # as the operator has it
    "spark.scheduler.revive.interval": "100ms",
}


def run(book: ledger.Ledger) -> outcome.Outcome:
    """Each job is remembered."""
    found = {name: book.once(f"pieces {name}", functools.partial(_measure, *job)) for name, job in _JOBS.items()}
    took_s = {name: {way: statistics.median(one["took_s"][way]) for way in _PIECES} for name, one in found.items()}
    ratios = {way: [times[way] / times[_ONE] for times in took_s.values()] for way in _PIECES}
    of_one = {way: statistics.geometric_mean(values) for way, values in ratios.items()}
    rows = tuple((name, *(f"{times[way]:.2f}" for way in _PIECES)) for name, times in took_s.items())
    means = ("mean of all, of one piece's", *(f"{of_one[way]:.2f}" for way in _PIECES))
    (usual,) = {f"{one['usual']} a slot" for one in found.values()}
    title = (
        f"Seconds a batch of {rebalance_stage.ROWS} rows, median, with so many pieces for each of {_EXECUTORS} x"
        f" {_SLOTS} slots; the agent's default is {usual}"
    )
    bar = outcome.Bar("pieces-default-of-the-best", of_one[usual] / min(of_one.values()), 1 + _NOISE)
    return outcome.Outcome((outcome.Table(title, ("job", *_PIECES), (*rows, means)),), (bar,))


class LeverAgent(agent.FakeAgent):
    """Answers as the real one would, but for the pieces a slot: of those the query's name tells."""

    def __init__(self, folder: pathlib.Path) -> None:
        super().__init__(folder)
        self.usual = 0  # pieces a slot, in the real one's answer
        self.cuts: dict[str, list[int]] = collections.defaultdict(list)  # into how many pieces batches were
        self._balancer = balance.Balancer(asyncio.run(_board()))

    def answer(self, path: str, said: agent.Document) -> agent.Document:
        """With the shares of the next batch where one has ended."""
        answer = super().answer(path, said)
        if "batch" not in said:
            return answer
        batch = batches.read(said["batch"])
        told = self._balancer.after(batch)
        self.usual = told.get("perSlot", self.usual)
        self.cuts[batch.name].append(said["batch"]["cut"]["pieces"])
        return {**answer, "balance": {**told, "perSlot": _PIECES[batch.name]}}


async def _board() -> board.Board:
    """With orders to cut by Lever and do nothing else. A board is made in a loop, but nobody waits at this one."""
    made = board.Board(lambda: None)
    wanted = {"act": True, "lever": True}
    made.orders = orders.read({"version": 1, "serial": 1, "drivers": {"driver": {"balance": wanted}}}, "driver")
    return made


def _measure(kind: str, shares: Sequence[int]) -> dict[str, Any]:
    """All numbers in turns, in one driver."""
    jar.build()
    with tempfile.TemporaryDirectory(prefix="sluice-rebalance-") as made, _groups():
        folder = pathlib.Path(made)
        with LeverAgent(folder / "agent") as fake, _driver(folder, fake.folder, kind) as driver:
            driver.until(lambda: len(_executors(driver)) == _EXECUTORS, _PATIENCE_S)
            for group, share, pid in zip(_names(), shares, _executors(driver), strict=True):
                cgroups.limit_cpu(group, share / 100)
                for file in cgroups.entry_files(group):
                    file.write_text(str(pid))
            driver.until(lambda: '{"over"' in driver.log.read_text(), _SLICE_S)
            took_s = _told(driver.log)
        _check(fake.cuts)
        return {"took_s": took_s, "usual": fake.usual}


def _driver(folder: pathlib.Path, agent_dir: pathlib.Path, kind: str) -> drivers.Running:
    ways = [rebalance_stage.Way(name, _EXECUTORS * _SLOTS, kind=kind) for name in _PIECES]
    phases = [way.phase(rebalance_stage.WARM + _BATCHES) for _ in range(_ROUNDS) for way in ways]
    words = {
        "rows": rebalance_stage.ROWS,
        "steps": rebalance_stage.STEPS,
        "root": str(folder / "checkpoints"),
        "phases": phases,
    }
    command = [str(spark.python()), str(rebalance_stage.PROGRAM), json.dumps(words)]
    env = drivers.environment(folder / "spark.properties", _CONF, agent_dir)
    return drivers.Running("pieces", folder / "driver.log", command, env)


def _executors(driver: drivers.Running) -> list[int]:
    """The processes of Spark's executors, in the order of their numbers."""
    found = {}
    for pid in driver.jvms():
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):  # spark-submit's own JVM ends at once
            words = pathlib.Path(f"/proc/{pid}/cmdline").read_text().split("\0")
            if "--executor-id" in words:
                found[int(words[words.index("--executor-id") + 1])] = pid
    return [found[number] for number in sorted(found)]


def _names() -> list[str]:
    return [f"pieces{number}" for number in range(_EXECUTORS)]


@contextlib.contextmanager
def _groups() -> Iterator[None]:
    """One for each executor; gone afterwards."""
    for name in _names():
        cgroups.make(name)
    try:
        yield
    finally:
        for name in _names():
            cgroups.kill(name)


def _told(log: pathlib.Path) -> dict[str, list[float]]:
    """How long the warm batches took, by phase's name."""
    found: dict[str, list[float]] = collections.defaultdict(list)
    for line in log.read_text().splitlines():
        if line.startswith('{"ended"'):
            said = json.loads(line)
            found[said["name"]] += said["took_s"][rebalance_stage.WARM :]
    return dict(found)


def _check(cuts: Mapping[str, Sequence[int]]) -> None:
    """What was not cut as told would be compared with itself."""
    for name, number in _PIECES.items():
        wanted, found = _EXECUTORS * _SLOTS * number, statistics.median(cuts[name])
        if found != wanted:
            raise trouble.Trouble(f"batches of {name!r} were cut into {found} pieces: {wanted} were told")
