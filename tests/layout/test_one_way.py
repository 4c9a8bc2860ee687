"""The data goes one way: policies and plan know nothing outside themselves, act alone writes. See pyproject.toml."""

import ast
import pathlib
import re
import shutil
import subprocess
import sys

import pytest

from house import paths
from layout import tree

WRITE_VERBS = re.compile(r"^(create(?!_task)|patch|delete|replace|apply|evict)(_|$)")
NO_CLIENTS = {"copy", "dataclasses", "ssl"}  # modules whose `replace` and `create_…` write nothing
HTTP_WRITES = {"POST", "PUT", "PATCH", "DELETE"}
# Leases: its own, a job's; the hand of whoever typed it; what lifts a gate when the operator is silent.
OTHER_WRITERS = (
    "operator/sluice/lease.py",
    "operator/sluice/cli/",
    "images/agent/sluice_agent/gates.py",
    "images/agent/sluice_agent/lease.py",
)
CLOCK_CALLS = {"now", "today", "utcnow"}


def writes(source: str) -> list[str]:
    """Calls of a client's write verbs, as in `api.create_namespaced_pod(…)` or `line.call("PATCH", …)`."""
    calls = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Call)]
    named = [call.func for call in calls if isinstance(call.func, ast.Attribute)]
    by_name = [f.attr for f in named if not (isinstance(f.value, ast.Name) and f.value.id in NO_CLIENTS)]
    spoken = [str(word.value) for call in calls for word in call.args if isinstance(word, ast.Constant)]
    return sorted([name for name in by_name if WRITE_VERBS.match(name)] + [w for w in spoken if w in HTTP_WRITES])


def clock_calls(source: str) -> list[str]:
    calls = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Call)]
    return [call.func.attr for call in calls if isinstance(call.func, ast.Attribute) and call.func.attr in CLOCK_CALLS]


@pytest.mark.parametrize(
    "file",
    [
        file
        for file in tree.python_files("operator", "images/agent")
        if "act" not in file.parts and not tree.name(file).startswith(OTHER_WRITERS)
    ],
    ids=tree.name,
)
def test_only_act_calls_the_write_verbs_of_a_client(file):
    assert writes(file.read_text()) == []


@pytest.mark.parametrize(
    "file", tree.python_files("policies", "operator/sluice/plan", "operator/sluice/build"), ids=tree.name
)
def test_policies_plan_and_build_ask_no_clock(file):
    assert clock_calls(file.read_text()) == []


def test_a_write_and_a_look_at_the_clock_are_found():
    assert writes("api.patch_namespaced_pod(name)\nself.api.create(x)\npod.created()") == [
        "create",
        "patch_namespaced_pod",
    ]
    assert writes('line.call("PATCH", path)\nline.call("GET", path)\ndataclasses.replace(pod)') == ["PATCH"]
    assert clock_calls("datetime.now()") == ["now"]


VIOLATIONS = [
    ("policies/sluice_policies/rogue.py", "import time\n", "policies know no Kubernetes"),
    ("policies/sluice_policies/rogue.py", "import sluice.plan\n", "policies know no Kubernetes"),
    ("operator/sluice/plan/rogue.py", "import kopf\n", "plan and build are pure"),
    ("operator/sluice/plan/rogue.py", "import sluice.transport\n", "plan and build are pure"),
    ("operator/sluice/build/rogue.py", "from sluice import observe\n", "plan and build are pure"),
    ("operator/sluice/watch/rogue.py", "from sluice import plan\n", "watch only wakes the cycle"),
    ("operator/sluice/watch/rogue.py", "from sluice.transport import wire\n", "watch only wakes the cycle"),
    ("operator/sluice/transport/rogue.py", "import sluice.act\n", "transport carries"),
    ("operator/sluice/observe/rogue.py", "from sluice import act\n", "observe reads"),
    ("operator/sluice/act/rogue.py", "import sluice_policies\n", "act carries out"),
    ("operator/sluice/values/rogue.py", "import sluice.plan\n", "values know nobody"),
    ("operator/sluice/values/rogue.py", "import sluice.transport\n", "values know nobody"),
    ("images/agent/sluice_agent/rogue.py", "import kubernetes\n", "the agent carries"),
]


@pytest.mark.timeout(30)
def test_each_import_contract_fails_when_it_is_broken(tmp_path):
    for folder in tree.SOURCE_ROOTS:
        shutil.copytree(paths.ROOT / folder, tmp_path / folder, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(paths.ROOT / "pyproject.toml", tmp_path)
    assert broken_contracts(tmp_path) == []
    for file, source, contract in VIOLATIONS:
        rogue = tmp_path / file
        rogue.write_text('"""Breaks a rule."""\n' + source)
        assert any(name.startswith(contract) for name in broken_contracts(tmp_path)), (file, source)
        rogue.unlink()


def broken_contracts(tree_root: pathlib.Path) -> list[str]:
    python_path = ":".join(str(tree_root / root) for root in tree.SOURCE_ROOTS)
    lint = "from importlinter.cli import lint_imports_command; lint_imports_command(['--no-cache'])"
    env = {"PYTHONPATH": python_path, "PATH": "/usr/bin:/bin", "COLUMNS": "300"}
    command = [sys.executable, "-c", lint]
    done = subprocess.run(command, cwd=tree_root, env=env, capture_output=True, text=True, check=False)
    assert "Contracts" in done.stdout, done.stdout + done.stderr
    return [line.rsplit(" BROKEN", 1)[0] for line in done.stdout.splitlines() if line.endswith("BROKEN")]
