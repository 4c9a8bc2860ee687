"""``make bench NAME=x``: runs one bench, prints its tables, files them, and ends with one line per bar.

A bench is a module of this package, registered here, with a function of its ledger that gives an outcome.
"""

import importlib
import sys

from bench import ledger, results
from house import trouble

MODULES = {  # what is called operator must not be a module of that name: it would hide the standard library's
    "checkpoint": "bench.checkpoint",
    "cluster": "bench.cluster",
    "operator": "bench.operator_parts",
    "papers": "bench.papers",
    "placement": "bench.placement",
    "rebalance": "bench.rebalance",
    "redeploy": "bench.redeploy",
}


def main(words: list[str]) -> int:
    """Runs the named bench; 1 when a bar is short."""
    if len(words) != 1 or words[0] not in MODULES:
        given = f"NAME={words[0]}" if words else "no NAME"
        print(f"make bench: {given}; there are {', '.join(MODULES)}", file=sys.stderr)
        return 2
    name = words[0]
    book = ledger.Ledger.of(name)
    try:
        found = importlib.import_module(MODULES[name]).run(book)
    except trouble.Trouble as why:
        print(f"make bench NAME={name}: {why}\nwhat was measured is kept; the same command goes on", file=sys.stderr)
        return 1
    book.close()
    results.write(name, found)
    print("\n".join(line for table in found.tables for line in table.lines()))
    print("\n".join(bar.line() for bar in found.bars))
    return 0 if all(bar.holds() for bar in found.bars) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
