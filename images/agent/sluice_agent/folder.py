"""The folder that agent and driver share: port and token for the plugin, the template for Spark's executors.

Each file appears whole, by a rename, whatever stood there before: the driver runs its user's code.
"""

import os
import pathlib
import secrets
import stat
import tempfile

TEMPLATE = "executor.yaml"  # JSON is YAML, too


class Folder:
    """An emptyDir that survives our restarts."""

    def __init__(self, path: pathlib.Path) -> None:
        self._path = path
        self._put = ""

    def introduce(self, port: int, token: str) -> None:
        """Tells the plugin where we are; the token first, for who reads both reads the port first."""
        self._write("token", token)
        self._write("port", str(port))

    def put_template(self, text: str) -> None:
        """Spark reads it anew for every executor."""
        if text and text != self._put:
            self._write(TEMPLATE, text)
            self._put = text

    def seed_template(self, source: pathlib.Path) -> None:
        """The template that Spark starts with; what orders made of it before we were restarted stays."""
        if not (self._path / TEMPLATE).exists():
            self._write(TEMPLATE, source.read_text())

    def _write(self, name: str, text: str) -> None:
        descriptor, fresh = tempfile.mkstemp(dir=self._path, prefix=f".{name}-")
        try:
            with os.fdopen(descriptor, "w") as file:
                os.fchmod(descriptor, self._mode())
                file.write(text)
            pathlib.Path(fresh).rename(self._path / name)
        except OSError:
            pathlib.Path(fresh).unlink(missing_ok=True)
            raise

    def _mode(self) -> int:
        """With an fsGroup driver and agent share the folder's group; without one only the mount keeps others out."""
        return 0o640 if self._path.stat().st_mode & stat.S_ISGID else 0o644


def new_token() -> str:
    """Good for this start of the agent."""
    return secrets.token_urlsafe(32)
