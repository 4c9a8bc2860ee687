"""What goes into a step of :mod:`sluice_policies.latency` and what is remembered between two. Values only."""

from typing import NamedTuple


class Observed(NamedTuple):
    """One downstream task in the last period. None where it had no traffic, or where nobody measures that figure."""

    name: str
    mean_ms: float | None
    p90_ms: float | None = None
    p99_ms: float | None = None


class Task(NamedTuple):
    """What is known of a downstream task."""

    name: str
    weight: float
    """Its part of the upstream traffic; all weights add up to 1."""
    aged_ms: float | None
    """Wt of Algorithm 2; None as long as nothing was measured."""


class Shift(NamedTuple):
    """A part of the traffic that the last step moved, to be judged by the next one."""

    slow: str
    fast: str
    moved: float
    before_ms: float
    """The pair's load-weighted latency when it was decided."""


class Rest(NamedTuple):
    """A slow task that gives nothing away for a while, because the last time it did not help."""

    name: str
    left_periods: int
    length_periods: int
    """How long this rest was from its start; the next one is twice that, and the next step is divided by twice that."""


class State(NamedTuple):
    """Start with ``State()``; the first step gives everyone an equal weight. All in the order of names."""

    tasks: tuple[Task, ...] = ()
    shifts: tuple[Shift, ...] = ()
    rests: tuple[Rest, ...] = ()
