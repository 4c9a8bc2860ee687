"""How answers are written: columns for people, JSON for programs, ages as one says them."""

import argparse
import datetime
import json
from collections.abc import Sequence
from typing import Any

from sluice.values.streamjob import Body


def add_output(parser: argparse.ArgumentParser) -> None:
    """What the answer looks like, of every verb that shows something."""
    parser.add_argument("-o", "--output", choices=("table", "json"), default="table")


def table(head: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """Columns as wide as they must be; what is missing is a dash."""
    cells = [[str(cell) if cell not in (None, "") else "-" for cell in row] for row in (head, *rows)]
    widths = [max(len(row[at]) for row in cells) for at in range(len(head))]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in cells
    )


def as_json(found: object) -> str:
    """Indented, in the order it was made."""
    return json.dumps(found, indent=1, ensure_ascii=False)


def age(since: str, now: datetime.datetime) -> str:
    """From an API server's time to now: 45s, 12m, 3h, 8d."""
    if not since:
        return ""
    gone_s = max(0, int((now - datetime.datetime.fromisoformat(since)).total_seconds()))
    for unit_s, unit in ((86400, "d"), (3600, "h"), (60, "m")):
        if gone_s >= 2 * unit_s:
            return f"{gone_s // unit_s}{unit}"
    return f"{gone_s}s"


def now() -> datetime.datetime:
    """The only clock of the command line."""
    return datetime.datetime.now(datetime.UTC)


def conditions(status: Body) -> dict[str, Any]:
    """By type."""
    return {condition["type"]: condition for condition in status.get("conditions", ())}
