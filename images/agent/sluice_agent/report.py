"""What the agent tells the operator of its driver: one annotation of the job's Lease, by :mod:`sluice_agent.lease`.

Described in `images/agent/README.md`. Small whatever the job does: every annotation of a Lease together has 256 KiB.
"""

import dataclasses
import json
from typing import Any

from sluice_agent import balance, board, documents, heard, tally

_MOST_QUERIES = 20
_MOST_SLOW = 32  # executors that are named


@dataclasses.dataclass(frozen=True)
class Report:
    """At one moment."""

    words: dict[str, Any]
    urgent: tuple[Any, ...] | None  # when this differs, the operator is told at once; None: nothing is known
    epoch: int  # the highest one of its queries
    leads: bool  # whether this driver runs the job

    def text(self, at: str) -> str:
        """The annotation, with the API server's time."""
        return json.dumps({"version": documents.VERSION, "at": at, **self.words}, separators=(",", ":"))


@dataclasses.dataclass(frozen=True)
class Known:
    """Who is asked for it."""

    states: heard.Heard
    orders: board.Board
    sums: tally.Tally
    balancer: balance.Balancer


def make(known: Known, observed: int) -> Report:
    """As things are now. `observed` is the last order that was seen carried out."""
    states, orders = known.states, known.orders
    state, phase = states.now()
    now = _observed(state, orders, observed)
    words: dict[str, Any] = {"phase": phase, "order": now, "refused": orders.refused}
    if states.unmanaged:
        return Report({**words, "problem": states.unmanaged}, (phase, now, orders.refused), 0, leads=True)
    if state is None:
        return Report(words, None, 0, leads=False)
    words |= {
        "refused": orders.refused or state.refused,
        "application": state.application,
        "gateOpen": state.gate_open,
        "drain": {"id": state.drain_id, "state": state.drain, "problem": state.drain_problem},
        "warmUp": state.warm_up,
        "problem": " ".join(state.unprotected[:1]),
        "queries": [_query(query, known) for query in state.queries[:_MOST_QUERIES]],
    }
    fixed = tuple(_fixed(query) for query in state.queries)
    said = (state.gate_open, state.warm_up, state.drain_id, state.drain, words["problem"])
    urgent = (phase, now, words["refused"], *said, fixed)
    epoch = max((query.epoch for query in state.queries), default=0)
    return Report(words, urgent, epoch, state.gate_open and phase not in ("Stopped", "Silent"))


def _observed(state: heard.State | None, orders: board.Board, before: int) -> int:
    found = orders.orders
    return found.order if found and state and state.serial == found.serial else before


def _fixed(query: heard.Query) -> tuple[Any, ...]:
    """What no batch changes but the first."""
    return query.id, query.phase, query.epoch, query.problem, query.warm, query.first_commit_at_ms > 0


def _query(query: heard.Query, known: Known) -> dict[str, Any]:
    found = {
        "id": query.id,
        "name": query.name,
        "engine": query.engine,
        "phase": query.phase,
        "epoch": query.epoch,
        "committed": query.committed,
        "inFlight": query.in_flight,
        "problem": query.problem,
    }
    late = {"warm": query.warm, "committedAtMs": query.committed_at_ms, "firstCommitAtMs": query.first_commit_at_ms}
    found |= {name: value for name, value in late.items() if value}
    if learned := known.balancer.queries.get(query.id):
        found |= {"settled": learned.settled, "split": learned.left}
        found |= {"slow": sorted(learned.slow)[:_MOST_SLOW]} if learned.slow else {}
    summed = known.sums.queries.get(query.name)
    if not summed:
        return found
    gauges = summed.last.gauges
    rates = {"lag": "lag", "inputRowsPerSecond": "input", "processedRowsPerSecond": "processed"}
    measured = {name: round(gauges[field], 1) for name, field in rates.items() if field in gauges}
    return {**found, "batch": summed.last.batch, "batchMs": round(summed.last.took_s * 1000), **measured}
