"""What plan concludes of one job: where it stands, why, and what is to be done about it."""

import dataclasses
from collections.abc import Mapping

from sluice.values import driver_state, steps
from sluice.values.handoff import GivenUp, Handoff
from sluice.values.moves import Record
from sluice.values.streamjob import Body

Stages = tuple[tuple[steps.Step, ...], ...]


@dataclasses.dataclass(frozen=True)
class Decision:
    """Something Sluice did of its own accord, for `status.decisions`."""

    at_s: float
    kind: str  # Start, Stop, Place, Open, …
    subject: str  # the pod it was done to
    what: str
    why: str


@dataclasses.dataclass(frozen=True)
class Avoid:
    """A node that could not take an executor that was sent there, and when that was found."""

    node: str
    at_s: float


@dataclasses.dataclass(frozen=True)
class Verdict:
    """Where a job stands. :mod:`sluice.plan.life` makes one, :mod:`sluice.plan.status` writes it down."""

    phase: str
    reason: str  # CamelCase, the reason of the conditions
    message: str  # a sentence: what, why, what to do
    driver: driver_state.DriverState
    ready: bool = False
    moves: bool = False  # it runs while executors come, go or are replaced: Progressing is True
    stuck: bool = False  # a deadline has passed, or only the user can help: Progressing is False
    stages: Stages = ()
    look_again_s: float | None = None
    plugged: bool | None = None  # of a driver that is begun: whether it has the plugin
    told: Mapping[str, Body] = dataclasses.field(default_factory=dict)  # new orders, by driver; others keep theirs
    handoff: Handoff | None = None  # as it stands now; None: nothing new
    given_up: GivenUp | None = None  # a revision that is not tried any more
    decisions: tuple[Decision, ...] = ()
    moved: Record | None = None  # what is remembered of its executors' moves; None: nothing new
    sizing: Body | None = None  # the advice as `status.sizing`; None: nothing new
