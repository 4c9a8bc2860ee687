"""An operator that does nothing but lead: says each time it may write, by the clock that all processes share.

``python -m e2e.candidate NAMESPACE NAME``; ends by itself when it has lost the lead.
"""

import asyncio
import contextlib
import signal
import sys

from sluice import leadership, lease


async def live(namespace: str, name: str) -> None:
    """Until it is told to end, or may lead no longer."""
    async with lease.connect(namespace, "candidates") as kept:
        election = leadership.Election(kept, name)
        body = asyncio.current_task()
        assert body is not None
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, body.cancel)
        print("waits", flush=True)
        async with election.lead():
            while True:
                if election.still_leads():
                    print(f"writes {leadership.boot_s():.3f}", flush=True)
                await asyncio.sleep(0.05)


def main() -> int:
    """0 when told to end, 3 when the lead was lost."""
    try:
        with contextlib.suppress(asyncio.CancelledError):
            asyncio.run(live(*sys.argv[1:]))
    except leadership.Lost as lost:
        print(f"lost: {lost}", flush=True)
        return 3
    return 0


if __name__ == "__main__":
    sys.exit(main())
