"""How time and memory grow from 1,000 to 100,000 tasks. Part of ``make bench NAME=placement``.

Each size runs in a process of its own: its peak of memory is its own.
"""

import ctypes
import functools
import json
import math
import os
import pathlib
import statistics
import subprocess
import sys
import time

from bench import instances, ledger, outcome
from house import paths
from sluice_policies import consolidate

_SIZES = (1_000, 10_000, 100_000)


def run(book: ledger.Ledger) -> outcome.Outcome:
    """The exponent of time between the ends, and the memory beyond the arrays of the graph."""
    found = {size: book.once(f"growth {size}", functools.partial(_child, size)) for size in _SIZES}
    rows = tuple(
        (
            f"{size:,}",
            f"{row['fast_s']:.3f}",
            f"{row['best_s']:.2f}",
            f"{row['fast_bytes']:.0f}",
            f"{row['best_bytes']:.0f}",
        )
        for size, row in found.items()
    )
    header = ("tasks", "fast s", "best s", "fast bytes per task", "best bytes per task")
    first, last = found[_SIZES[0]], found[_SIZES[-1]]
    bars = []
    for level in ("fast", "best"):
        exponent = math.log(last[f"{level}_s"] / first[f"{level}_s"]) / math.log(_SIZES[-1] / _SIZES[0])
        bars += [
            outcome.Bar(f"placement-growth-{level}-time-exponent", exponent, 1.15),
            outcome.Bar(f"placement-growth-{level}-bytes-per-task", last[f"{level}_bytes"], 1000),
        ]
    title = (
        "Growth: tasks on a tenth as many nodes; median CPU seconds of four problems, memory beyond the graph's arrays"
    )
    return outcome.Outcome((outcome.Table(title, header, rows),), tuple(bars))


def _child(size: int) -> dict[str, float]:
    env = {
        **os.environ,
        "PYTHONPATH": paths.PYTHONPATH,
    }
    command = [sys.executable, "-m", "bench.placement_growth", str(size)]
    said = subprocess.run(command, env=env, check=True, capture_output=True, text=True).stdout
    return dict(json.loads(said))


def _measure(size: int) -> dict[str, float]:
    warm = instances.small()[0].arrays()
    problems = [p for p in instances.large(size, size // 10, seed=1) if "tight" in p.name][::2]
    ready = [problem.arrays() for problem in problems]
    found: dict[str, float] = {}
    for level in ("fast", "best"):
        args = consolidate.Args(level="fast" if level == "fast" else "best")
        consolidate.place(warm, args, 1)
        seconds, most = [], 0.0
        for base in ready:
            before = _forget_peak()
            began = time.process_time()
            consolidate.place(base, args, 1)
            seconds.append(time.process_time() - began)
            most = max(most, (_status("VmHWM") - before) / size)
        found |= {f"{level}_s": statistics.median(seconds), f"{level}_bytes": most}
    return found


def _forget_peak() -> float:
    """Sets the peak of this process back to what it holds now, and says that; what is free goes back to the system."""
    ctypes.CDLL("libc.so.6").malloc_trim(0)
    pathlib.Path("/proc/self/clear_refs").write_text("5")
    return _status("VmRSS")


def _status(field: str) -> float:
    lines = pathlib.Path("/proc/self/status").read_text().splitlines()
    return 1024 * next(float(line.split()[1]) for line in lines if line.startswith(field + ":"))


if __name__ == "__main__":
    print(json.dumps(_measure(int(sys.argv[1]))))
