"""How long one step of `lever` and `latency` takes: part of the bench `papers`."""

import functools
import statistics
import time
from collections.abc import Callable

from bench import ledger, outcome
from sluice_policies import latency, lever
from sluice_policies.latency_types import Observed
from sluice_policies.latency_types import State as LatencyState
from sluice_policies.lever_types import Batch, Measured
from sluice_policies.lever_types import State as LeverState

_EXECUTORS = 1000
_REPEATS = 200


def run(book: ledger.Ledger) -> outcome.Outcome:
    """Medians of repeated steps, each on the state the one before left."""
    found = {name: book.once(f"step {name}", functools.partial(_median_ms, step)) for name, step in _steps().items()}
    rows = tuple((name, f"{ms:.3f}") for name, ms in found.items())
    title = f"One step over {_EXECUTORS} executors or tasks, median of {_REPEATS}, CPU time of the thread"
    table = outcome.Table(title, ("step", "ms"), rows)
    return outcome.Outcome(
        (table,),
        (
            outcome.Bar("lever-step-ms", found["lever"], 1.0),
            outcome.Bar("latency-step-ms", found["latency, 20 tasks"], 1.0),
        ),
    )


def _steps() -> dict[str, Callable[[], float]]:
    return {
        "lever": lambda: _lever("all"),
        "lever, published": lambda: _lever("published"),
        "latency, 20 tasks": lambda: _latency("ours", 20),
        "latency": lambda: _latency("ours", _EXECUTORS),
        "latency, published": lambda: _latency("published", _EXECUTORS),
    }


def _lever(variant: str) -> float:
    names = tuple(f"e{i:04}" for i in range(_EXECUTORS))
    measured = tuple(Measured(name, 1000 + i, 1.0 + i * 37 % 101 / 50) for i, name in enumerate(names))
    batch, args, state = Batch(measured, names, 10**6), lever.Args(variant=variant), LeverState(())
    state = lever.step(state, batch, args).state  # learns everyone; what counts is the step between two batches
    began_s = time.thread_time()
    lever.step(state, batch, args)
    return 1000 * (time.thread_time() - began_s)


def _latency(variant: str, tasks: int) -> float:
    observed = [Observed(f"t{i:04}", 10.0 + i * 37 % 101) for i in range(tasks)]
    args = latency.Args(variant=variant)
    state = latency.step(LatencyState(), observed, args).state
    began_s = time.thread_time()
    latency.step(state, observed, args)
    return 1000 * (time.thread_time() - began_s)


def _median_ms(step: Callable[[], float]) -> float:
    return statistics.median(step() for _ in range(_REPEATS))
