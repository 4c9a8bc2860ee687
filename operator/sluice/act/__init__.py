"""Last room and only writer: carries out the steps of :mod:`sluice.plan` in order, and says what it did."""

from sluice.act.stages import carry_out

__all__ = ["carry_out"]
