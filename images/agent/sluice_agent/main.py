"""The agent's one loop: look after the gates, wait, again. Told to end, it ends at once, whatever it waits for."""

import logging
import signal
import sys
import time
from types import FrameType

from sluice_agent import client, gates, settings

_LOG = logging.getLogger(__name__)
_FIRST_PAUSE_S, _LONGEST_PAUSE_S = 0.5, 8.0


def run(told: settings.Settings, api: client.Client) -> None:
    """Until SIGTERM. Trouble is said once, and is no reason to end: the driver runs without us as well."""
    signal.signal(signal.SIGTERM, _end)
    pause_s, said = _FIRST_PAUSE_S, ""
    while True:
        try:
            wait_s, trouble = gates.look(api, told), ""
        except (client.Unavailable, gates.Refused) as why:
            wait_s, trouble = pause_s, str(why)
        pause_s = min(2 * pause_s, _LONGEST_PAUSE_S) if trouble else _FIRST_PAUSE_S
        if trouble != said:
            _LOG.warning("%s", trouble or "the API server answers again")
        said = trouble
        time.sleep(wait_s)


def _end(_signal: int, _frame: FrameType | None) -> None:
    # Raised in the midst of whatever blocks: a wait for the API server must not use up the pod's grace.
    sys.exit(0)
