"""A reader finds the room by its name, and Python finds its own modules."""

import ast
import importlib.util
import re
import sys

import pytest

from house import paths
from layout import tree


@pytest.mark.parametrize(
    ("root", "package"), [("operator", "sluice"), ("policies", "sluice_policies"), ("images/agent", "sluice_agent")]
)
def test_a_source_root_holds_exactly_one_package_and_no_module(root, package):
    entries = sorted(path for path in (paths.ROOT / root).iterdir() if path.name != "__pycache__")
    assert [path.name for path in entries if (path / "__init__.py").exists()] == [package]
    assert [path.name for path in entries if path.suffix == ".py"] == []


@pytest.mark.parametrize("file", tree.python_files(*tree.SOURCE_ROOTS), ids=tree.name)
def test_no_module_of_ours_shadows_the_standard_library(file):
    assert file.stem not in sys.stdlib_module_names - {"__main__"} or file.stem in ("__init__", "__main__")


def test_no_folder_of_the_tests_is_called_operator():
    # pytest would register it as the module `operator`, which `collections` itself imports.
    assert [path for path in (paths.ROOT / "tests").rglob("operator") if path.is_dir()] == []


@pytest.mark.parametrize("file", tree.python_files(), ids=tree.name)
def test_every_module_says_what_it_is(file):
    assert ast.get_docstring(ast.parse(file.read_text()))


@pytest.mark.parametrize("file", tree.python_files(), ids=tree.name)
def test_a_docstring_names_only_modules_that_exist(file):
    for name in re.findall(r":mod:`([\w.]+)`", file.read_text()):
        assert importlib.util.find_spec(name), f"{tree.name(file)} names {name}"


@pytest.mark.parametrize("file", tree.tracked("requirements/*.txt"), ids=tree.name)
def test_a_lock_has_hashes_and_names_no_place_to_download_from(file):
    text = file.read_text()
    assert "--hash=sha256:" in text
    assert not re.search(r"https?://|--index-url|--extra-index-url|--find-links", text)


@pytest.mark.parametrize("file", tree.tracked("requirements/*.in"), ids=tree.name)
def test_every_dependency_stands_beside_its_reason(file):
    if file.stem == "build":
        assert file.read_text().startswith("# What builds")
        return
    for line in file.read_text().splitlines():
        if line and not line.startswith(("#", "-r")):
            assert "#" in line, f"{tree.name(file)}: {line}"
