"""`sluice simulate`: the papers' figures anew, and what a recorded snapshot would be under another placement.

``figures`` runs the bench of the source tree it is told, which asks the simulators of :mod:`sluice_policies.simulate`
and files pictures and RESULTS.md there. ``what-if`` reads a dump and changes nothing.
"""

import argparse
import dataclasses
import os
import pathlib
import subprocess
import sys

import sluice_policies
from sluice.cli import plan, words
from sluice_policies.simulate import whatif


def add(verbs: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """The words of this verb."""
    kinds = verbs.add_parser("simulate", help="the papers' figures anew; what if tasks sat elsewhere").add_subparsers(
        metavar="KIND", required=True
    )
    figures = kinds.add_parser("figures", help="draw every figure and write every table, in a source tree")
    figures.add_argument("--tree", type=pathlib.Path, default=pathlib.Path(), help="the source tree (default: here)")
    figures.set_defaults(run=_figures)
    what_if = kinds.add_parser("what-if", help="time per tuple of a snapshot, as it is and under each policy")
    what_if.add_argument("--snapshot", type=pathlib.Path, required=True, metavar="FILE", help="a dump, as JSON")
    usual = whatif.Args()
    what_if.add_argument("--far-ms", type=float, default=usual.far_ms, help="a hop between nodes")
    what_if.add_argument("--near-ms", type=float, default=usual.near_ms, help="a hop within a node")
    what_if.add_argument("--service-ms", type=float, default=usual.service_ms, help="a task's work on a tuple")
    words.add_output(what_if)
    what_if.set_defaults(run=_what_if)


def _figures(said: argparse.Namespace) -> str:
    tests = said.tree.resolve() / "tests"
    if not (tests / "bench" / "papers.py").exists():
        raise ValueError(f"--tree={said.tree}: allowed is a source tree of Sluice, with tests/bench in it")
    command = [sys.executable, "-m", "bench", "papers"]
    if subprocess.run(command, env={**os.environ, "PYTHONPATH": str(tests)}, check=False).returncode != 0:
        raise ValueError("the bench ended short, see above")
    return f"pictures in {tests / 'bench' / 'figures'}, tables in {tests / 'bench' / 'RESULTS.md'}"


def _what_if(said: argparse.Namespace) -> str:
    snapshot = plan.read(said.snapshot)
    costs = whatif.Args(said.far_ms, said.near_ms, said.service_ms)
    placements = {"now": snapshot.placement()}
    for name in sluice_policies.REGISTRY:
        placements[name] = sluice_policies.policy(name).plan(snapshot).placement(snapshot)
    found = {name: whatif.estimate(snapshot, where, costs) for name, where in placements.items()}
    if said.output == "json":
        return words.as_json({name: dataclasses.asdict(one) for name, one in found.items()})
    return "\n".join(_line(name, one) for name, one in found.items())


def _line(name: str, found: whatif.Estimate) -> str:
    return f"{name:<12} {found.tuple_ms:9.3f} ms a tuple, {found.far_share:6.1%} far, fullest node {found.fullest:.0%}"
