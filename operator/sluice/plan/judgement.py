"""Did a move help? Before and after over the same number of batches, and no noise taken for news. For plan.moving."""

from sluice.values import moves

LEAST_BETTER = 0.05  # by so much at least: less is noise
_SAME_LOAD = 0.2  # batches of loads that differ by more cannot be compared


def helped(before: moves.Measures, after: moves.Measures, *, real_time: bool) -> tuple[bool, str]:
    """Whether it may stay, and why, in words.

    Traffic is compared as a part of the executor's own, so a load that has changed does not count. A batch of Real-Time
    Mode is as long as its trigger says.
    """
    less = _less(before.cross_share, after.cross_share)
    share = f"{before.cross_share:.1%} of its bytes crossed between nodes before, {after.cross_share:.1%} after"
    if real_time or not _is_alike(before, after):
        return less >= LEAST_BETTER, f"{share}, {after.batches} batches each"
    faster = _less(before.batch_ms, after.batch_ms)
    words = f"{share}; a batch took {before.batch_ms:.0f} ms before, {after.batch_ms:.0f} ms after"
    is_better = faster >= LEAST_BETTER or (less >= LEAST_BETTER and faster > -LEAST_BETTER)
    return is_better, f"{words}, {after.batches} batches each"


def _less(before: float, after: float) -> float:
    """By which part it has become less; below 0: more."""
    return 1 - after / before if before else 0.0


def _is_alike(before: moves.Measures, after: moves.Measures) -> bool:
    loads = sorted((before.rows_per_batch, after.rows_per_batch))
    return loads[1] <= loads[0] * (1 + _SAME_LOAD)
