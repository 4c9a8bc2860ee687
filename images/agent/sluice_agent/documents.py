"""Documents that others write, read strictly: whoever sends nonsense gets a sentence, and nothing changes.

Used by :mod:`sluice_agent.orders`, :mod:`sluice_agent.heard` and :mod:`sluice_agent.batches`. JSON has no NaN here, no
number that is infinite, no field twice. Unknown fields are skipped, so that a later release may add some.
"""

import json
import math
import re
from collections.abc import Iterable, Mapping
from typing import Any, NoReturn

VERSION = 1
MOST = (1 << 53) - 1  # what every reader of JSON reads exactly
_NAME = re.compile(r"[A-Za-z0-9._-]{1,64}")


class Wrong(ValueError):
    """Not as it may be; the sentence names the field, its value, and what is allowed."""


def read(text: bytes, what: str) -> Mapping[str, Any]:
    """An object of our version."""
    return versioned(parse(text, what), what)


def parse(text: bytes, what: str) -> Any:
    """Any JSON."""
    try:
        return json.loads(text.decode(), object_pairs_hook=_distinct, parse_constant=_no_number, parse_float=_finite)
    except RecursionError as why:
        raise Wrong(f"{what} is nested too deeply to be read") from why
    except ValueError as why:
        raise Wrong(f"{what} is not JSON: {brief(str(why))}") from why


def versioned(found: Any, what: str) -> Mapping[str, Any]:
    """The same, if it is an object of our version."""
    if not isinstance(found, dict):
        raise Wrong(f"{what} is {shown(found)}: allowed is an object")
    if found.get("version") != VERSION or isinstance(found["version"], bool | float):
        raise Wrong(f"{what}: version is {shown(found.get('version'))}: this agent reads {VERSION}")
    return found


def within(found: Mapping[str, Any], field: str, where: str = "") -> Mapping[str, Any]:
    """An object inside; empty when it is left out."""
    value = found.get(field)
    if value is not None and not isinstance(value, dict):
        raise wrong(f"{where}{field}", value, "an object")
    return value or {}


def items(found: Mapping[str, Any], field: str, most: int, where: str = "") -> list[Any]:
    """A list; empty when it is left out."""
    value = found.get(field)
    if value is not None and (not isinstance(value, list) or len(value) > most):
        raise wrong(f"{where}{field}", value, f"a list of at most {most}")
    return value or []


def whole(found: Mapping[str, Any], field: str, least: int = 0, most: int = MOST, where: str = "") -> int:
    """A whole number; the least when it is left out."""
    value = found.get(field, least)
    if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= most:
        raise wrong(f"{where}{field}", value, f"a whole number from {least} to {most}")
    return value


def number(found: Mapping[str, Any], field: str, where: str = "") -> float | None:
    """A number; None when it is left out."""
    value = found.get(field)
    if value is None:
        return None
    if not isinstance(value, int | float) or isinstance(value, bool) or not -1e18 <= value <= 1e18:
        raise wrong(f"{where}{field}", value, "a number from -1e18 to 1e18")
    return float(value)


def amount(found: Mapping[str, Any], field: str, where: str = "") -> float:
    """A number that is added up: clocks that went back make none of them negative."""
    return max(0.0, number(found, field, where) or 0.0)


def flag(found: Mapping[str, Any], field: str, where: str = "") -> bool:
    """True or false; false when it is left out."""
    value = found.get(field, False)
    if not isinstance(value, bool):
        raise wrong(f"{where}{field}", value, "true or false")
    return value


def sentence(found: Mapping[str, Any], field: str, most: int = 300, where: str = "") -> str:
    """Text for a person, cut to what is bearable; empty when it is left out."""
    value = found.get(field)
    if value is not None and not isinstance(value, str):
        raise wrong(f"{where}{field}", value, "text")
    return brief(value or "", most)


def name(found: Mapping[str, Any], field: str, where: str = "") -> str:
    """A name that must be there."""
    value = found.get(field)
    if not is_name(value):
        raise wrong(f"{where}{field}", value, "1 to 64 letters, digits, '.', '_' or '-'")
    return str(value)


def is_name(value: Any) -> bool:
    """Whether it is 1 to 64 letters, digits, dots, lines and dashes."""
    return isinstance(value, str) and _NAME.fullmatch(value) is not None


def one_of(found: Mapping[str, Any], field: str, allowed: Iterable[str], where: str = "") -> str:
    """One of a few words."""
    value = found.get(field)
    if value not in (words := tuple(allowed)):
        raise wrong(f"{where}{field}", value, ", ".join(words))
    return str(value)


def wrong(field: str, value: Any, allowed: str) -> Wrong:
    """What is wrong with a field."""
    return Wrong(f"{field} is {shown(value)}: allowed is {allowed}")


def shown(value: Any) -> str:
    """A value as a sentence shows it: a few characters of it."""
    if value is None:
        return "missing"
    if isinstance(value, dict | list):
        return f"{'an object' if isinstance(value, dict) else 'a list'} of {len(value)}"
    return brief(repr(value), 40)


def brief(text: str, most: int = 200) -> str:
    """The beginning of a text, and only what can be written as UTF-8."""
    cut = text if len(text) <= most else text[: most - 1] + "…"
    return cut.encode(errors="replace").decode()


def _distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in pairs:
        if key in found:
            raise Wrong(f"{shown(key)} stands twice")
        found[key] = value
    return found


def _no_number(word: str) -> NoReturn:
    raise Wrong(f"{word} is no number")


def _finite(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise Wrong(f"{brief(text, 40)} is no number")
    return value
