"""What keeps a call from having an answer. Raised by the wire; a refusal is an answer, not a failure."""


class Unavailable(Exception):
    """The API server could not be asked, or not now, however often: look again later."""

    def __init__(self, sentence: str, status: int = 0) -> None:
        super().__init__(sentence)
        self.status = status  # 0: no answer at all


class LostLeadership(Exception):
    """Another operator leads, or may: nothing more is written by this one."""
