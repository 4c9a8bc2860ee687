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
from collections.abc import Generator, Mapping
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
        try:
            headers = {**self._headers(), "Content-Type": content_type}
            answer = self._ask(method, path, None if body is None else json.dumps(body).encode(), headers)
        except (OSError, http.client.HTTPException, ValueError) as why:
            self.close()
            raise Unavailable(f"{self._server.netloc}: {why or type(why).__name__}") from why
        if answer.status == 429 or answer.status >= 500:
            raise Unavailable(answer.sentence)
        return answer

    def follow(self, path: str, quiet_s: float, most_bytes: int) -> Generator[bytes, None, None]:
        """The lines of a watch, as they come; Unavailable if it cannot be opened, breaks, or says nothing for too long.

        A line that is too long comes without its end, and is the last.
        """
        try:
            self.close()
            self._open = self._connection(quiet_s)
            self._open.request("GET", path, None, self._headers())
            with self._open.getresponse() as response:
                if response.status != 200:
                    raise OSError(f"the watch is answered with {response.status} {response.reason}")
                while line := response.readline(most_bytes):
                    yield line
                    if not line.endswith(b"\n"):
                        return
        except (OSError, http.client.HTTPException, ValueError) as why:
            raise Unavailable(f"{self._server.netloc}: {why or type(why).__name__}") from why
        finally:
            self.close()

    def close(self) -> None:
        """Hangs up; the next call opens anew."""
        if self._open:
            self._open.close()
        self._open = None

    def _ask(self, method: str, path: str, body: bytes | None, headers: dict[str, str]) -> Answer:
        self._open = self._open or self._connection(_PATIENCE_S)
        self._open.request(method, path, body, headers)
        with self._open.getresponse() as response:
            said = json.loads(response.read() or b"{}")
            date = response.headers.get("Date")
        if date is None or not isinstance(said, dict):
            raise ValueError("this is no answer of an API server")
        return Answer(response.status, said, email.utils.parsedate_to_datetime(date).timestamp())

    def _headers(self) -> dict[str, str]:
        token, headers = self._account / "token", {"Accept": "application/json", "User-Agent": "sluice-agent"}
        return {**headers, "Authorization": f"Bearer {token.read_text().strip()}"} if token.exists() else headers

    def _connection(self, patience_s: float) -> http.client.HTTPConnection:
        if self._server.scheme == "http":
            return http.client.HTTPConnection(self._server.netloc, timeout=patience_s)
        trust = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)  # the cluster's own authority, and no other
        trust.load_verify_locations(self._account / "ca.crt")
        return http.client.HTTPSConnection(self._server.netloc, timeout=patience_s, context=trust)
