"""The command line before a fake API server."""

import pytest

from cli import fakes
from sluice import __main__ as front
from sluice.cli import cluster, words


class Desk:
    """Types words, reads what comes back."""

    def __init__(self, monkeypatch, capsys):
        self.custom, self.core = fakes.Custom(), fakes.Core()
        self._capsys = capsys
        monkeypatch.setattr(
            cluster, "connect", lambda said: cluster.Cluster(self.core, self.custom, said.namespace or "ads")
        )
        monkeypatch.setattr(words, "now", lambda: words.datetime.datetime.fromisoformat("2026-11-18T13:30:00Z"))

    def holds(self, *jobs):
        """These StreamJobs are there."""
        self.custom = fakes.Custom(*jobs)

    def type(self, *said):
        """What is printed by a command that works."""
        assert front.main(said) == 0
        return self._capsys.readouterr().out

    def complaint(self, *said):
        """What is said by one that does not."""
        assert front.main(said) == 1
        return self._capsys.readouterr().err.removeprefix("sluice: ").strip()


@pytest.fixture
def desk(monkeypatch, capsys):
    """A cluster in namespace ads, at half past one."""
    return Desk(monkeypatch, capsys)
