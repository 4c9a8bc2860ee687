"""The API server as the agent sees it: one connection kept open, every wait bounded, the token read anew each time.

Used by the rooms of :mod:`sluice_agent`. The time it tells is the API server's own: clocks of nodes differ.
"""

import dataclasses
import email.utils
import http.client
import json
import pathlib
import ssl
import urllib.parse
from collections.abc import Mapping
from typing import Any

ACCOUNT = pathlib.Path("/var/run/secrets/kubernetes.io/serviceaccount")
_PATIENCE_S = 5.0


class Unavailable(Exception):  # it is what it says
    """The API server cannot be reached, or is too busy to answer: worth another try."""


@dataclasses.dataclass(frozen=True)
class Answer:
    """What the API server said, and when by its own clock."""

    status: int
    body: Mapping[str, Any]
    at_s: float  # since 1970

    @property
    def ok(self) -> bool:
        """Whether it was done."""
        return 200 <= self.status < 300

    @property
    def sentence(self) -> str:
        """Why not."""
        return str(self.body.get("message") or f"the API server answers {self.status}")


class Client:
    """Calls, one after another."""

    def __init__(self, server: str, account: pathlib.Path = ACCOUNT) -> None:
        self._server = urllib.parse.urlsplit(server)
        self._account = account
        self._open: http.client.HTTPConnection | None = None

    def call(self, method: str, path: str, body: Any = None, content_type: str = "application/json") -> Answer:
        """The answer, a refusal included; Unavailable if there is none, or if it is to ask again later."""
        headers = {"Accept": "application/json", "Content-Type": content_type, "User-Agent": "sluice-agent"}
        try:
            answer = self._ask(method, path, None if body is None else json.dumps(body).encode(), headers)
        except (OSError, http.client.HTTPException, ValueError) as why:
            self.close()
            raise Unavailable(f"{self._server.netloc}: {why or type(why).__name__}") from why
        if answer.status == 429 or answer.status >= 500:
            raise Unavailable(answer.sentence)
        return answer

    def close(self) -> None:
        """Hangs up; the next call opens anew."""
        if self._open:
            self._open.close()
        self._open = None

    def _ask(self, method: str, path: str, body: bytes | None, headers: dict[str, str]) -> Answer:
        token = self._account / "token"
        if token.exists():
            headers["Authorization"] = f"Bearer {token.read_text().strip()}"
        self._open = self._open or self._connection()
        self._open.request(method, path, body, headers)
        with self._open.getresponse() as response:
            said = json.loads(response.read() or b"{}")
            date = response.headers.get("Date")
        if date is None or not isinstance(said, dict):
            raise ValueError("this is no answer of an API server")
        return Answer(response.status, said, email.utils.parsedate_to_datetime(date).timestamp())

    def _connection(self) -> http.client.HTTPConnection:
        if self._server.scheme == "http":
            return http.client.HTTPConnection(self._server.netloc, timeout=_PATIENCE_S)
        trust = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)  # the cluster's own authority, and no other
        trust.load_verify_locations(self._account / "ca.crt")
        return http.client.HTTPSConnection(self._server.netloc, timeout=_PATIENCE_S, context=trust)
