"""Where things lie: the tree, and the cache outside it that a second run finds again."""

import os
import pathlib
import shutil

ROOT = pathlib.Path(__file__).resolve().parents[2]
CACHE = pathlib.Path(os.environ.get("SLUICE_CACHE") or pathlib.Path.home() / ".cache" / "sluice")
LOGS = CACHE / "logs"
VENV = ROOT / ".venv"


def remove(folder: pathlib.Path) -> None:
    """Removes a folder at one stroke: cut short, it is gone all the same, never half there under its name."""
    gone = folder.with_name(folder.name + ".gone")
    if gone.exists():
        shutil.rmtree(gone)
    if folder.exists():
        folder.rename(gone)
        shutil.rmtree(gone)
