"""What fits on a page is read; what does not is not."""

import ast

import pytest

from house import paths
from layout import tree

LONGEST_FILE, LONGEST_FUNCTION, MOST_PARAMETERS = 400, 60, 6


def too_long_functions(source: str) -> list[str]:
    found = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            lines = (node.end_lineno or node.lineno) - node.lineno + 1
            if lines > LONGEST_FUNCTION:
                found.append(f"{node.name}: {lines} lines")
            arguments = [a.arg for a in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)]
            counted = [a for a in arguments if a not in ("self", "cls")]
            if len(counted) > MOST_PARAMETERS:
                found.append(f"{node.name}: {len(counted)} parameters")
    return found


@pytest.mark.parametrize("file", tree.tracked("*.py", "*.java", "*.go", "*.sh"), ids=tree.name)
def test_no_file_is_longer_than_400_lines(file):
    assert len(file.read_text().splitlines()) <= LONGEST_FILE


@pytest.mark.parametrize("file", tree.python_files(), ids=tree.name)
def test_no_function_is_longer_than_60_lines_or_takes_more_than_6_parameters(file):
    assert too_long_functions(file.read_text()) == []


def test_a_long_function_and_a_train_of_parameters_are_found():
    long = "def f():\n" + "    x = 1\n" * LONGEST_FUNCTION
    train = "def g(self, a, b, c, d, e, f, *, g):\n    return a\n"
    assert too_long_functions(long + train) == ["f: 61 lines", "g: 7 parameters"]


def test_the_root_holds_what_the_design_names_and_nothing_else():
    allowed = {
        "operator", "crds", "charts", "images", "policies", "tests", "requirements", "Dockerfile", "README.md",
        "pyproject.toml", "Makefile", "CHANGELOG.md", "LICENSE",
    }  # fmt: skip
    found = {tree.name(file).split("/")[0] for file in tree.tracked()}
    assert {entry for entry in found if not entry.startswith(".")} == allowed
    assert all((paths.ROOT / entry).exists() for entry in allowed)
