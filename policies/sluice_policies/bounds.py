"""Says what is wrong with an argument: the field, its value, what is allowed. Every `Args` here uses it."""

from collections.abc import Sequence


def within(field: str, value: float, low: float, high: float) -> None:
    """Refuses a number outside low..high; NaN is outside."""
    if not low <= value <= high:
        raise ValueError(f"{field}={value!r}: allowed is {low:g} to {high:g}")


def one_of(field: str, value: str, allowed: Sequence[str]) -> None:
    """Refuses a word that is none of the allowed."""
    if value not in allowed:
        raise ValueError(f"{field}={value!r}: allowed is {', '.join(allowed)}")


def distinct(field: str, names: Sequence[str]) -> None:
    """Refuses names of which one stands twice."""
    if len(set(names)) != len(names):
        twice = sorted({name for name in names if names.count(name) > 1})
        raise ValueError(f"{field}={', '.join(twice)}: allowed is each name once")
