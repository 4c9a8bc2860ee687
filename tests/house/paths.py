"""Where things lie: the tree, and the cache outside it that a second run finds again."""

import os
import pathlib

ROOT = pathlib.Path(__file__).resolve().parents[2]
CACHE = pathlib.Path(os.environ.get("SLUICE_CACHE") or pathlib.Path.home() / ".cache" / "sluice")
LOGS = CACHE / "logs"
VENV = ROOT / ".venv"
