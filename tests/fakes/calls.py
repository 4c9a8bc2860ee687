"""What a fake API server is asked, and the two ways in which a test lets that fail."""

import dataclasses
from typing import Any


@dataclasses.dataclass(frozen=True)
class Call:
    """One request, and what became of it (0: cut)."""

    method: str
    path: str
    query: dict[str, str]
    body: Any
    status: int = 0

    @property
    def words(self) -> str:
        """Short enough for a list of them."""
        return f"{self.method} {self.path}"


class Refuse(Exception):
    """The API server says no: nothing was done."""

    def __init__(
        self,
        status: int,
        reason: str,
        message: str,
        headers: dict[str, str] | None = None,
        details: dict[str, Any] | None = None,
    ) -> None:
        super().__init__(message)
        self.status, self.headers = status, headers or {}
        self.body = {"kind": "Status", "status": "Failure", "code": status, "reason": reason, "message": message}
        self.body |= {"details": details} if details else {}


class Cut(Exception):
    """The connection breaks; raised before a write, nothing was done, raised after it, all was."""
