"""A batch's input goes to executors by the shares the agent gives; every row once, whatever the shares."""

import contextlib
from collections.abc import Iterator

import pytest

from plugin import agent, broker, drivers, feeds
from plugin.test_drain import assert_at_rest, at_least, committed

THREE = "local-cluster[3,1,1024]"
SHARES = {"shares": {"0": 0.6, "1": 0.3, "2": 0.1}, "perSlot": 1, "whole": False}


@contextlib.contextmanager
def running(job: drivers.Job, fake: agent.FakeAgent) -> Iterator[drivers.Driver]:
    """A job whose agent gives these shares, until it has been drained and has lost and repeated nothing."""
    with drivers.Driver(job, "a", fake.folder) as driver:
        driver.until(lambda: fake.batches and len(fake.batches[-1]["crew"]) == 3, 300)
        fake.balance = SHARES
        yield driver
        fake.order(drain={"id": "end", "timeoutMs": 30_000, "stop": True})
        assert driver.end() == "ended"
    assert_at_rest(job)
    rows = drivers.sink_rows(job)
    assert (rows.missing, rows.repeated) == (0, 0)


def cut(driver: drivers.Driver, fake: agent.FakeAgent, batches: int = 5) -> list[agent.Document]:
    """The next batches with rows whose input was cut."""
    seen = len(fake.batches)

    def found() -> list[agent.Document]:
        return [one for one in fake.batches[seen:] if one["cut"]["pieces"] and one["rows"] >= 10]

    driver.until(lambda: len(found()) >= batches)
    return found()


def rows_of(batches: list[agent.Document]) -> list[float]:
    """Which part of all rows each executor read."""
    total = sum(one["rows"] for one in batches)
    works = [one["executors"] for one in batches]
    return [sum(work.get(name, {}).get("scanRows", 0) for work in works) / total for name in "012"]


@pytest.mark.matrix
def test_the_rate_sources_rows_are_cut_in_the_shares_that_are_wanted(fake_agent, tmp_path):
    job = drivers.Job(tmp_path / "job", source="rate", master=THREE, trigger="2 seconds")
    with running(job, fake_agent) as driver:
        batches = cut(driver, fake_agent)
        assert {one["cut"]["pieces"] for one in batches} == {3}
        assert rows_of(batches) == pytest.approx([0.6, 0.3, 0.1], abs=0.03)


@pytest.mark.matrix
def test_a_single_partition_of_kafka_is_read_by_all_executors_and_each_record_once(fake_agent, tmp_path):
    with broker.serving(tmp_path / "kafka") as servers:
        job = drivers.Job(
            tmp_path / "job",
            source="kafka",
            kafka=servers,
            topic="cut",
            partitions=1,
            master=THREE,
            trigger="2 seconds",
        )
        with feeds.feeding(job), running(job, fake_agent) as driver:
            assert rows_of(cut(driver, fake_agent)) == pytest.approx([0.6, 0.3, 0.1], abs=0.05)


@pytest.mark.matrix
def test_partitions_of_a_source_nobody_knows_are_dealt_out_whole(fake_agent, tmp_path):
    job = drivers.Job(tmp_path / "job", partitions=10, master=THREE, trigger="2 seconds")
    with running(job, fake_agent) as driver:
        assert rows_of(cut(driver, fake_agent)) == pytest.approx([0.6, 0.3, 0.1], abs=0.02)


@pytest.mark.matrix
def test_what_a_silent_agent_wanted_is_forgotten_and_the_source_plans_by_itself(fake_agent, tmp_path):
    job = drivers.Job(tmp_path / "job", partitions=6, master=THREE)
    with running(job, fake_agent) as driver:
        cut(driver, fake_agent)
        fake_agent.balance = {"shares": "nonsense"}
        seen = max(committed(fake_agent.state))
        fake_agent.wait(at_least(seen + 4))
        assert {one["cut"]["pieces"] for one in fake_agent.batches[-2:]} == {0}


@pytest.mark.matrix
def test_files_come_by_sparks_older_interface_and_that_is_said(fake_agent, tmp_path):
    job = drivers.Job(tmp_path / "job", source="file")
    fake_agent.balance = SHARES
    with feeds.feeding(job), drivers.Driver(job, "a", fake_agent.folder):
        fake_agent.wait(at_least(3), 300)
    assert "V1" in fake_agent.batches[-1]["cut"]["own"]
