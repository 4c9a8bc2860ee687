"""The agent's side of `images/spark/plugin/PROTOCOL.md`: the plugin reports, and waits here for orders.

Over :mod:`sluice_agent.listen`. Orders come from :mod:`sluice_agent.board`; what was said goes to
:mod:`sluice_agent.heard` and :mod:`sluice_agent.tally`, and each batch to :mod:`sluice_agent.balance`, whose answer
goes back.
"""

import hmac
from collections.abc import Mapping
from typing import Any

from sluice_agent import balance, batches, board, documents, heard, listen, tally

MOST_BODY = 2 << 20
MOST_CONNECTIONS = 16
_LONGEST_WAIT_MS = 60_000
_PATHS = ("/v1/orders", "/v1/report")


class Talk:
    """With one plugin."""

    def __init__(
        self, token: str, orders: board.Board, states: heard.Heard, sums: tally.Tally, balancer: balance.Balancer
    ) -> None:
        self._bearer = f"Bearer {token}".encode()
        self._orders, self._states, self._sums, self._balancer = orders, states, sums, balancer

    @property
    def service(self) -> listen.Service:
        """What is served on loopback."""
        return listen.Service(self._admit, self._answer, MOST_BODY, MOST_CONNECTIONS)

    def _admit(self, head: listen.Head) -> None:
        if head.path not in _PATHS:
            raise listen.Refused(404, f"there is {' and '.join(_PATHS)}")
        if head.method != "POST":
            raise listen.Refused(405, "only POST is spoken here")
        if not hmac.compare_digest(head.headers.get("authorization", "").encode("latin-1"), self._bearer):
            raise listen.Refused(401, "the token is not the one in the agent's folder")

    async def _answer(self, head: listen.Head, body: bytes) -> listen.Reply:
        try:
            said = documents.read(body, "the document")
            batch = self._take(said)
            if head.path == "/v1/report":
                answer = {"balance": self._balancer.after(batch)} if batch else {}
                return listen.said(200, {"version": documents.VERSION, **answer})
            seen = documents.whole({"seen": -1, **said}, "seen", -1, (1 << 63) - 1)
            wait_ms = documents.whole(said, "waitMs", 0, _LONGEST_WAIT_MS)
        except documents.Wrong as why:
            self._sums.refused += 1
            raise listen.Refused(400, str(why)) from why
        found = await self._orders.other_than(seen, wait_ms / 1000)
        if found is None:
            # Not "closed": until the operator has said a word, the plugin does as it would without us.
            raise listen.Refused(503, "the operator has given no orders for this driver yet")
        return listen.said(200, found.document)

    def _take(self, said: Mapping[str, Any]) -> batches.Batch | None:
        """All of it or nothing; a batch that ended, if one did."""
        if "unmanaged" in said:
            self._states.take_unmanaged(documents.sentence(said, "unmanaged") or "no reason given")
            return None
        if "state" not in said:
            raise documents.wrong("state", None, "an object")
        state = heard.read(documents.within(said, "state"))
        batch = batches.read(documents.within(said, "batch")) if "batch" in said else None
        self._states.take(state)
        if batch:
            self._sums.add(batch)
        self._sums.keep(state)
        return batch
