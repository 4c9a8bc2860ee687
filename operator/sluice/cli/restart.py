"""`sluice restart JOB`: a new driver and new executors of the same spec, by the job's own `update.strategy`."""

import argparse

from sluice.cli import cluster, words
from sluice.values import names


def add(verbs: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """The words of this verb."""
    parser = verbs.add_parser("restart", help="replace the driver and executors of a job")
    parser.add_argument("job", help="a StreamJob")
    cluster.add_words(parser, output=False)
    parser.set_defaults(run=run)


def run(said: argparse.Namespace) -> str:
    """What to print; ValueError for a job that does not run."""
    asked = cluster.connect(said)
    if asked.job(said.job)["spec"].get("suspend", False):
        raise ValueError(f"{said.job} is suspended; `sluice resume {said.job}` starts it")
    at = words.now().isoformat(timespec="seconds").replace("+00:00", "Z")
    asked.change(said.job, {"metadata": {"annotations": {names.RESTARTED: at}}})
    return f"{said.job} is told to restart; `sluice status {said.job}` shows how far it is"
