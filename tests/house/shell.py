"""Runs other programs for a stage: output goes to the stage's log file, a failure quotes its last lines."""

import dataclasses
import os
import pathlib
import subprocess
from collections.abc import Mapping, Sequence

from house import trouble

_QUOTED_LINES = 15
_NO_NETWORK = (
    "Temporary failure resolving",  # apt
    "Temporary failure in name resolution",  # pip, mvn
    "no such host",  # go
    "Network is unreachable",
)


@dataclasses.dataclass(frozen=True)
class Shell:
    """Commands of one stage, all logged to one file; `prefix` goes before each, to run it inside something."""

    log: pathlib.Path
    prefix: tuple[str, ...] = ()

    def run(
        self,
        *command: str | os.PathLike[str],
        cwd: pathlib.Path | None = None,
        env: Mapping[str, str] | None = None,
        text: str | None = None,
    ) -> None:
        """Runs a command to its end; a failure becomes Trouble with what it said last."""
        with self.log.open("ab") as out:
            began = out.tell()
            out.write(f"$ {' '.join(map(str, command))}\n".encode())
            out.flush()
            done = subprocess.run(
                [*self.prefix, *command],
                cwd=cwd,
                env={**os.environ, **(env or {})},
                input=None if text is None else text.encode(),
                stdin=subprocess.DEVNULL if text is None else None,
                stdout=out,
                stderr=subprocess.STDOUT,
                check=False,
            )
        if done.returncode != 0:
            raise trouble.Trouble(failed(command, done.returncode, self._said_since(began)))

    def _said_since(self, offset: int) -> str:
        with self.log.open("rb") as log:
            log.seek(offset)
            return log.read().decode(errors="replace")


def read(*command: str | os.PathLike[str], env: Mapping[str, str] | None = None, text: str | None = None) -> str:
    """What a command prints; a failure becomes Trouble with what it said."""
    done = subprocess.run(
        command,
        env={**os.environ, **(env or {})},
        input=text,
        stdin=subprocess.DEVNULL if text is None else None,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        raise trouble.Trouble(failed(command, done.returncode, done.stderr or done.stdout))
    return done.stdout


def failed(command: Sequence[str | os.PathLike[str]], code: int, said: str) -> str:
    """The sentence for a command that failed, with the end of what it said."""
    words = " ".join(map(str, command))
    last = "\n".join("    " + line for line in said.rstrip().splitlines()[-_QUOTED_LINES:])
    network = "the network cannot be reached: " if any(sign in said for sign in _NO_NETWORK) else ""
    return f"{network}`{words[:200]}` ended with exit code {code}:\n{last}"
