"""``make bench NAME=checkpoint``: gate, drain, fence and measuring, inside real Spark drivers on this machine.

On Spark's local mode, with the tests' own jobs (:mod:`plugin.job`), a broker and an S3 on loopback. After an hour it
stops and says so, and the same command goes on.
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
)

PARTS = (
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
