"""``make bench NAME=checkpoint``: gate, drain, fence and measuring, inside real Spark drivers on this machine.

On Spark's local mode, with the tests' own jobs (:mod:`plugin.job`), a broker and an S3 on loopback. Parts come one
after another, each measurement is remembered; after an hour it stops and says so, and the same command goes on.
"""

from bench import (
    checkpoint_agent,
    checkpoint_away,
    checkpoint_cost,
    checkpoint_drains,
    checkpoint_fence,
    checkpoint_garbage,
    checkpoint_gate,
    checkpoint_queries,
    checkpoint_refusals,
    checkpoint_versions,
    ledger,
    outcome,
)
from house import stages, testing, trouble
from plugin import broker

_PARTS = (
    checkpoint_versions,
    checkpoint_cost,
    checkpoint_agent,
    checkpoint_away,
    checkpoint_garbage,
    checkpoint_queries,
    checkpoint_gate,
    checkpoint_fence,
    checkpoint_refusals,
    checkpoint_drains,
)


def run(book: ledger.Ledger) -> outcome.Outcome:
    """Every part, on a jar built from this tree."""
    stages.run(
        "JVM tools", [*testing.jvm_stages(), stages.Stage("Kafka", broker.make, ("packages",), kept=broker.made)]
    )
    if testing.build_plugin():
        raise trouble.Trouble("the plugin does not build")
    return outcome.total([part.run(book) for part in _PARTS])
