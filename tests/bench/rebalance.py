"""``make bench NAME=rebalance``: what cutting, watching, shifting and moving bring, on the cluster.

A day of moves is simulated.
"""

from bench import (
    rebalance_day,
    rebalance_half_hour,
    rebalance_kinds,
    rebalance_lever,
    rebalance_pieces,
    rebalance_placement,
    rebalance_prometheus,
    rebalance_runtime,
    rebalance_slow,
    rebalance_stalls,
    rebalance_step,
    rebalance_table3,
    rebalance_three,
)

PARTS = (
    rebalance_day,
    rebalance_slow,
    rebalance_kinds,
    rebalance_stalls,
    rebalance_step,
    rebalance_runtime,
    rebalance_half_hour,
    rebalance_pieces,
    rebalance_lever,
    rebalance_table3,
    rebalance_placement,
    rebalance_three,
    rebalance_prometheus,
)
