"""The targets of the Makefile, each a few stages."""

import dataclasses
import os
import shutil
import subprocess
from collections.abc import Callable

from house import install, paths, stages, testing, trouble

_LOCKS = ("build", "dev", "operator", "s3", "spark", "spark-3.5", "spark-4.0")


@dataclasses.dataclass(frozen=True)
class Target:
    """A word after `make`, what it is for, and what it does with the words that follow."""

    about: str
    run: Callable[[list[str]], int]


def _help(_: list[str]) -> int:
    print("Sluice: a Kubernetes operator for Spark streaming jobs.\n\nType first:  make demo\n")
    for name, target in ALL.items():
        print(f"  make {name + (' NAME=…' if name == 'bench' else ''):<15} {target.about}")
    return 0


def venv_stage() -> stages.Stage:
    """The venv every target with Python tools comes after."""
    return stages.Stage("venv", install.make_venv, kept=install.venv_made)


def _tool(*words: str) -> Callable[[stages.Desk], None]:
    # The tools call each other by name, so the venv goes first on the PATH.
    env = {
        "PATH": f"{paths.VENV / 'bin'}{os.pathsep}{os.environ['PATH']}",
        "PYTHONPATH": os.pathsep.join(("operator", "policies", "images/agent")),
    }
    return lambda desk: desk.shell.run(paths.VENV / "bin" / words[0], *words[1:], cwd=paths.ROOT, env=env)


def check_stages() -> list[stages.Stage]:
    """Format, lint, types, import contracts and layout: seconds, no test of behaviour."""
    return [
        venv_stage(),
        stages.Stage("format", _tool("ruff", "format", "--check"), ("venv",)),
        stages.Stage("lint", _tool("ruff", "check"), ("venv",)),
        stages.Stage("types", _tool("mypy"), ("venv",)),
        stages.Stage("one way", _tool("lint-imports"), ("venv",)),
        stages.Stage("layout", _tool("pytest", "-q", "tests/layout"), ("venv",)),
    ]


def _check(_: list[str]) -> int:
    stages.run("check", check_stages())
    return 0


def _test(_: list[str]) -> int:
    stages.run("check", check_stages())
    testing.build_images()
    return testing.run(["unit", "jvm", "e2e"])


def _only(suite: str) -> Callable[[list[str]], int]:
    def run(_: list[str]) -> int:
        stages.run("tools", [venv_stage()])
        return testing.run([suite])

    return run


def _cluster(_: list[str]) -> int:
    stages.run("tools", [venv_stage()])
    return testing.testbed("up")


def _images(_: list[str]) -> int:
    from testbed import cluster  # noqa: PLC0415  # the testbed imports the house; only here the house calls it

    stages.run("tools", [venv_stage()])
    stages.run("images", cluster.build_stages())
    return 0


def _demo(_: list[str]) -> int:
    stages.run("tools", [venv_stage()])
    own = os.environ.get("SLUICE_TESTBED") == "external"
    return (0 if own else testing.testbed("up")) or _python("demo")


def _bench(words: list[str]) -> int:
    stages.run("tools", [venv_stage()])
    return _python("bench", *words)


def _python(module: str, *words: str) -> int:
    command = [str(install.python()), "-m", module, *words]
    return subprocess.run(command, env={**os.environ, "PYTHONPATH": paths.PYTHONPATH}, check=False).returncode


def _lock(_: list[str]) -> int:
    words = ("uv", "pip", "compile", "-q", "--upgrade", "--generate-hashes", "--no-header", "--python-version", "3.11")

    def lock(name: str) -> stages.Stage:
        folder = paths.ROOT / "requirements"
        return stages.Stage(
            name, _tool(*words, str(folder / f"{name}.in"), "-o", str(folder / f"{name}.txt")), ("venv",)
        )

    stages.run("lock", [venv_stage(), *map(lock, _LOCKS)])
    return 0


def _clean(_: list[str]) -> int:
    if testing.testbed("down") != 0:
        raise trouble.Trouble("the cluster could not be taken down, so nothing was removed")
    size_gib = sum(f.stat().st_size for f in paths.CACHE.rglob("*") if f.is_file() and not f.is_symlink()) / 2**30
    shutil.rmtree(paths.CACHE)
    for left in (
        ".venv",
        ".mypy_cache",
        ".ruff_cache",
        ".pytest_cache",
        ".import_linter_cache",
        "images/spark/plugin/target",
    ):
        at = paths.ROOT / left
        at.unlink() if at.is_symlink() else shutil.rmtree(at, ignore_errors=True)
    print(f"removed the cluster, {paths.CACHE} ({size_gib:.1f} GiB, hard links counted each) and the tree's own caches")
    return 0


ALL = {
    "help": Target("this list", _help),
    "demo": Target("bring up a real cluster and watch a streaming job run on it", _demo),
    "down": Target("end the cluster; what was built stays for next time", lambda _: testing.testbed("down")),
    "check": Target("format, lint, types, import contracts, layout: seconds", _check),
    "test": Target("everything this machine can prove: check, unit, JVM and cluster tests", _test),
    "unit": Target("the tests that need neither cluster nor JVM", _only("unit")),
    "jvm": Target("the tests of the Spark plugin", _only("jvm")),
    "matrix": Target("the plugin on Spark, over sources, sinks, state, stores and engines: minutes", _only("matrix")),
    "e2e": Target("the tests on the real cluster, brought up for them", _only("e2e")),
    "cluster": Target("bring up the cluster: 3 nodes, DNS, Prometheus, Kafka, S3", _cluster),
    "images": Target("build every image, no cluster", _images),
    "bench": Target("measure NAME, write tests/bench/RESULTS.md, say for each bar whether it holds", _bench),
    "lock": Target("write requirements/*.txt anew, with hashes", _lock),
    "clean": Target("throw away the cluster and everything that was built", _clean),
}
