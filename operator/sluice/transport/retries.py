"""How often a call is made again, and how long to wait before. Pure; the dice are given."""

import dataclasses

_AGAIN = frozenset({0, 429, 500, 502, 503, 504})  # 0: no answer came
_FIRST_S, _LONGEST_S, _MOST_PATIENCE_S = 0.2, 5.0, 10.0
MOST_TRIES = 4


@dataclasses.dataclass(frozen=True)
class Try:
    """What came of one attempt."""

    number: int  # from 1
    status: int
    retry_after_s: float | None = None  # as the API server asks


def pause_s(last: Try, dice: float) -> float | None:
    """How long to wait before the next attempt, or None: this was the last. Dice are in [0, 1).

    Full jitter, so that a crowd does not come back as a crowd. Who asks for more patience than a cycle has is not
    waited for: the cycle comes again by itself.
    """
    if last.status not in _AGAIN or last.number >= MOST_TRIES:
        return None
    spread_s = dice * min(_LONGEST_S, _FIRST_S * 2.0**last.number)
    if last.retry_after_s is None:
        return spread_s
    return last.retry_after_s + spread_s if last.retry_after_s <= _MOST_PATIENCE_S else None


def is_worth_repeating(status: int) -> bool:
    """Whether such an answer says nothing about the call itself."""
    return status in _AGAIN
