"""``python -m testbed VERB …``: the cluster and its experiments from the command line."""

import argparse
import sys

from house import trouble
from testbed import cluster, machine, report


def main(words: list[str] | None = None) -> int:
    """Does what is asked; trouble is one sentence and exit code 1."""
    asked = _parser().parse_args(words)
    try:
        if reason := machine.reason_against():
            raise trouble.Trouble(reason)
        testbed = cluster.Cluster()
        print(_do(testbed, asked))
    except trouble.Trouble as why:
        print(f"testbed: {why}", file=sys.stderr)
        return 1
    return 1 if asked.verb == "status" and not testbed.running() else 0


def _do(testbed: cluster.Cluster, asked: argparse.Namespace) -> str:
    match asked.verb:
        case "up":
            return report.shares(testbed.up(asked.nodes)) + "\n" + report.status(testbed)
        case "down":
            return testbed.down()
        case "status":
            return report.status(testbed)
        case "fake":
            return testbed.fake(asked.count)
        case "slow" | "link":
            return str(getattr(testbed, asked.verb)(asked.node, asked.value))
        case verb:
            return str(getattr(testbed, verb)(asked.node))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m testbed", description="A real Kubernetes on this machine.")
    verbs = parser.add_subparsers(dest="verb", required=True, metavar="VERB")
    up = verbs.add_parser("up", help="bring the cluster up; what is up already stays")
    up.add_argument("--nodes", type=int, default=3, help="how many real nodes (3)")
    verbs.add_parser("down", help="end it and leave nothing but the cache")
    verbs.add_parser("status", help="what is up, what was done to it, how to reach it")
    fake = verbs.add_parser("fake", help="so many KWOK nodes beside the real ones")
    fake.add_argument("count", type=int)
    for verb, value, text in (
        ("slow", "SHARE", "the CPU of a node's pods: 20%% of one core, or full"),
        ("link", "RATE", "a node's link: 50mbit, or full"),
    ):
        shaped = verbs.add_parser(verb, help=text)
        shaped.add_argument("node")
        shaped.add_argument("value", metavar=value)
    for verb, text in (
        ("freeze", "stop a node's processes where they stand"),
        ("thaw", "let them go on"),
        ("kill", "end a node like a power cut"),
        ("start", "boot it again"),
        ("cut", "unplug a node's link"),
        ("heal", "plug it in again"),
    ):
        verbs.add_parser(verb, help=text).add_argument("node")
    return parser


if __name__ == "__main__":
    sys.exit(main())
