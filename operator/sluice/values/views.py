"""What one cycle sees: a frozen view of a job, or of all that wait for a node. Made by observe, read by plan."""

import dataclasses
from collections.abc import Mapping

from sluice.values import balances, handoff, moves, records, reports, streamjob
from sluice.values.traffic import Traffic


@dataclasses.dataclass(frozen=True)
class JobView:
    """One StreamJob and everything of its own in the cluster."""

    job: streamjob.StreamJob
    pods: tuple[records.Pod, ...]  # with its label and in its namespace, by name; leftovers of a namesake included
    rival: str  # "namespace/name" of the StreamJob that holds the same checkpoint, or nothing
    lost_nodes: frozenset[str]  # nodes of its pods that are not Ready, or gone
    now_s: float  # since 1970
    cordoned: frozenset[str] = frozenset()  # nodes of its pods that take no more
    refused: str = ""  # the API server's sentence, if it last refused what the job needs
    said: Mapping[str, reports.Report] = dataclasses.field(default_factory=dict)  # by drivers, by pod
    placing: bool = True  # False: the operator was installed without leave to place
    former: streamjob.Spec | None = None  # what the driver that runs was made of, if that is not what is wanted now
    given_up: handoff.GivenUp | None = None  # then `job` is the revision before: the wanted one did not prove itself
    balance: balances.Balance | None = None  # what the latency loop last made of it; None: nothing yet
    prepared: bool = False  # then: the ConfigMap of what is wanted is there, so its templates were found good
    traffic: Traffic | None = None  # of its driver, as last measured
    wish: moves.Wish | None = None  # what the plan of all jobs would have of it


@dataclasses.dataclass(frozen=True)
class FleetView:
    """All executors that wait for a node, and the nodes they may get."""

    jobs: Mapping[tuple[str, str], streamjob.StreamJob]  # those of the waiting executors, or all there are
    waiting: tuple[records.Pod, ...]  # executors behind our gate, not on their way out; by namespace and name
    placed: tuple[records.Pod, ...]  # pods of those jobs that have a node already: drivers and executors
    near: Mapping[tuple[str, str], tuple[records.Pod, ...]]  # by job: pods that its `placement.near` selects
    nodes: tuple[records.Node, ...]  # by name
    used: Mapping[str, records.Resources]  # by node: requests of everything on it that is not over
    now_s: float  # since 1970
