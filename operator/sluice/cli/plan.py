"""`sluice plan`: what would happen, and nothing does.

``-f`` a StreamJob: what its change asks for, field by field, and what the API server says to it. ``--snapshot`` a dump:
what a policy would move, why, and what that would cost.
"""

import argparse
import dataclasses
import pathlib

import sluice_policies
from sluice.cli import arguments, proposal, words
from sluice_policies import model, moves


def add(verbs: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """The words of this verb."""
    parser = verbs.add_parser("plan", help="what a changed StreamJob, or a policy, would do, and why")
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("-f", "--file", type=pathlib.Path, metavar="FILE", help="a StreamJob, as you would apply it")
    what.add_argument("--snapshot", type=pathlib.Path, metavar="FILE", help="a dump, as JSON")
    parser.add_argument("--against", type=pathlib.Path, metavar="FILE", help="the job as it was; asks no cluster")
    parser.add_argument("-n", "--namespace", default="", help="with -f: where the job is, if its file does not say")
    parser.add_argument("--policy", default="consolidate", choices=sorted(sluice_policies.REGISTRY))
    parser.add_argument("--set", action="append", default=[], metavar="FIELD=VALUE", help="an argument of the policy")
    parser.add_argument("--compare", action="store_true", help="all policies, a line each")
    words.add_output(parser)
    parser.set_defaults(run=run)


def run(said: argparse.Namespace) -> str:
    """What to print; ValueError or OSError for what the user got wrong."""
    if said.file:
        found = proposal.look(said.file, said.against, said.namespace)
        return found.to_json() if said.output == "json" else found.explain()
    snapshot = read(said.snapshot)
    if said.compare:
        return compare(snapshot, said.output)
    plan = arguments.planner(said.policy, said.set)(snapshot)
    return plan.to_json() if said.output == "json" else plan.explain()


def read(file: pathlib.Path) -> model.Snapshot:
    """The snapshot in a file."""
    try:
        return model.from_json(file.read_text())
    except ValueError as why:  # also what is not text at all
        raise ValueError(f"{file}: {why}") from None


def compare(snapshot: model.Snapshot, output: str) -> str:
    """All policies with their default arguments, the one that costs least first."""
    found = [arguments.planner(name)(snapshot) for name in sorted(sluice_policies.REGISTRY)]
    plans = sorted(found, key=lambda plan: (plan.after.rank(), len(plan.moves)))
    if output == "json":
        return words.as_json([dataclasses.asdict(plan) for plan in plans])
    return "\n".join(_line(plan) for plan in plans)


def _line(plan: moves.Plan) -> str:
    return f"{plan.policy:<12} {len(plan.moves):>6} moves {len(plan.refused):>5} refused  {plan.after.explain()}"
