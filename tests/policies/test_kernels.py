"""One source for the loops: compiled, plain, kept or not, the plan is the same."""

import os
import pathlib
import shutil
import subprocess
import sys

import pytest

from house import paths
from sluice_policies.kernels import compiled

PLAN = """
import json, sys
from policies import clusters
from sluice.cli import arguments
from sluice_policies.kernels import compiled
for name, settings in (("consolidate", []), ("consolidate", ["level=best"]), ("turbostream", [])):
    for snapshot in (clusters.shuffle(), clusters.near_broker(), clusters.awkward()):
        print(arguments.planner(name, settings)(snapshot).to_json())
print(compiled.COMPILED, file=sys.stderr)
"""


def run(code, policies=None, **env):
    roots = [policies or paths.ROOT / "policies", paths.ROOT / "operator", paths.ROOT / "tests"]
    base = {"PATH": os.environ["PATH"], "PYTHONPATH": os.pathsep.join(map(str, roots)), "PYTHONDONTWRITEBYTECODE": "1"}
    command = [sys.executable, "-W", "error", "-c", code]
    return subprocess.run(command, env=base | env, capture_output=True, text=True, check=False)


@pytest.mark.timeout(60)
def test_plain_python_and_compiled_code_plan_alike():
    compiled_run, plain = run(PLAN), run(PLAN, NUMBA_DISABLE_JIT="1")
    assert (compiled_run.stderr.strip(), plain.stderr.strip()) == ("True", "False")
    assert compiled_run.stdout == plain.stdout != ""


@pytest.mark.timeout(60)
def test_without_numba_the_plans_are_the_same():
    hidden = "import sys; sys.modules['numba'] = None\n" + PLAN
    assert run(hidden).stdout == run(PLAN).stdout != ""


@pytest.mark.timeout(60)
def test_where_nothing_can_be_written_numba_raises_and_the_kernels_run(tmp_path):
    policies = tmp_path / "policies"
    shutil.copytree(paths.ROOT / "policies", policies, ignore=shutil.ignore_patterns("__pycache__"))
    for folder in [policies, *policies.rglob("*")]:
        if folder.is_dir():
            (folder / "__pycache__").touch()  # a file: no folder can be made here, not even by root
    nowhere = {"NUMBA_CACHE_DIR": "/proc/nowhere", "XDG_CACHE_HOME": "/proc/nowhere", "HOME": "/proc/nowhere"}
    (policies / "theirs.py").write_text("import numba\n@numba.njit(cache=True)\ndef f(): return 1\n")
    assert "cannot cache function" in run("import theirs", policies, **nowhere).stderr
    ours = "import numpy as np\nfrom sluice_policies.kernels import graph\nprint(graph.draw(np.array([7]), 100))"
    assert run(ours, policies, **nowhere).stdout == run(ours).stdout != ""


@pytest.mark.timeout(60)
def test_what_one_process_compiled_the_next_one_loads(tmp_path):
    draw = "import numpy as np\nfrom sluice_policies.kernels import graph\ngraph.draw(np.array([7]), 100)\n"
    ask = draw + "print(graph.draw.stats.cache_hits.total(), graph.draw.stats.cache_misses.total())"
    assert [run(ask, NUMBA_CACHE_DIR=str(tmp_path)).stdout.strip() for _ in range(2)] == ["0 1", "1 0"]


def test_every_kernel_tells_one_version_from_another():
    folder = pathlib.Path(compiled.__file__).parent
    assert set(compiled.SOURCES) == {file.stem for file in folder.glob("*.py")} - {"__init__"}


@pytest.mark.timeout(10)
def test_the_library_and_the_papers_own_placer_need_the_standard_library_alone():
    blocked = "import sys; sys.modules.update(numpy=None, numba=None, networkx=None)\n"
    named = "import sluice_policies; sluice_policies.policy('stromax'); sluice_policies.policy('stay')"
    assert run(blocked + named).stderr == ""
