"""One page of the agent beside a driver, over HTTP. For :mod:`sluice.observe.agents` and :mod:`sluice.observe.traffic`.

A driver is its user's code: what its pod answers is bounded in size, comes as it is, and leads nowhere else. How long
it may take is the caller's.
"""

import ipaddress

import aiohttp

PORT = 7080  # as the agent has it


class Refused(ValueError):
    """It answered, but not with a page; what it answered instead."""


def session(patience: aiohttp.ClientTimeout) -> aiohttp.ClientSession:
    """To be made in the running loop, and closed."""
    return aiohttp.ClientSession(
        timeout=patience, auto_decompress=False, headers={"Accept-Encoding": "identity", "User-Agent": "sluice"}
    )


async def get(line: aiohttp.ClientSession, ip: str, port: int, path: str, most_bytes: int) -> bytes:
    """The whole page."""
    found = bytearray()
    async with line.get(f"http://{_host(ip)}:{port}{path}", allow_redirects=False) as answer:
        if answer.status != 200:
            raise Refused(f"{answer.status} (HTTP) and no page")
        async for piece in answer.content.iter_any():
            found += piece
            if len(found) > most_bytes:
                raise Refused(f"more than {most_bytes >> 20} MiB")
    return bytes(found)


def _host(ip: str) -> str:
    try:
        return f"[{ip}]" if ipaddress.ip_address(ip).version == 6 else ip
    except ValueError as why:
        raise aiohttp.InvalidURL(ip) from why
