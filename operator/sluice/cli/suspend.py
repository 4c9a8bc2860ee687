"""`sluice suspend JOB`: a job ends and stays down until it is resumed."""

import argparse

from sluice.cli import cluster


def add(verbs: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """The words of this verb."""
    parser = verbs.add_parser("suspend", help="end a job; its checkpoint stays")
    parser.add_argument("job", help="a StreamJob")
    cluster.add_words(parser, output=False)
    parser.set_defaults(run=run)


def run(said: argparse.Namespace) -> str:
    """What to print; says so if there was nothing to do."""
    asked = cluster.connect(said)
    if asked.job(said.job)["spec"].get("suspend", False) is True:
        return f"{said.job} is suspended already"
    asked.change(said.job, {"spec": {"suspend": True}})
    return f"{said.job} is told to stop; `sluice resume {said.job}` starts it where it stopped"
