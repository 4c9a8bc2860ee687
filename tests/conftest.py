"""Collects stories: a `*.spec` file is a test, run by :mod:`policies.specs`; `--rewrite` writes the answers anew."""

import pathlib

import pytest

from policies import specs


def pytest_addoption(parser: pytest.Parser) -> None:
    """Rewritten answers are for reading: commit only what you understand."""
    parser.addoption("--rewrite", action="store_true", help="write the answers of *.spec files anew")


def pytest_collect_file(file_path: pathlib.Path, parent: pytest.Collector) -> pytest.Collector | None:
    """Each story is one file."""
    return specs.SpecFile.from_parent(parent, path=file_path) if file_path.suffix == ".spec" else None
