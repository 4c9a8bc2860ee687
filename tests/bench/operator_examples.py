"""Each of crds/examples from apply to delete, with suspend, resume and a change between, by the e2e tests."""

import os
import subprocess
import sys
from typing import Any

from bench import ledger, outcome
from house import paths, testing

_TESTS = "tests/e2e/test_examples.py"
_DEADLINE_S = 900


def run(book: ledger.Ledger) -> outcome.Outcome:
    """All of them."""
    found = book.once("examples", _lived)
    row = tuple(str(found[key]) for key in ("passed", "failed", "skipped"))
    title = f"{_TESTS}: every example applied, Ready, suspended, resumed, changed, deleted (two in a test)"
    short = found["failed"] + found["skipped"]
    bars = (
        outcome.Bar("operator-examples-short", short, 0),
        outcome.Bar("operator-examples", found["passed"], 5, True),
    )
    return outcome.Outcome((outcome.Table(title, ("passed", "failed", "skipped"), (row,)),), bars)


def _lived() -> dict[str, Any]:
    report = paths.LOGS / "examples.xml"
    report.unlink(missing_ok=True)
    words = ("-m", "pytest", "-v", f"--junit-xml={report}", "-o", f"timeout={_DEADLINE_S}", _TESTS)
    subprocess.run([sys.executable, *words], cwd=paths.ROOT, env={**os.environ, "SLUICE_WHOLE_LIFE": "1"}, check=False)
    count = testing.read_report(report)
    return {"passed": count.passed, "failed": count.failed, "skipped": count.skipped}
