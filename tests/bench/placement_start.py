"""The first import and call in a fresh process, where numba's folder is read-only, and without numba.

Part of ``make bench NAME=placement``.
"""

import functools
import json
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile

from bench import ledger, outcome
from house import paths

_FIRST_CALL = """
import time; began = time.perf_counter()
import json, sys, networkx
import sluice_policies
from sluice_policies import model
snapshot = model.Snapshot(tuple(model.Node(f"n{i}", 5) for i in range(10)),
    tuple(model.Task(f"t{i:02}") for i in range(40)),
    tuple(model.Edge(f"t{i:02}", f"t{j:02}", 100 + i * j) for i in range(20) for j in range(20, 40)))
plan = sluice_policies.policy("consolidate").plan(snapshot)
first_s = time.perf_counter() - began
began = time.perf_counter()
sluice_policies.policy("consolidate").plan(snapshot)
from sluice_policies.kernels import compiled
print(json.dumps({"first_s": first_s, "second_s": time.perf_counter() - began, "cut": plan.after.cut_bytes_per_s,
    "plan": plan.to_json(), "compiled": compiled.COMPILED}))
"""


def run(book: ledger.Ledger) -> outcome.Outcome:
    """Medians of five fresh processes."""
    with tempfile.TemporaryDirectory() as folder:
        made = functools.partial(_measure, pathlib.Path(folder))
        found = book.once("start", made)
    rows = tuple(
        (name, f"{row['first_s']:.2f}", f"{1000 * row['second_s']:.1f}", str(row["cut"])) if "why" not in row
        else (name, row["why"], "-", "-")
        for name, row in found.items()
    )  # fmt: skip
    header = ("40 tasks on 10 nodes", "first import and call, s", "second call, ms", "cut")
    same = len({row["plan"] for row in found.values() if "plan" in row})
    return outcome.Outcome(
        (outcome.Table("A fresh process (numpy, numba, networkx and the plan)", header, rows),),
        (
            outcome.Bar("placement-start-warm-s", found["kernels kept"]["first_s"], 1.0),
            outcome.Bar("placement-start-read-only-s", found["kernels kept, read-only root"].get("first_s", 99.0), 1.0),
            outcome.Bar("placement-start-different-plans", same, 1),
        ),
    )


def _measure(folder: pathlib.Path) -> dict[str, dict[str, object]]:
    shutil.copytree(paths.ROOT / "policies", folder / "policies", ignore=shutil.ignore_patterns("__pycache__"))
    kept = folder / "kept"
    kept.mkdir()
    keep = {"NUMBA_CACHE_DIR": str(kept)}
    generic = keep | {"NUMBA_CPU_NAME": "generic", "NUMBA_CPU_FEATURES": ""}
    frozen = f"mount --bind {folder} {folder} && mount -o remount,ro,bind {folder} && exec "
    found = {"nothing kept: compiles": _once(folder, keep)}
    found["kernels kept"] = _median([_once(folder, keep) for _ in range(5)])
    found["kernels kept, read-only root"] = _median([_once(folder, keep, frozen) for _ in range(5)])
    found["kept for any CPU of the architecture: compiles"] = _once(folder, generic)
    found["kept for any CPU, read-only root"] = _median([_once(folder, generic, frozen) for _ in range(5)])
    found["without numba: plain Python over numpy"] = _once(folder, {"NUMBA_DISABLE_JIT": "1"})
    return found


def _median(rows: list[dict[str, object]]) -> dict[str, object]:
    if "why" in rows[0]:
        return rows[0]
    middle = {key: statistics.median(float(str(row[key])) for row in rows) for key in ("first_s", "second_s")}
    return rows[0] | middle


def _once(folder: pathlib.Path, more: dict[str, str], within: str = "") -> dict[str, object]:
    env = {**os.environ, "PYTHONPATH": str(folder / "policies"), "PYTHONDONTWRITEBYTECODE": "1", **more}
    command = [sys.executable, "-c", _FIRST_CALL]
    if within:
        command = ["unshare", "-m", "sh", "-c", within + '"$@"', "sh", *command]
    done = subprocess.run(command, env=env, check=False, capture_output=True, text=True)
    if done.returncode:
        return {"why": (done.stderr.strip().splitlines() or ["no word"])[-1]}
    return dict(json.loads(done.stdout))
