"""How long a stage usually takes: the last time it took on this machine, else what it took where it was written."""

import json
import pathlib
import threading

from house import paths

_SHIPPED = pathlib.Path(__file__).with_name("usual.json")
_writing = threading.Lock()


def _learned_file() -> pathlib.Path:
    return paths.CACHE / "usual.json"


def seconds(key: str) -> float | None:
    """The usual time of a stage, or None for one never run."""
    for file in (_learned_file(), _SHIPPED):
        if file.exists():
            known = json.loads(file.read_text())
            if key in known:
                return float(known[key])
    return None


def learn(key: str, took_s: float) -> None:
    """Remembers what a stage took; written whole, so that a kill leaves the old table."""
    with _writing:
        file = _learned_file()
        known = json.loads(file.read_text()) if file.exists() else {}
        known[key] = round(took_s, 1)
        file.parent.mkdir(parents=True, exist_ok=True)
        part = file.with_suffix(".part")
        part.write_text(json.dumps(known, indent=1, sort_keys=True) + "\n")
        part.replace(file)
