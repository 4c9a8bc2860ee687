"""What several rooms of the agent are tested with."""

from collections.abc import Iterator

import pytest

from agent import loops
from sluice_agent import board, heard


@pytest.fixture
def on(states: heard.Heard) -> Iterator[board.Board]:
    """A board in a running loop, beside the test's own `states`."""

    async def make() -> board.Board:
        return board.Board(states.ring)

    with loops.Loop() as loop:
        yield loop.run(make())
