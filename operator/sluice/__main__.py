"""``python -m sluice``: the operator's front door, and the `sluice` command's. There is no cycle to run yet."""

import argparse
import sys
from collections.abc import Sequence

import sluice
from sluice.cli import plan, simulate

VERBS = (plan, simulate)


def main(given: Sequence[str] | None = None) -> int:
    """Reads the words and answers; 2 for words that make no sense, 1 for a file that does not."""
    parser = argparse.ArgumentParser(prog="sluice", description="A Kubernetes operator for Spark streaming jobs.")
    parser.add_argument("--version", action="version", version=f"sluice {sluice.__version__}")
    verbs = parser.add_subparsers(metavar="VERB")
    for verb in VERBS:
        verb.add(verbs)
    words = parser.parse_args(given)
    if "run" not in words:
        parser.error("this build has no operator to run yet; say a verb, or --help")
    try:
        print(words.run(words))
    except (ValueError, OSError) as why:
        print(f"sluice: {why}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
