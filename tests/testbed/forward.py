"""Carries connections from the host's loopback into the cluster. The one daemon of the switch box.

Its listening sockets were opened on the host and handed down, so they belong to the host's loopback; what it dials,
it dials inside. Called with FD=ADDRESS:PORT ….
"""

import asyncio
import contextlib
import socket
import sys

_CHUNK_BYTES = 1 << 18
_DIAL_DEADLINE_S = 5.0


async def main(forwards: list[str]) -> None:
    """Serves all forwards until it is killed."""
    servers = []
    for forward in forwards:
        fd, _, target = forward.partition("=")
        host, _, port = target.rpartition(":")
        listener = socket.socket(fileno=int(fd))
        servers.append(await asyncio.start_server(_to(host, int(port)), sock=listener, limit=_CHUNK_BYTES))
    await asyncio.gather(*(server.serve_forever() for server in servers))


def _to(host: str, port: int):  # type: ignore[no-untyped-def]  # asyncio names no type for a connection's callback
    async def carry(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            dialled = asyncio.open_connection(host, port, limit=_CHUNK_BYTES)
            far_reader, far_writer = await asyncio.wait_for(dialled, _DIAL_DEADLINE_S)
        except (TimeoutError, OSError):
            writer.transport.abort()  # the caller sees a reset, as from a closed port
            return
        await asyncio.gather(_copy(reader, far_writer), _copy(far_reader, writer))

    return carry


async def _copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with contextlib.suppress(ConnectionError):
        while data := await reader.read(_CHUNK_BYTES):
            writer.write(data)
            await writer.drain()
    with contextlib.suppress(ConnectionError, OSError):
        if writer.can_write_eof():
            writer.write_eof()


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1:]))
