"""Executors come and go as the orders say, while the job runs and loses nothing."""

import pytest

from plugin import agent, drivers
from plugin.test_drain import assert_at_rest, at_least, committed

DECOMMISSION = {"spark.decommission.enabled": "true", "spark.executor.decommission.forceKillTimeout": "60s"}


def executors(driver: drivers.Driver) -> int:
    return len(driver.jvms()) - 1


def workers(fake: agent.FakeAgent, after: int) -> set[str]:
    """Who worked in the batches after one."""
    return {executor for batch in fake.batches if batch["batch"] > after for executor in batch["executors"]}


def later(fake: agent.FakeAgent, batches: int) -> int:
    """Waits for some more batches; the last one before them."""
    now = max(committed(fake.state))
    fake.wait(at_least(now + batches))
    return now


@pytest.mark.matrix
def test_an_executor_is_sent_away_one_comes_in_its_place_and_no_row_is_lost_or_repeated(fake_agent, tmp_path):
    job = drivers.Job(tmp_path / "job", partitions=6, row_ms=5, master="local-cluster[3,1,1024]", conf=DECOMMISSION)
    with drivers.Driver(job, "a", fake_agent.folder) as driver:
        driver.until(lambda: workers(fake_agent, -1) == {"0", "1", "2"}, 300)
        fake_agent.order(executors={"total": 2, "decommission": ["0"]})
        driver.until(lambda: executors(driver) == 2)
        gone = later(fake_agent, 5)
        assert executors(driver) == 2
        fake_agent.order(executors={"total": 3, "decommission": ["0"]})
        driver.until(lambda: "3" in workers(fake_agent, gone))
        assert "0" not in workers(fake_agent, gone + 1)
        fake_agent.order(executors={"total": 2, "decommission": ["0", "1"]})
        driver.until(lambda: executors(driver) == 2)
        gone = later(fake_agent, 5)
        assert (executors(driver), workers(fake_agent, gone + 1)) == (2, {"2", "3"})
        fake_agent.order(drain={"id": "end", "timeoutMs": 30_000, "stop": True})
        assert driver.end() == "ended"
    assert_at_rest(job)
    rows = drivers.sink_rows(job)
    assert (rows.missing, rows.repeated) == (0, 0)
