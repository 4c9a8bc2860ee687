"""The API server away for ten minutes, the real agent beside the job: no batch is lost or slower. And an agent's costs.

One batch a second. Before and after the API server is there, so the batches are compared with those of both sides.
"""

import pathlib
import time
import zlib

from agent import fake_api
from bench import checkpoint_agent, checkpoint_stage, ledger, operator_process, outcome
from house import stages
from plugin import beside, drivers, storage
from testbed import cluster, images, oci

_WARM_BATCHES = 30
_THERE_BATCHES = 180
_AWAY_S = 600
_MIB, _MB = 2**20, 1_000_000


def run(book: ledger.Ledger) -> outcome.Outcome:
    """Once, a quarter of an hour."""
    found = checkpoint_stage.once(book, "API server away", _measure)
    stages.run("images", cluster.build_stages())
    size_mb = _over_its_base() / _MB
    table = outcome.Table(
        "Batches of a job of one batch a second while the agent reaches its API server, and while it does not."
        f" {checkpoint_agent.UNDISTURBED}",
        ("API server", *checkpoint_agent.COLUMNS),
        tuple(
            (said, *checkpoint_agent.row(found, when))
            for when, said in (("there", "there"), ("away", f"away for {_AWAY_S} s"))
        ),
    )
    bars = (
        outcome.Bar("api-away-batches-lost", found["lost"], 0),
        outcome.Bar("api-away-rows-lost-or-repeated", found["rows_wrong"], 0),
        *checkpoint_agent.ratios(found, "away", "api-away"),
        outcome.Bar("agent-pct-of-a-core-at-a-batch-a-second", found["agent_cpu_pct"], 2),
        outcome.Bar("agent-pct-of-a-core-api-away", found["agent_away_cpu_pct"], 2),
        outcome.Bar("agent-rss-mib", found["agent_rss_mib"], 80),
        outcome.Bar("agent-image-mb-over-its-base-compressed", size_mb, 60),
    )
    return outcome.Outcome((table,), bars)


def _measure() -> dict[str, float]:
    with checkpoint_stage.standing() as stage, fake_api.serving() as api:
        shared = beside.folder(stage.folder / "shared")
        beside.order(api, 1, gate={"open": True})
        job = checkpoint_stage.job(
            stage, state="aggregation", trigger="1 second", master="local[2]", conf=checkpoint_stage.ALL_KEPT
        )
        checkpoint = storage.Checkpoint.of(job)
        agent = beside.start(api, shared)
        try:
            with drivers.Driver(job, "a", shared) as driver:
                checkpoint_agent.batches(driver, checkpoint, _WARM_BATCHES)
                there_cpu_pct, before = _while(driver, checkpoint, agent.pid, _THERE_BATCHES)
                api.cut()
                away_cpu_pct, away = _while(driver, checkpoint, agent.pid, _AWAY_S)
                api.back()
                _, after = _while(driver, checkpoint, agent.pid, _THERE_BATCHES)
                rss_mib = operator_process.memory_mib(agent.pid, "VmHWM")
                took = checkpoint_agent.took_ms(job)
                beside.order(api, 2, gate={"open": True}, drain={"id": "end", "timeoutMs": 60_000, "stop": True})
                driver.end()
        finally:
            beside.kill(agent)
        spans = {"there": [before, after], "away": [away]}
        costs = {"agent_cpu_pct": there_cpu_pct, "agent_away_cpu_pct": away_cpu_pct, "agent_rss_mib": rss_mib}
        return {**checkpoint_agent.losses(job, checkpoint), **checkpoint_agent.figures(spans, took), **costs}


def _while(driver: drivers.Driver, checkpoint: storage.Checkpoint, agent: int, count: int) -> tuple[float, range]:
    """So many batches, and what share of a core the agent took for them."""
    began_s, cpu_s = time.monotonic(), operator_process.cpu_s(agent)
    span = checkpoint_agent.batches(driver, checkpoint, count, patience_s=2 * count)
    return 100 * (operator_process.cpu_s(agent) - cpu_s) / (time.monotonic() - began_s), span


def _over_its_base() -> int:
    """Bytes of the agent's layers that no other image on the base has, as a registry would keep them."""
    shared = {layer.name for layer in oci.layers(images.SPARK.layout())}
    return sum(_compressed(layer) for layer in oci.layers(images.AGENT.layout()) if layer.name not in shared)


def _compressed(layer: pathlib.Path) -> int:
    squeezer = zlib.compressobj(6, zlib.DEFLATED, 31)
    with layer.open("rb") as file:
        size = sum(len(squeezer.compress(part)) for part in iter(lambda: file.read(_MIB), b""))
    return size + len(squeezer.flush())
