"""What the latency loop last made of a job: from :mod:`sluice.plan.balancing` into the view of each look at the job."""

import dataclasses
from collections.abc import Mapping
from typing import Literal

Reason = Literal[
    "Waiting",  # nothing was measured that counts
    "Balanced",
    "Shifting",
    "Refused",  # what was measured is not to be believed
]


@dataclasses.dataclass(frozen=True)
class Balance:
    """Where it stands. Nothing in it changes from one period to the next unless something happened."""

    driver: str  # the pod whose executors these are
    reason: Reason
    message: str  # a sentence
    weights: Mapping[str, float] = dataclasses.field(default_factory=dict)  # by executor; none: nothing was shifted yet
    at_s: float = 0.0  # since 1970, of the decision
    what: str = ""  # was decided; empty: nothing
    cause: str = ""  # of a refusal, as one word
