"""`sluice plan`: what a policy would move in a snapshot, why, and what it would cost. Reads a file, changes nothing."""

import argparse
import pathlib

import sluice_policies
from sluice.cli import arguments
from sluice_policies import model, moves


def add(verbs: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """The words of this verb."""
    words = verbs.add_parser("plan", help="what a policy would move in a snapshot, and why")
    words.add_argument("--snapshot", required=True, type=pathlib.Path, metavar="FILE", help="a dump, as JSON")
    words.add_argument("--policy", default="consolidate", choices=sorted(sluice_policies.REGISTRY))
    words.add_argument("--set", action="append", default=[], metavar="FIELD=VALUE", help="an argument of the policy")
    words.add_argument("--compare", action="store_true", help="all policies, a line each")
    words.add_argument("--json", action="store_true", help="the plan as JSON")
    words.set_defaults(run=run)


def run(words: argparse.Namespace) -> str:
    """What to print; ValueError or OSError for what the user got wrong."""
    snapshot = read(words.snapshot)
    if words.compare:
        return compare(snapshot)
    plan = arguments.planner(words.policy, words.set)(snapshot)
    return plan.to_json() if words.json else plan.explain()


def read(file: pathlib.Path) -> model.Snapshot:
    """The snapshot in a file."""
    try:
        return model.from_json(file.read_text())
    except ValueError as why:  # also what is not text at all
        raise ValueError(f"{file}: {why}") from None


def compare(snapshot: model.Snapshot) -> str:
    """All policies with their default arguments, the one that costs least first."""
    plans = [arguments.planner(name)(snapshot) for name in sorted(sluice_policies.REGISTRY)]
    return "\n".join(_line(plan) for plan in sorted(plans, key=lambda plan: (plan.after.rank(), len(plan.moves))))


def _line(plan: moves.Plan) -> str:
    return f"{plan.policy:<12} {len(plan.moves):>6} moves {len(plan.refused):>5} refused  {plan.after.explain()}"
