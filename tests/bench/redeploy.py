"""``make bench NAME=redeploy``: what a change costs a job that runs under load, on the cluster."""

from bench import (
    redeploy_drains,
    redeploy_loaded,
    redeploy_nodes,
    redeploy_pause,
    redeploy_points,
    redeploy_refusals,
    redeploy_rollback,
    redeploy_rolling,
)

PARTS = (
    redeploy_pause,
    redeploy_rolling,
    redeploy_loaded,
    redeploy_drains,
    redeploy_rollback,
    redeploy_points,
    redeploy_nodes,
    redeploy_refusals,
)
