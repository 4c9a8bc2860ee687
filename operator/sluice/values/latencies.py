"""How long tasks took on each executor, as observe read it: facts, the odd ones included, for plan to judge.

Made by the two sources of :mod:`sluice.observe.latencies`, read by :mod:`sluice.plan.balancing`.
"""

import dataclasses
from typing import Literal

Flaw = Literal[
    "",
    "NaN",  # a number that is none, or endless
    "Reset",  # a count went backwards
    "Twice",  # two series where one belongs
    "Torn",  # its parts contradict each other
]


@dataclasses.dataclass(frozen=True)
class Asked:
    """Whose tasks, and since when."""

    namespace: str
    job: str
    pod: str  # of the driver
    uid: str
    ip: str
    since_s: float  # since 1970; what ended before does not count
    window_s: float  # no sample older than this is of use


@dataclasses.dataclass(frozen=True)
class Part:
    """What one executor did for one query since then; by the labels that it bears, whoever asked for it."""

    namespace: str
    job: str
    query: str
    executor: str
    at_s: float  # since 1970, when it was last measured
    tasks: float
    mean_ms: float | None = None  # None: nobody knows
    p90_ms: float | None = None
    p99_ms: float | None = None
    flaw: Flaw = ""


@dataclasses.dataclass(frozen=True)
class Reading:
    """All of it, or why there is none."""

    source: str  # for a sentence
    parts: tuple[Part, ...] = ()
    problem: str = ""  # a sentence: it could not be read
