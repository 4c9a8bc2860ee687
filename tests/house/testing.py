"""Runs the suites and adds up what they say. Called by :mod:`house.targets`.

The last line is the sum: `sum: N passed, N failed, N skipped`. A suite that cannot run here says why in its own report.
"""

import concurrent.futures
import dataclasses
import os
import pathlib
import subprocess
import xml.etree.ElementTree as ET
from collections.abc import Callable

from house import install, paths, spark, stages

_PLUGIN = paths.ROOT / "images" / "spark" / "plugin"
_JVM_PACKAGES = ("openjdk-17-jdk-headless", "maven")
_NOT_IN_UNIT = ("tests/e2e", "tests/layout", "tests/bench", "tests/plugin")
_LONG = "tests/faults/test_crash_points.py"  # as long as all other unit tests
_DRAINS = "tests/plugin/test_drain.py"  # as long as all others on Spark
_E2E_TIMEOUT_S = 900


@dataclasses.dataclass(frozen=True)
class Count:
    """What the tests of some suites came to."""

    passed: int = 0
    failed: int = 0
    skipped: int = 0

    def __add__(self, other: "Count") -> "Count":
        return Count(self.passed + other.passed, self.failed + other.failed, self.skipped + other.skipped)


def run(suites: list[str]) -> int:
    """Runs the suites one after another, all of them whatever fails, and says the sum."""
    total, ok = Count(), True
    for suite in suites:
        print(f"== {suite}", flush=True)
        code, count = _SUITES[suite]()
        total, ok = total + count, ok and code == 0
    print(f"sum: {total.passed} passed, {total.failed} failed, {total.skipped} skipped", flush=True)
    return 0 if ok and total.failed == 0 else 1


def _unit() -> tuple[int, Count]:
    others = (f"--ignore={path}" for path in (*_NOT_IN_UNIT, _LONG))
    long = ("faults", _LONG, "-m", "not cluster", "-q", "--no-header")
    return _side_by_side(("unit", "tests", "-m", "not cluster", *others), long)


def _jvm() -> tuple[int, Count]:
    """The JUnit tests and the jar, then what that jar does inside a real Spark."""
    stages.run("JVM tools", jvm_stages())
    code = build_plugin()
    reports = (_PLUGIN / "target" / "surefire-reports").glob("TEST-*.xml")
    count = sum((read_report(file) for file in reports), Count())
    print(f"{count.passed} passed, {count.failed} failed, {count.skipped} skipped", flush=True)
    if code or count == Count():
        return code or 1, count
    on_spark, more = _side_by_side(
        ("plugin", "tests/plugin", f"--ignore={_DRAINS}", "-m", "not matrix", *_slow()),
        ("drains", _DRAINS, "-m", "not matrix", *_slow()),
    )
    return on_spark, count + more


def _matrix() -> tuple[int, Count]:
    """The plugin on Spark over sources, sinks, state, stores and engines; takes minutes."""
    stages.run("JVM tools", jvm_stages())
    code = build_plugin()
    return (code, Count(failed=1)) if code else _pytest("matrix", "tests/plugin", "-m", "matrix", *_slow())


def jvm_stages() -> list[stages.Stage]:
    """What the plugin is built and tested with."""
    return [
        stages.Stage("packages", lambda desk: install.packages(desk, _jvm_missing())),
        stages.Stage("Spark", spark.make, ("packages",), kept=spark.made),
        stages.Stage("S3", spark.make_s3, kept=spark.s3_made),
    ]


def build_plugin() -> int:
    """Tests and packs the plugin; Maven's exit code."""
    local = (f"-Dmaven.repo.local={paths.CACHE / 'maven'}", f"-Dspark.classpath={spark.classpath()}")
    return subprocess.run(["mvn", "-B", "-q", *local, "package"], cwd=_PLUGIN, check=False).returncode


def _jvm_missing() -> tuple[str, ...]:
    have = all(
        subprocess.run([tool, "-version"], capture_output=True, check=False).returncode == 0
        for tool in ("javac", "mvn")
    )
    return () if have else _JVM_PACKAGES


def _e2e() -> tuple[int, Count]:
    """First the tests that bring the cluster up and down, then all that need it up; it is left as it was found."""
    own = _has_own_cluster()
    was_up = own or testbed("status", quiet=True) == 0
    if was_up and not own:
        print("e2e takes the running cluster down and brings up its own", flush=True)
    build_images()
    code, count = _pytest("lifecycle", "tests/e2e", "-m", "lifecycle", *_slow())
    if not own:
        testbed("up")  # where it cannot run, each test says so itself
    more_code, more = _pytest("cluster", "tests/e2e", "tests/contracts", "-m", "cluster", *_slow())
    if not was_up:
        testbed("down")
    return code or more_code, count + more


def build_images() -> None:
    """The testbed's programs and images, where it can run; tests of the chart need its helm, too."""
    from testbed import cluster, machine  # noqa: PLC0415  # the testbed imports the house; only its suites call it

    if not _has_own_cluster() and machine.reason_against() is None:
        stages.run("images", cluster.build_stages())


def _has_own_cluster() -> bool:
    return os.environ.get("SLUICE_TESTBED") == "external"


def _slow() -> tuple[str, ...]:
    return ("-v", "-rs", "--durations=10", "-o", f"timeout={_E2E_TIMEOUT_S}")


def testbed(*words: str, quiet: bool = False) -> int:
    """Calls the cluster tool; its exit code."""
    out = subprocess.DEVNULL if quiet else None
    command = [str(install.python()), "-m", "testbed", *words]
    env = {**os.environ, "PYTHONPATH": str(paths.ROOT / "tests")}
    return subprocess.run(command, env=env, stdout=out, stderr=out, check=False).returncode


def _side_by_side(one: tuple[str, ...], other: tuple[str, ...]) -> tuple[int, Count]:
    """In two processes: one of them would leave a core idle for minutes."""
    with concurrent.futures.ThreadPoolExecutor(1) as beside:
        second = beside.submit(_pytest, *other)
        code, count = _pytest(*one)
        second_code, more = second.result()
    return code or second_code, count + more


def _pytest(name: str, *words: str) -> tuple[int, Count]:
    report = paths.LOGS / f"{name}.xml"
    report.parent.mkdir(parents=True, exist_ok=True)
    report.unlink(missing_ok=True)
    command = [str(paths.VENV / "bin" / "python"), "-m", "pytest", f"--junit-xml={report}", *words]
    code = subprocess.run(command, cwd=paths.ROOT, check=False).returncode
    return code, read_report(report) if report.exists() else Count(failed=1)


def read_report(file: pathlib.Path) -> Count:
    """The counts of a JUnit report, pytest's or Surefire's."""
    root = ET.parse(file).getroot()  # our own test runners wrote it
    total = Count()
    for suite in root.iter("testsuite"):
        failed = int(suite.get("failures", 0)) + int(suite.get("errors", 0))
        skipped = int(suite.get("skipped", 0))
        total += Count(int(suite.get("tests", 0)) - failed - skipped, failed, skipped)
    return total


_SUITES: dict[str, Callable[[], tuple[int, Count]]] = {"unit": _unit, "jvm": _jvm, "matrix": _matrix, "e2e": _e2e}
