"""`sluice plan`: what would happen, and nothing does.

``-f`` a StreamJob: what its change asks for, field by field, and what the API server says to it. ``--snapshot`` a dump:
what a policy would move, why, and what that would cost.
"""

import argparse
import pathlib

import sluice_policies
from sluice.cli import arguments, proposal
from sluice_policies import model, moves


def add(verbs: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """The words of this verb."""
    words = verbs.add_parser("plan", help="what a changed StreamJob, or a policy, would do, and why")
    what = words.add_mutually_exclusive_group(required=True)
    what.add_argument("-f", "--file", type=pathlib.Path, metavar="FILE", help="a StreamJob, as you would apply it")
    what.add_argument("--snapshot", type=pathlib.Path, metavar="FILE", help="a dump, as JSON")
    words.add_argument("--against", type=pathlib.Path, metavar="FILE", help="the job as it was; asks no cluster")
    words.add_argument("-n", "--namespace", default="", help="with -f: where the job is, if its file does not say")
    words.add_argument("--policy", default="consolidate", choices=sorted(sluice_policies.REGISTRY))
    words.add_argument("--set", action="append", default=[], metavar="FIELD=VALUE", help="an argument of the policy")
    words.add_argument("--compare", action="store_true", help="all policies, a line each")
    words.add_argument("--json", action="store_true", help="the plan as JSON")
    words.set_defaults(run=run)


def run(words: argparse.Namespace) -> str:
    """What to print; ValueError or OSError for what the user got wrong."""
    if words.file:
        found = proposal.look(words.file, words.against, words.namespace)
        return found.to_json() if words.json else found.explain()
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
