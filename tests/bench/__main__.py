"""``make bench NAME=x``: runs one bench, prints its tables, files them, and ends with one line per bar.

A bench is a module of this package, registered here, with a function of its ledger that gives an outcome. One that
takes hours has `PARTS` instead, modules with such a function: each is remembered and filed by itself, and
``NAME=x.part`` runs one of them.
"""

import importlib
import sys
from collections.abc import Callable, Mapping

from bench import ledger, outcome, results
from house import trouble

Run = Callable[[ledger.Ledger], outcome.Outcome]

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
    """Runs the named bench, or the named part of it; 1 when a bar is short."""
    given = words[0] if len(words) == 1 else ""
    name, _, part = given.partition(".")
    if name not in MODULES:
        told = f"NAME={words[0]}" if words else "no NAME"
        return _refused(f"{told}; there are {', '.join(MODULES)}")
    runs = _runs(name)
    if part and given not in runs:
        return _refused(f"NAME={given}; there are {', '.join(runs)}")
    return _run(given, {given: runs[given]} if part else runs)


def _refused(why: str) -> int:
    print(f"make bench: {why}", file=sys.stderr)
    return 2


def _runs(name: str) -> dict[str, Run]:
    """What of a bench is remembered and filed by itself."""
    module = importlib.import_module(MODULES[name])
    if not hasattr(module, "PARTS"):
        return {name: module.run}
    return {f"{name}.{part.__name__.rpartition('_')[2]}": part.run for part in module.PARTS}


def _run(given: str, runs: Mapping[str, Run]) -> int:
    books = {name: ledger.Ledger.of(name) for name in runs}
    bars: list[outcome.Bar] = []
    for name, run in runs.items():
        try:
            found = run(books[name])
        except trouble.Trouble as why:
            remedy = "what was measured is kept; the same command goes on"
            print(f"make bench NAME={given}: {name}: {why}\n{remedy}", file=sys.stderr)
            return 1
        results.write(name, found)
        print("\n".join(line for table in found.tables for line in table.lines()), flush=True)
        bars += found.bars
    for book in books.values():
        book.close()
    print("\n".join(bar.line() for bar in bars))
    return 0 if all(bar.holds() for bar in bars) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
