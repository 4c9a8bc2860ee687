"""`sluice resume JOB`: a suspended job starts again where it stopped."""

import argparse

from sluice.cli import cluster


def add(verbs: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """The words of this verb."""
    parser = verbs.add_parser("resume", help="start a suspended job again")
    parser.add_argument("job", help="a StreamJob")
    cluster.add_words(parser, output=False)
    parser.set_defaults(run=run)


def run(said: argparse.Namespace) -> str:
    """What to print; says so if there was nothing to do."""
    asked = cluster.connect(said)
    if asked.job(said.job)["spec"].get("suspend", False) is False:
        return f"{said.job} is not suspended"
    asked.change(said.job, {"spec": {"suspend": False}})
    return f"{said.job} is told to start"
