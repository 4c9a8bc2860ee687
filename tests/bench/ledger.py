"""Remembers each finished measurement of a bench, so that one cut short goes on where it was."""

import dataclasses
import json
import pathlib
from collections.abc import Callable
from typing import Any

from house import paths


@dataclasses.dataclass(frozen=True)
class Ledger:
    """The measurements of one bench; each under a name, made once."""

    file: pathlib.Path

    @classmethod
    def of(cls, bench: str) -> "Ledger":
        """The ledger of a bench by its name."""
        return cls(paths.CACHE / "bench" / f"{bench}.json")

    def once(self, name: str, measure: Callable[[], Any]) -> Any:
        """The measurement (anything JSON can hold), made now if no earlier run made it."""
        known = self._known()
        if name not in known:
            known[name] = measure()
            self.file.parent.mkdir(parents=True, exist_ok=True)
            part = self.file.with_suffix(".part")
            part.write_text(json.dumps(known, indent=1))
            part.replace(self.file)
        return known[name]

    def close(self) -> None:
        """Forgets everything: the bench is done and the next run measures anew."""
        self.file.unlink(missing_ok=True)

    def _known(self) -> dict[str, Any]:
        return dict(json.loads(self.file.read_text())) if self.file.exists() else {}
