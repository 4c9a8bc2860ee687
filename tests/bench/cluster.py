"""``make bench NAME=cluster``: what the testbed costs: cold, warm, in memory, at scale.

Cold is a cache of its own, empty, beside the usual one: every download, build and unpacking is done anew, and the
Debian packages are installed again. It takes the running cluster down.
"""

import json
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import time
from typing import Any

from bench import ledger, outcome
from house import paths, screen, shell, stages, trouble
from testbed import cgroups, versions

_WARM_RUNS = 3
_SETTLE_S = 30
_COLD_CACHE = paths.CACHE.with_name(paths.CACHE.name + "-cold")


def run(book: ledger.Ledger) -> outcome.Outcome:
    """Measures all, one after another; each is kept in the ledger."""
    if os.geteuid() != 0:
        raise trouble.Trouble("this bench needs root, as the testbed does")
    cold = book.once("cold", _cold)
    warm = [book.once(f"warm {n}", _warm) for n in range(1, _WARM_RUNS + 1)]
    memory = book.once("memory", _memory)
    crowd = book.once("crowd", _crowd)
    return _cold_outcome(cold) + _warm_outcome(warm) + _memory_outcome(memory) + _crowd_outcome(crowd)


def _cold() -> dict[str, float]:
    """Each stage's seconds from nothing, and the whole."""
    _up_down("down")
    shutil.rmtree(_COLD_CACHE, ignore_errors=True)
    try:
        packages_s = _packages_again()
        began_s = time.monotonic()
        took = _testbed(_COLD_CACHE, "took = c.up(); print(json.dumps({t.name: t.seconds for t in took}))")
        whole_s = time.monotonic() - began_s
        _testbed(_COLD_CACHE, "c.down(); print('{}')")
    finally:
        shutil.rmtree(_COLD_CACHE, ignore_errors=True)
    return {**took, "packages": packages_s, "whole": whole_s + packages_s}


def _packages_again() -> float:
    """What the Debian packages cost: they are fetched and installed once more."""
    quiet = {"DEBIAN_FRONTEND": "noninteractive"}
    work = shell.Shell(_log())
    began_s = time.monotonic()
    work.run("apt-get", "clean", env=quiet)
    work.run("apt-get", "update", "-qq", env=quiet)
    work.run("apt-get", "install", "-y", "-qq", "--reinstall", *versions.PACKAGES, env=quiet)
    return time.monotonic() - began_s


def _log() -> pathlib.Path:
    paths.LOGS.mkdir(parents=True, exist_ok=True)
    return paths.LOGS / "bench-cluster.log"


def _warm() -> float:
    """Seconds from no cluster to three nodes Ready, every add-on serving, every image on every node."""
    _up_down("down")
    began_s = time.monotonic()
    _up_down("up")
    return time.monotonic() - began_s


def _memory() -> dict[str, float]:
    """GiB of the idle cluster, by box."""
    time.sleep(_SETTLE_S)  # idle is a state of its own: start-up garbage is given back
    boxes = sorted(p.name for p in (cgroups.ROOT / ("" if cgroups.unified() else "memory") / cgroups.ALL).glob("*/"))
    return {"all": cgroups.memory_bytes() / 2**30, **{name: cgroups.memory_bytes(name) / 2**30 for name in boxes}}


def _crowd() -> float:
    """Seconds of the e2e test with 200 fake nodes and 2,000 pods."""
    words = ["-q", "tests/e2e/test_fake_nodes.py", "-o", "timeout=600"]
    began_s = time.monotonic()
    shell.Shell(_log()).run(sys.executable, "-m", "pytest", *words, cwd=paths.ROOT)
    return time.monotonic() - began_s


def _up_down(verb: str) -> None:
    shell.Shell(_log()).run(sys.executable, "-m", "testbed", verb, env={"PYTHONPATH": str(paths.ROOT / "tests")})


def _testbed(cache: pathlib.Path, program: str) -> Any:
    """Runs a few words on a testbed with a cache of its own, its progress in view; what its last line says."""
    program = f"import json; from testbed import cluster; c = cluster.Cluster(); {program}"
    env = {**os.environ, "PYTHONPATH": str(paths.ROOT / "tests"), "SLUICE_CACHE": str(cache)}
    env["PIP_NO_CACHE_DIR"] = "1"
    last = ""
    with subprocess.Popen([sys.executable, "-c", program], env=env, stdout=subprocess.PIPE, text=True) as working:
        assert working.stdout is not None
        for line in working.stdout:
            print(line, end="", flush=True)
            last = line
    if working.returncode != 0:
        raise trouble.Trouble(f"the cold run ended with exit code {working.returncode}")
    return json.loads(last)


def _cold_outcome(took: dict[str, float]) -> outcome.Outcome:
    stages_took = [stages.Took(name, seconds, kept=False) for name, seconds in took.items() if name != "whole"]
    total_s = sum(t.seconds for t in stages_took)
    worked = sorted((t for t in stages_took if t.seconds >= 1), key=lambda t: -t.seconds)
    rows = tuple((t.name, screen.duration(t.seconds), f"{t.seconds / total_s:.0%}") for t in worked)
    title = f"Cold, from an empty cache: {screen.duration(took['whole'])} (stages overlap; under 1 s left out)"
    table = outcome.Table(title, ("stage", "took", "share"), rows)
    return outcome.Outcome((table,), (outcome.Bar("cluster-cold-min", took["whole"] / 60, 20),))


def _warm_outcome(warm_s: list[float]) -> outcome.Outcome:
    rows = tuple((str(n), f"{seconds:.1f} s") for n, seconds in enumerate(warm_s, 1))
    table = outcome.Table("Warm: three nodes, add-ons and images from nothing running", ("run", "took"), rows)
    return outcome.Outcome((table,), (outcome.Bar("cluster-warm-median-s", statistics.median(warm_s), 90),))


def _memory_outcome(gib: dict[str, float]) -> outcome.Outcome:
    rows = tuple((name, f"{value:.2f} GiB") for name, value in gib.items())
    title = "Memory of the idle cluster: own pages, shared memory and the kernel's, without the file cache"
    bar = outcome.Bar("cluster-idle-memory-gib", gib["all"], 2.5)
    return outcome.Outcome((outcome.Table(title, ("box", "memory"), rows),), (bar,))


def _crowd_outcome(seconds: float) -> outcome.Outcome:
    return outcome.Outcome((), (outcome.Bar("fake-200-nodes-2000-pods-s", seconds, 180),))
