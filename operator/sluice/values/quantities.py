"""Kubernetes' quantities and durations as whole numbers; ValueError says what is allowed."""

import math
import re
from fractions import Fraction

_SUFFIX = {
    "n": Fraction(1, 10**9),
    "u": Fraction(1, 10**6),
    "m": Fraction(1, 1000),
    "": Fraction(1),
    "k": Fraction(1000),
    **{letter: Fraction(1000) ** power for power, letter in enumerate("MGTPE", 2)},
    **{f"{letter}i": Fraction(1024) ** power for power, letter in enumerate("KMGTPE", 1)},
}
_QUANTITY = re.compile(r"([0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE]([+-]?[0-9]{1,2}))?([numkMGTPE]|[KMGTPE]i)?")
_DURATION = re.compile(r"(?:(\d+)h)?(?:(\d+)m(?!s))?(?:(\d+)s)?(?:(\d+)ms)?")


def cpu_m(text: str | int | float) -> int:
    """Millicores, rounded up."""
    return math.ceil(_exactly(text) * 1000)


def whole(text: str | int | float) -> int:
    """Bytes, or whatever is counted, rounded up."""
    return math.ceil(_exactly(text))


def duration_s(text: str) -> float:
    """Seconds of `90s`, `1h30m`, `500ms`."""
    found = _DURATION.fullmatch(text)
    if not found or not text:
        raise ValueError(f"{text!r}: allowed is a duration such as 500ms, 90s, 1h30m")
    hours, minutes, seconds, millis = (int(part or 0) for part in found.groups())
    return hours * 3600 + minutes * 60 + seconds + millis / 1000


def mebibytes(size_bytes: int) -> str:
    """As Spark and Kubernetes both read it, rounded down."""
    return f"{size_bytes >> 20}"


def _exactly(text: str | int | float) -> Fraction:
    found = _QUANTITY.fullmatch(str(text))
    if not found:
        raise ValueError(f"{text!r}: allowed is a quantity such as 500m, 2, 1.5Gi")
    number, exponent, suffix = found.groups()
    scale = Fraction(10) ** int(exponent or 0) * _SUFFIX[suffix or ""]
    return Fraction(number.rstrip(".")) * scale
