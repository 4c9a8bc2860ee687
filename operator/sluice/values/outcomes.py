"""What act says of the steps it was given. Made by act, read by the cycle, by plan for its sentences, by observe."""

import dataclasses
from typing import Literal

from sluice.values import steps
from sluice.values.streamjob import Body

Kind = Literal[
    "Conflict",  # it has changed since, or is on its way out: the next cycle sees it anew
    "Gone",  # what it was about is no longer there
    "Refused",  # by the API server, a quota, a webhook, an object of somebody else's: a person may have to act
    "Unavailable",  # nobody could be asked: later
]


@dataclasses.dataclass(frozen=True)
class Failure:
    """A step that was not done."""

    step: steps.Step
    kind: Kind
    sentence: str


@dataclasses.dataclass(frozen=True)
class Outcome:
    """How far it came. The steps of the stages after a failure were not tried."""

    done: tuple[steps.Step, ...] = ()
    failures: tuple[Failure, ...] = ()  # all of one stage
    bodies: tuple[Body, ...] = ()  # StreamJobs and pods as they stand since, for whoever remembers them

    @property
    def ok(self) -> bool:
        """Whether everything was done."""
        return not self.failures
