"""``python -m sluice``: the `sluice` command's front door; without a verb, the operator's."""

import argparse
import os
import sys
from collections.abc import Sequence

import sluice
from sluice.cli import dump, logs, plan, restart, resume, simulate, status, suspend, ui, why

VERBS = (status, why, plan, suspend, resume, restart, logs, ui, dump, simulate)


def main(given: Sequence[str] | None = None) -> int:
    """Reads the words and answers; 2 for words that make no sense, 1 for a file that does not."""
    about = "A Kubernetes operator for Spark streaming jobs. Without a verb: that operator, told by SLUICE_*."
    parser = argparse.ArgumentParser(prog="sluice", description=about)
    parser.add_argument("--version", action="version", version=f"sluice {sluice.__version__}")
    verbs = parser.add_subparsers(metavar="VERB")
    for verb in VERBS:
        verb.add(verbs)
    words = parser.parse_args(given)
    try:
        if "run" not in words:
            return _operate()
        if said := words.run(words):
            print(said)
    except (ValueError, OSError) as wrong:
        print(f"sluice: {wrong}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130
    return 0


def _operate() -> int:
    import asyncio  # noqa: PLC0415  # the command line is quick because it brings none of this

    import uvloop  # noqa: PLC0415

    from sluice import main as operator  # noqa: PLC0415
    from sluice import settings  # noqa: PLC0415

    told = settings.read(os.environ)
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        return runner.run(operator.operate(told))


if __name__ == "__main__":
    sys.exit(main())
