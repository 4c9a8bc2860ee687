"""``python3 -m house TARGET``: what the Makefile calls."""

import sys

# The one place an old Python reaches: it gets a sentence, not a syntax error.
if sys.version_info < (3, 11):  # noqa: UP036
    sys.exit(f"make needs Python 3.11 or newer; this is {sys.version.split()[0]}. Try `make PYTHON=python3.11 …`")

from house import targets, trouble


def main() -> int:
    """Runs the target named on the command line; trouble is one sentence and exit code 1."""
    name, *words = sys.argv[1:] or ["help"]
    if name not in targets.ALL:
        print(f"make: there is no target {name!r}; there are {', '.join(targets.ALL)}", file=sys.stderr)
        return 2
    try:
        return targets.ALL[name].run(words)
    except trouble.Trouble as why:
        print(f"make {name}: {why}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print(f"make {name}: interrupted; `make {name}` goes on from here", file=sys.stderr)
        return 130


if __name__ == "__main__":
    sys.exit(main())
