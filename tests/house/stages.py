"""Runs named stages, side by side where they do not need each other, and shows how far it is.

A target of :mod:`house.targets` or a verb of :mod:`testbed` is a list of stages; each gets a :class:`Desk` to work
with. What is finished once and for all (a built binary) says so
by `kept` and is not timed.
"""

import dataclasses
import pathlib
import time
from collections.abc import Callable, Sequence
from concurrent import futures

from house import paths, screen, shell, trouble, usual


@dataclasses.dataclass(frozen=True)
class Desk:
    """What a stage works with: its commands (logged), and a way to say a line to the person watching."""

    shell: shell.Shell
    say: Callable[[str], None]


@dataclasses.dataclass(frozen=True)
class Stage:
    """One piece of work. It starts when all it comes `after` are done."""

    name: str
    work: Callable[[Desk], None]
    after: tuple[str, ...] = ()
    kept: Callable[[], bool] | None = None
    """Asked first: True when an earlier run already did this, so that there is nothing to do."""


@dataclasses.dataclass(frozen=True)
class Took:
    """What a finished stage took; `kept` when there was nothing to do."""

    name: str
    seconds: float
    kept: bool


def run(title: str, stages: Sequence[Stage], hands: int = 4) -> list[Took]:
    """Runs all stages; the first failure lets the running ones end, starts no more, and is raised."""
    _check(stages)
    began_s = time.monotonic()
    with screen.Screen(title, len(stages)) as shown, futures.ThreadPoolExecutor(hands) as pool:
        took = _run_all(title, list(stages), shown, pool)
    kept = f", {sum(t.kept for t in took)} kept from before" if any(t.kept for t in took) else ""
    print(f"== {title}: done in {screen.duration(time.monotonic() - began_s)}{kept}", flush=True)
    return took


def _check(stages: Sequence[Stage]) -> None:
    names = {stage.name for stage in stages}
    for stage in stages:
        unknown = sorted(set(stage.after) - names)
        if unknown:
            raise ValueError(f"stage {stage.name!r} comes after {unknown}, which are not in {sorted(names)}")


def _run_all(title: str, waiting: list[Stage], shown: screen.Screen, pool: futures.Executor) -> list[Took]:
    running: set[futures.Future[Took]] = set()
    took: list[Took] = []
    failure: BaseException | None = None
    while running or (waiting and failure is None):
        if failure is None:
            done_names = {t.name for t in took}
            ready = [stage for stage in waiting if done_names.issuperset(stage.after)]
            if not ready and not running:
                raise ValueError(f"stages wait for each other: {[stage.name for stage in waiting]}")
            waiting = [stage for stage in waiting if stage not in ready]
            running |= {pool.submit(_run_one, title, stage, shown) for stage in ready}
        done, running = futures.wait(running, return_when=futures.FIRST_COMPLETED)
        for future in done:
            failure = failure or future.exception()
            if future.exception() is None:
                took.append(future.result())
    if failure is not None:
        raise failure
    return took


def _run_one(title: str, stage: Stage, shown: screen.Screen) -> Took:
    if stage.kept is not None and stage.kept():
        shown.ended(stage.name, 0.0, "kept")
        return Took(stage.name, 0.0, kept=True)
    key = f"{title}: {stage.name}"
    shown.began(stage.name, usual.seconds(key))
    began_s = time.monotonic()
    try:
        stage.work(Desk(shell.Shell(_log(key)), shown.say))
    except BaseException as why:
        shown.ended(stage.name, time.monotonic() - began_s, "FAILED")
        if isinstance(why, trouble.Trouble):
            raise trouble.Trouble(f"{stage.name}: {why}\n    (all of it: {_log(key)})") from why
        raise
    took_s = time.monotonic() - began_s
    shown.ended(stage.name, took_s, "ok")
    usual.learn(key, took_s)
    return Took(stage.name, took_s, kept=False)


def _log(key: str) -> pathlib.Path:
    paths.LOGS.mkdir(parents=True, exist_ok=True)
    return paths.LOGS / ("".join(c if c.isalnum() else "-" for c in key) + ".log")
