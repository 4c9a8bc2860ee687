"""Numbers that look random and follow from a seed alone: splitmix64 (Steele, Lea, Flood, 2014). No module of dice."""

import math
from collections.abc import Iterator

_MASK = 2**64 - 1


def uniforms(seed: int) -> Iterator[float]:
    """Endless numbers of [0, 1), 53 bits each."""
    state = seed & _MASK
    while True:
        state = (state + 0x9E3779B97F4A7C15) & _MASK
        mixed = ((state ^ (state >> 30)) * 0xBF58476D1CE4E5B9) & _MASK
        mixed = ((mixed ^ (mixed >> 27)) * 0x94D049BB133111EB) & _MASK
        yield ((mixed ^ (mixed >> 31)) >> 11) * 2.0**-53


def exponential(uniform: float, mean: float) -> float:
    """An exponentially distributed number from a uniform one."""
    return -mean * math.log(1.0 - uniform)
