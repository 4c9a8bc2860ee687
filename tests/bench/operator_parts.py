"""``make bench NAME=operator``: the operator under load, on the real API server with fake nodes.

The operator is a process on one CPU (``python -m sluice``); everything else shares the machine with it. No part takes
an hour. What another operator takes for the same is told where it was measured: Kubeflow's 2.5.2 made 12 driver pods a
minute on this machine at 8.2 s of CPU each.
"""

from bench import (
    operator_burst,
    operator_down,
    operator_examples,
    operator_faults,
    operator_fuzz,
    operator_latency,
    operator_placed,
    operator_standing,
    operator_takeover,
)

PARTS = (
    operator_burst,
    operator_latency,
    operator_placed,
    operator_takeover,
    operator_down,
    operator_examples,
    operator_faults,
    operator_fuzz,
    operator_standing,
)
