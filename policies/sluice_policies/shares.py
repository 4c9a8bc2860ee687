"""Cuts a whole number of rows by weights. Called by :mod:`sluice_policies.lever`; knows nothing of executors.

Largest remainder: everyone gets the whole part of their exact share, what is left goes row by row to the largest
fractions, ties to the earlier one. The parts add up to the whole, and no part is a row off its exact share.
"""

import operator
from collections.abc import Sequence


def cut(total: int, weights: Sequence[float], least: int = 0) -> list[int]:
    """The parts of `total` in proportion to the weights, none below `least`. Cost: O(n log n)."""
    count = len(weights)
    if count * least >= total:
        return _even(total, count)
    pinned = _below(total, weights, least)
    if not pinned:
        return _in_proportion(total, weights)
    free = [i for i in range(count) if i not in pinned]
    parts = [least] * count
    for i, part in zip(free, _in_proportion(total - least * len(pinned), [weights[i] for i in free]), strict=True):
        parts[i] = part
    return parts


def _below(total: int, weights: Sequence[float], least: int) -> frozenset[int]:
    """Whose proportional part would fall short of `least`; lifting one shrinks the others, hence lightest first."""
    left, left_weight = float(total), sum(weights)
    if least == 0 or min(weights) * left >= least * left_weight:
        return frozenset()
    pinned = []
    for i in sorted(range(len(weights)), key=weights.__getitem__):
        if weights[i] * left >= least * left_weight:
            break
        pinned.append(i)
        left, left_weight = left - least, left_weight - weights[i]
    return frozenset(pinned)


def _in_proportion(total: int, weights: Sequence[float]) -> list[int]:
    weight = sum(weights)
    scale = total / weight if weight > 0 else 0.0
    if scale <= 0.0 or scale == float("inf"):
        return _even(total, len(weights))  # weights that say nothing
    exact = [weight * scale for weight in weights]
    parts = list(map(int, exact))
    rest = total - sum(parts)
    if 0 < rest <= len(parts):
        missing = list(map(operator.sub, parts, exact))
        for i in sorted(range(len(parts)), key=missing.__getitem__)[:rest]:  # stable: ties go to the earlier one
            parts[i] += 1
    elif rest:  # past 2**53 doubles cannot tell rows apart: the largest part takes what they lost
        parts[max(range(len(parts)), key=exact.__getitem__)] += rest
    return parts


def _even(total: int, count: int) -> list[int]:
    whole, over = divmod(total, count) if count else (0, 0)
    return [whole + (i < over) for i in range(count)]
