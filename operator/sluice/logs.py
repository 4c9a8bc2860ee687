"""Log lines as JSON, one object each, for whatever collects them: `{"at", "level", "logger", "message", …}`."""

import logging
import sys
from typing import TextIO

from pythonjsonlogger import core, json

_OURS = "sluice"
# What kopf hangs on its records for its own use.
_NOT_FOR_PEOPLE = ["k8s_skip", "settings", "color_message", "taskName"]


def set_up(level: str, stream: TextIO | None = None) -> None:
    """From now on everything logged goes there; of libraries only what is at least a warning."""
    lines = logging.StreamHandler(stream or sys.stdout)
    lines.setFormatter(
        json.JsonFormatter(
            "{levelname}{name}{message}",
            style="{",
            timestamp="at",
            rename_fields={"levelname": "level", "name": "logger", "exc_info": "trace"},
            reserved_attrs=[*core.RESERVED_ATTRS, *_NOT_FOR_PEOPLE],
            json_ensure_ascii=False,
        )
    )
    logging.root.handlers = [lines]
    logging.root.setLevel(logging.WARNING)
    logging.getLogger(_OURS).setLevel(level.upper())
