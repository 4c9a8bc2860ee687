"""Each batch is measured: who did what, who got whose bytes, how far behind; and what measuring itself cost."""

import pytest

from plugin import agent, broker, drivers, feeds
from plugin.test_drain import at_least


def measured(job: drivers.Job, fake: agent.FakeAgent) -> list[agent.Document]:
    """The batches with rows among a job's first ones."""
    with drivers.Driver(job, "a", fake.folder):
        fake.wait(at_least(6), 300)
    return [batch for batch in fake.batches if batch["rows"] > 0]


def test_time_in_the_users_python_is_told_and_each_task_is_counted_once(fake_agent, tmp_path):
    for batch in measured(drivers.Job(tmp_path / "job", state="udf", sink="noop"), fake_agent):
        (work,) = batch["executors"].values()
        assert batch["rows"] <= work["pythonMs"] <= work["runMs"] + 2
        assert sum(count for _, count in work["taskMs"]) == work["tasks"] == 2
        assert batch["shuffledBytesComplete"] is True


@pytest.mark.matrix
def test_how_far_the_watermark_is_behind_is_told(fake_agent, tmp_path):
    batches = measured(drivers.Job(tmp_path / "job", state="aggregation", sink="file"), fake_agent)
    assert all(2.0 <= batch["watermarkDelayMs"] / 1000 < 30 for batch in batches[2:])


@pytest.mark.matrix
def test_records_that_wait_in_kafka_are_the_lag(fake_agent, tmp_path):
    with broker.serving(tmp_path / "kafka") as servers:
        job = drivers.Job(tmp_path / "job", source="kafka", kafka=servers, topic="lag", most_a_batch=10)
        with feeds.feeding(job):
            batches = measured(job, fake_agent)
    lags = [batch["sources"][0]["lag"] for batch in batches]
    # Each batch takes ten, and more than ten come meanwhile.
    assert 0 < lags[1] < lags[-1]


@pytest.mark.matrix
def test_a_real_time_batch_says_that_its_pairs_are_not_known(fake_agent, tmp_path):
    cluster = {"master": "local[4]", "partitions": 1, "state": "shuffled", "real_time": "5 seconds"}
    job = drivers.Job(tmp_path / "job", sink="lines", **cluster)
    with drivers.Driver(job, "a", fake_agent.folder):
        fake_agent.wait(at_least(1), 300)
    batches = [batch for batch in fake_agent.batches if batch["rows"] > 0]
    assert {batch["shuffledBytesComplete"] for batch in batches} == {False}


@pytest.mark.matrix
def test_a_batch_says_who_worked_and_what_went_between_executors(fake_agent, tmp_path):
    job = drivers.Job(tmp_path / "job", state="aggregation", sink="noop", master="local-cluster[2,1,1024]")
    with drivers.Driver(job, "a", fake_agent.folder):
        fake_agent.wait(at_least(6), 300)
    batches = [batch for batch in fake_agent.batches if batch["rows"] > 0]
    assert {executor for batch in batches for executor in batch["executors"]} == {"0", "1"}
    for batch in batches:
        work = batch["executors"].values()
        assert sum(one["rows"] for one in work) == batch["rows"]
        assert batch["name"] == "q0"
        assert batch["state"]["operators"] == 1
        assert batch["sources"][0]["source"]
        shuffled = batch["shuffledBytes"]
        for executor, one in batch["executors"].items():
            came = {start: to.get(executor, 0) for start, to in shuffled.items()}
            assert came.get(executor, 0) == one["localBytes"]
            assert abs(sum(came.values()) - one["localBytes"] - one["remoteBytes"]) <= 1
    shares = sorted(batch["ownUs"] / 1000 / max(1, batch["batchMs"]) for batch in batches[1:])
    print(f"own time: {[batch['ownUs'] for batch in batches]} µs, shares {[round(share, 4) for share in shares]}")
    assert shares[len(shares) // 2] <= 0.01
