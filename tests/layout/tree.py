"""What the layout tests look at: the tree's own source files."""

import pathlib
import subprocess

from house import paths

SOURCE_ROOTS = ("operator", "policies", "images/agent")
_PYTHON_HOMES = ("operator", "policies", "images", "tests")


def tracked(*patterns: str) -> list[pathlib.Path]:
    """Files git knows or would take, by pattern."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "--", *patterns]
    said = subprocess.run(command, cwd=paths.ROOT, capture_output=True, text=True, check=True).stdout
    return sorted(file for line in said.splitlines() if (file := paths.ROOT / line).is_file())


def python_files(*homes: str) -> list[pathlib.Path]:
    """The Python files of some folders; all of ours by default."""
    return tracked(*(f"{home}/**.py" for home in homes or _PYTHON_HOMES))


def name(file: pathlib.Path) -> str:
    """A file as a person says it."""
    return str(file.relative_to(paths.ROOT))
