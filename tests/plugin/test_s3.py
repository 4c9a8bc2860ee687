"""A checkpoint on S3 is gated, drained and fenced as one on a disk is; its files are written in place."""

import pathlib
from collections.abc import Iterator

import pytest

from plugin import agent, drivers, s3
from plugin.test_drain import at_least, committed


@pytest.fixture
def store() -> Iterator[s3.Store]:
    with s3.serving() as made:
        yield made


def job_on(store: s3.Store, out: pathlib.Path, state: str = "none") -> drivers.Job:
    return drivers.Job(out, checkpoint=store.url("checkpoint"), conf=store.conf(), state=state)


@pytest.mark.matrix
def test_drivers_drained_one_after_another_lose_and_repeat_nothing(store, fake_agent, tmp_path):
    job = job_on(store, tmp_path / "job", "dedup")  # state goes there by another client than all the rest
    last = -1
    for who in "ab":
        with drivers.Driver(job, who, fake_agent.folder) as driver:
            fake_agent.wait(at_least(last + 3), 300)
            fake_agent.order(drain={"id": who, "timeoutMs": 60_000, "stop": True})
            assert driver.end(120) == "ended"
        fake_agent.order(drain=None)
        last = store.last("checkpoint/q0/commits")
        assert store.last("checkpoint/q0/offsets") == last
    rows = drivers.sink_rows(job)
    assert (rows.missing, rows.repeated) == (0, 0)
    assert store.names("checkpoint/q0/_sluice/epochs") == ["1", "2"]


def test_a_writer_stops_at_the_first_write_after_a_higher_epoch(store, fake_agent, tmp_path):
    job = job_on(store, tmp_path / "job", "aggregation")
    with drivers.Driver(job, "a", fake_agent.folder) as driver:
        state: agent.Document = fake_agent.wait(at_least(1), 300)
        store.put("checkpoint/q0/_sluice/epochs/99")
        ending = driver.end(120)
    assert "epoch 99 has taken the checkpoint" in ending
    assert store.last("checkpoint/q0/commits") <= max(committed(state)) + 1
