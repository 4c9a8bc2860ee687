"""One queue for the tasks of a worker: how long rows wait in it, and how many executors a latency goal takes.

Called by the operator's sizing (minutes apart) and by whoever asks whether a shared queue is worth it: in come arrival
rate, service rate and a goal, out come servers and waits.

Paper: Du & Gupta, DCC 2016, section 3.2. Objective: the fewest slots that keep the mean (or a quantile of the)
latency. Cost: O(servers). It never looks past Poisson arrivals and exponential service: real input is burstier, so
the answer is a lower bound on the servers, and `utilisation` caps it.

Deviation: the mean wait is Erlang C over (c mu - lambda). The paper's Eq. 2 is printed as a mean time but is a
probability, and lacks an exponent: (c rho / c!) where Erlang has ((c rho)^c / c!). As printed it is a tenth of
the truth at four servers; :func:`printed_eq_2` keeps it for comparison.
"""

import dataclasses
import math
from typing import NamedTuple

from sluice_policies import bounds

_MOST_SERVERS = 100_000


@dataclasses.dataclass(frozen=True)
class Args:
    """The goal. Waits count from arrival to the start of service."""

    goal_ms: float = 1000.0
    """The latency to keep: wait and service together, 0.001 to 10,000,000."""
    quantile: float = 0.0
    """0: the goal is for the mean. Else that part of all rows must keep it, 0.5 to 0.9999."""
    utilisation: float = 0.8
    """Servers are never planned busier than this, 0.05 to 0.99."""
    slots: int = 1
    """Slots of one executor that pull from its queue, 1 to 1,024."""

    def __post_init__(self) -> None:
        bounds.within("goal_ms", self.goal_ms, 0.001, 1e7)
        if self.quantile:
            bounds.within("quantile", self.quantile, 0.5, 0.9999)
        bounds.within("utilisation", self.utilisation, 0.05, 0.99)
        bounds.within("slots", self.slots, 1, 1024)


class Demand(NamedTuple):
    """What comes in and what one slot does."""

    arrivals_per_s: float
    served_per_s: float
    """Rows one slot finishes per second when it is never idle."""


class Sizing(NamedTuple):
    """How many executors keep the goal, and what to expect of them."""

    executors: int
    utilisation: float
    mean_latency_ms: float
    goal_latency_ms: float
    """The mean, or the asked quantile."""


def erlang_c(offered: float, servers: int) -> float:
    """The part of arrivals that must wait in M/M/c; `offered` is lambda / mu, below `servers`.

    By the recursion of Erlang B: no factorial, hence no overflow at any number of servers.
    """
    blocked = 1.0
    for k in range(1, servers + 1):
        blocked = offered * blocked / (k + offered * blocked)
    busy = offered / servers
    return blocked / (1 - busy * (1 - blocked))


def mean_wait_s(demand: Demand, servers: int) -> float:
    """C / (c mu - lambda); infinite where arrivals outrun the servers."""
    spare_per_s = servers * demand.served_per_s - demand.arrivals_per_s
    if spare_per_s <= 0:
        return math.inf
    return erlang_c(demand.arrivals_per_s / demand.served_per_s, servers) / spare_per_s


def separate_wait_s(demand: Demand, servers: int) -> float:
    """The mean wait when each of the servers has a queue of its own and an equal part of the arrivals: c x M/M/1."""
    return mean_wait_s(Demand(demand.arrivals_per_s / servers, demand.served_per_s), 1)


def latency_quantile_s(demand: Demand, servers: int, part: float) -> float:
    """The latency (wait and service) that `part` of the rows keep, to a relative 1e-9, by bisection."""
    if mean_wait_s(demand, servers) == math.inf:
        return math.inf
    low_s, high_s = 0.0, 1.0 / demand.served_per_s
    while _longer_than(demand, servers, high_s) > 1 - part:
        low_s, high_s = high_s, high_s * 2
    while high_s - low_s > 1e-9 * high_s:
        middle_s = (low_s + high_s) / 2
        low_s, high_s = (middle_s, high_s) if _longer_than(demand, servers, middle_s) > 1 - part else (low_s, middle_s)
    return high_s


def _longer_than(demand: Demand, servers: int, time_s: float) -> float:
    """P(latency > t): an exponential service (mu), after, with probability C, an exponential wait (c mu - lambda)."""
    served, spare = demand.served_per_s, servers * demand.served_per_s - demand.arrivals_per_s
    waits = erlang_c(demand.arrivals_per_s / served, servers)
    alone = math.exp(-served * time_s)
    if math.isclose(served, spare, rel_tol=1e-6):  # both exponentials alike: their sum is Erlang-2
        return alone * (1 + waits * served * time_s)
    both = (served * math.exp(-spare * time_s) - spare * alone) / (served - spare)
    return (1 - waits) * alone + waits * both


def printed_eq_2(utilisation: float, servers: int) -> float:
    """Eq. 2 of the paper to the letter: neither Erlang C nor a time."""
    load = servers * utilisation
    last = load / math.factorial(servers) / (1 - utilisation)
    return last / (sum(load**k / math.factorial(k) for k in range(servers)) + last)


def step(demand: Demand, args: Args) -> Sizing:
    """The fewest executors whose shared queues keep the goal. Each executor has its own queue and an equal part."""
    bounds.within("arrivals_per_s", demand.arrivals_per_s, 0, 1e12)
    bounds.within("served_per_s", demand.served_per_s, 1e-6, 1e12)
    best_ms = _latency_ms(Demand(0.0, demand.served_per_s), args)
    bounds.within("goal_ms", args.goal_ms, best_ms, 1e7)  # what not even an idle executor keeps, no number does
    busiest = args.utilisation * args.slots * demand.served_per_s
    fewest = max(math.ceil(demand.arrivals_per_s / busiest), 1)
    bounds.within("executors", fewest, 1, _MOST_SERVERS)
    enough = fewest
    while not _keeps(demand, enough, args):
        enough *= 2
    short = fewest - 1 if enough == fewest else enough // 2
    while enough - short > 1:  # more executors never wait longer, so the first that keeps the goal is found by halves
        middle = (enough + short) // 2
        enough, short = (middle, short) if _keeps(demand, middle, args) else (enough, middle)
    each = Demand(demand.arrivals_per_s / enough, demand.served_per_s)
    mean_ms = 1000 * (mean_wait_s(each, args.slots) + 1 / demand.served_per_s)
    busy = demand.arrivals_per_s / (enough * args.slots * demand.served_per_s)
    return Sizing(enough, busy, mean_ms, _latency_ms(each, args))


def _keeps(demand: Demand, executors: int, args: Args) -> bool:
    return _latency_ms(Demand(demand.arrivals_per_s / executors, demand.served_per_s), args) <= args.goal_ms


def _latency_ms(each: Demand, args: Args) -> float:
    if args.quantile:
        return 1000 * latency_quantile_s(each, args.slots, args.quantile)
    return 1000 * (mean_wait_s(each, args.slots) + 1 / each.served_per_s)
