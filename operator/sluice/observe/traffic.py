"""What the agents beside the drivers measured, asked for over HTTP: bounded in time and size, and read with care.

A driver is its user's code, and its agent a sidecar in the same pod: nothing it answers may cost the operator more than
one job's numbers, lead it elsewhere (no redirect is followed), or get past `parse`. Called by :mod:`sluice.rounds`.
"""

import asyncio
import datetime
import math
from collections.abc import Mapping
from types import TracebackType
from typing import Any, Self

import aiohttp
import orjson

from sluice.observe import pages
from sluice.values.traffic import Query, Traffic

LARGEST_BYTES = 4 << 20
_PATIENCE_S, _CONNECT_S = 5.0, 2.0
_AT_ONCE = 32
_VERSION = 1
_MOST_QUERIES, _MOST_BATCHES, _LARGEST = 50, 100, 1 << 53
_LONGEST_NAME, _LONGEST_ID = 256, 16


class Unheard(Exception):
    """Nothing was measured that could be used; a sentence."""


class Agents:
    """Those of all drivers. Use it as a context: the session is made in the running loop and closed with it."""

    def __init__(self, port: int = pages.PORT) -> None:
        self._port = port
        self._slots = asyncio.Semaphore(_AT_ONCE)

    async def __aenter__(self) -> Self:
        self._session = pages.session(aiohttp.ClientTimeout(total=_PATIENCE_S, sock_connect=_CONNECT_S))
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, why: BaseException | None, where: TracebackType | None
    ) -> None:
        await self._session.close()

    async def ask(self, ip: str) -> Traffic:
        """What the one of a pod measured; Unheard if it does not answer in time, or nothing that makes sense."""
        async with self._slots:
            raw = await self._get(ip)
        try:
            return parse(raw)
        except ValueError as why:
            raise Unheard(f"{ip}: {why}") from None

    async def _get(self, ip: str) -> bytes:
        try:
            return await pages.get(self._session, ip, self._port, "/v1/traffic", LARGEST_BYTES)
        except pages.Refused as why:
            raise Unheard(f"{ip} answers {why}") from why
        except (aiohttp.ClientError, TimeoutError, OSError) as why:
            raise Unheard(f"{ip}: no answer: {why!r}") from why


def parse(raw: bytes) -> Traffic:
    """An answer; ValueError names field, value and what is allowed."""
    try:
        found = orjson.loads(raw)
    except orjson.JSONDecodeError as why:
        raise ValueError(f"traffic is no JSON: {why}") from None
    top = _object("traffic", found)
    if top.get("version") != _VERSION:
        raise ValueError(f"version={_short(top.get('version'))}: allowed is {_VERSION}")
    queries = _object("queries", top.get("queries"))
    if len(queries) > _MOST_QUERIES:
        raise ValueError(f"queries: {len(queries)} are there: allowed are {_MOST_QUERIES}")
    return Traffic(_moment(top.get("at")), tuple(_query(name, queries[name]) for name in sorted(queries)))


def _query(name: str, found: Any) -> Query:
    if not 0 < len(name) <= _LONGEST_NAME:
        raise ValueError(f"queries: {_short(name)}: allowed are names of 1 to {_LONGEST_NAME} characters")
    at = f"queries.{name[:40]}"
    fields = _object(at, found)
    mean_ms, p90_ms = _two(f"{at}.batchMs", fields.get("batchMs"))
    executors = _object(f"{at}.executors", fields.get("executors"))
    told = {_id(at, one): _object(f"{at}.executors.{one}", each) for one, each in executors.items()}
    return Query(
        name=name,
        batches=_whole(f"{at}.batches", fields.get("batches"), _MOST_BATCHES),
        seconds=_number(f"{at}.seconds", fields.get("seconds")),
        batch_ms=mean_ms,
        batch_p90_ms=p90_ms,
        run_ms={one: _number(f"{at}.executors.{one}.runMs", each.get("runMs")) for one, each in told.items()},
        rows={one: _whole(f"{at}.executors.{one}.rows", each.get("rows")) for one, each in told.items()},
        pairs=_pairs(f"{at}.pairs", fields.get("pairs")),
    )


def _pairs(at: str, found: Any) -> dict[str, dict[str, int]]:
    return {
        _id(at, one): {
            _id(f"{at}.{one}", other): _whole(f"{at}.{one}.{other}", count)
            for other, count in _object(f"{at}.{one}", to).items()
        }
        for one, to in _object(at, found).items()
    }


def _object(at: str, found: Any) -> Mapping[str, Any]:
    if not isinstance(found, dict):
        raise ValueError(f"{at}={_short(found)}: allowed is an object")
    return found


def _id(at: str, found: str) -> str:
    """An executor as Spark numbers it; the driver takes part in nothing that is measured."""
    if not (found.isascii() and found.isdecimal() and len(found) <= _LONGEST_ID):
        raise ValueError(f"{at}: executor {_short(found)}: allowed are numbers of at most {_LONGEST_ID} digits")
    return found


def _two(at: str, found: Any) -> tuple[float, float]:
    if not isinstance(found, list) or len(found) != 2:
        raise ValueError(f"{at}={_short(found)}: allowed are two numbers, the mean and the 90th of a hundred")
    return _number(f"{at}[0]", found[0]), _number(f"{at}[1]", found[1])


def _whole(at: str, found: Any, most: int = _LARGEST) -> int:
    if isinstance(found, bool) or not isinstance(found, int) or not 0 <= found <= most:
        raise ValueError(f"{at}={_short(found)}: allowed is a whole number from 0 to {most}")
    return found


def _number(at: str, found: Any) -> float:
    allowed = isinstance(found, int | float) and not isinstance(found, bool)
    if not allowed or not math.isfinite(found) or not 0 <= found <= _LARGEST:
        raise ValueError(f"{at}={_short(found)}: allowed is a number from 0 to {_LARGEST}")
    return float(found)


def _moment(found: Any) -> float:
    try:
        moment = datetime.datetime.fromisoformat(found)
        if moment.tzinfo is None:
            raise ValueError
        return moment.timestamp()
    except (TypeError, ValueError, OverflowError):
        raise ValueError(f"at={_short(found)}: allowed is a moment such as 2027-01-15T08:00:00Z") from None


def _short(found: Any) -> str:
    text = repr(found)
    return text if len(text) <= 60 else f"{text[:57]}…"
