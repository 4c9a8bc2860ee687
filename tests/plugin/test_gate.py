"""A driver waits at its gate beside a running one, is refused there where it does not fit, and goes on at batch N+1."""

import dataclasses
import pathlib
import re
import time

import pytest

from plugin import agent, broker, drivers, feeds, sinks, storage
from plugin.test_drain import at_least, committed


def at_gate(state: agent.Document) -> bool:
    return bool(state["queries"]) and all(query["phase"] == "gate" for query in state["queries"])


def test_a_driver_waits_at_a_closed_gate_and_starts_with_the_epoch_it_is_given(fake_agent, tmp_path):
    fake_agent.order(gate={"open": False})
    job = drivers.Job(tmp_path / "job")
    with drivers.Driver(job, "a", fake_agent.folder) as driver:
        fake_agent.wait(at_gate)
        driver.until((job.out / "a.started").exists)
        assert drivers.ids(job.root() / "offsets") == []
        fake_agent.order(gate={"open": True, "epoch": 7})
        state = fake_agent.wait(at_least(0))
    assert [query["epoch"] for query in state["queries"]] == [7]


@pytest.mark.matrix
def test_the_old_driver_commits_on_while_the_new_one_waits_warm_and_nothing_is_lost_between(fake_agent, tmp_path):
    job = drivers.Job(tmp_path / "job", state="aggregation")
    with agent.FakeAgent(tmp_path / "new-agent") as new_agent:
        new_agent.order(gate={"open": False}, warmUp=True, preload=True)
        with drivers.Driver(job, "a", fake_agent.folder) as old:
            fake_agent.wait(at_least(3), 300)
            handed_over(job, old, fake_agent, new_agent)
    batches = [call["batch"] for call in drivers.calls(job.out)]
    assert batches == list(range(len(batches)))


def commit_times(state: agent.Document) -> list[tuple[int, int]]:
    """When each query committed first and last under this driver."""
    return [(query["firstCommitAtMs"], query["committedAtMs"]) for query in state["queries"]]


def handed_over(job: drivers.Job, old: drivers.Driver, fake_agent: agent.FakeAgent, new_agent: agent.FakeAgent) -> None:
    """From one driver to the next: wait, warm up, drain, go."""
    left_by_a_killed_one = job.root() / "_sluice" / "warm-up" / "run" / "offsets" / "0"
    left_by_a_killed_one.parent.mkdir(parents=True)
    left_by_a_killed_one.touch()
    with drivers.Driver(job, "b", new_agent.folder) as new:
        new_agent.wait(at_gate, 300)
        waiting = new_agent.wait(lambda state: "warmed up" in state["warmUp"] or "cold" in state["warmUp"], 300)
        assert "warmed up" in waiting["warmUp"]
        loaded = new_agent.wait(lambda state: "loaded" in state["warmUp"] or "cold" in state["warmUp"], 300)
        assert "loaded 1 operators' state" in loaded["warmUp"]
        warm = new_agent.wait(lambda state: all(query["warm"] for query in state["queries"]), 60)
        assert at_gate(warm)
        assert list((job.root() / "_sluice" / "warm-up").glob("*")) == []
        assert commit_times(warm) == [(0, 0)]
        fake_agent.wait(at_least(max(committed(fake_agent.state)) + 3))
        assert at_gate(new_agent.state)
        fake_agent.order(drain={"id": "over", "timeoutMs": 30_000, "stop": True})
        quiet = fake_agent.wait(lambda state: state["drain"]["state"] in ("quiet", "stopped"), 60)
        before = drivers.last_ids(job.root())
        assert committed(quiet) == [before[1]]
        new_agent.order(gate={"open": True, "epoch": 7})
        state = new_agent.wait(at_least(before[1] + 3))
        assert [query["epoch"] for query in state["queries"]] == [7]
        (old_first_ms, old_last_ms), (new_first_ms, new_last_ms) = *commit_times(quiet), *commit_times(state)
        assert job.t0_ms < old_first_ms < old_last_ms < new_first_ms < new_last_ms < time.time() * 1000
        assert old.end() == "ended"
        new_agent.order(drain={"id": "end", "timeoutMs": 30_000, "stop": True})
        assert new.end() == "ended"
        assert before[0] == before[1]


@pytest.mark.matrix
def test_with_kafka_it_is_rehearsed_at_the_gate_and_the_handover_is_short_and_exact(fake_agent, tmp_path):
    with broker.serving(tmp_path / "kafka") as servers, agent.FakeAgent(tmp_path / "new-agent") as new_agent:
        log = pathlib.Path(__file__).parent / "consumers.log4j2.properties"
        conf = {"spark.driver.extraJavaOptions": f"-Dlog4j2.configurationFile={log}"}
        job = drivers.Job(tmp_path / "job", source="kafka", sink="kafka", kafka=servers, topic="rows", conf=conf)
        checkpoint = storage.Checkpoint.of(job)
        new_agent.order(gate={"open": False}, warmUp=True, preload=True)
        with feeds.feeding(job), drivers.Driver(job, "a", fake_agent.folder) as old:
            fake_agent.wait(at_least(3), 300)
            with drivers.Driver(job, "b", new_agent.folder) as new:
                new_agent.wait(lambda state: all(query["warm"] for query in state["queries"]) and at_gate(state), 300)
                told = [state["warmUp"] for _, state in new_agent.states if "warmed up" in state["warmUp"]]
                assert all(
                    "on its Kafka with batches of [" in one and "producers connected in" in one for one in told
                ), told
                fake_agent.order(drain={"id": "over", "timeoutMs": 30_000, "stop": True})
                quiet = fake_agent.wait(lambda state: state["drain"]["state"] in ("quiet", "stopped"), 60)
                new_agent.order(gate={"open": True})
                state = new_agent.wait(at_least(committed(quiet)[0] + 3), 60)
                print(told[-1], commit_times(state)[0][0] - commit_times(quiet)[0][1], "ms of pause")
                new_agent.order(drain={"id": "end", "timeoutMs": 30_000, "stop": True})
                assert (old.end(), new.end()) == ("ended", "ended")
                groups = set(re.findall(r"group\.id = (spark-kafka-source\S+-executor)", new.log.read_text()))
                assert len(groups) == 1, "the query reads with the consumers its rehearsal made"
        rows = sinks.judge(job, checkpoint.consumed(job.source))
        assert (rows.missing, rows.repeated) == (0, 0)


def refused(job: drivers.Job, fake: agent.FakeAgent, who: str = "refused") -> str:
    """Why a job was refused at its gate, as its user reads it."""
    with drivers.Driver(job, who, fake.folder) as driver:
        return driver.end(120)


def test_a_query_that_no_restart_would_find_again_is_refused_before_its_first_batch(fake_agent, tmp_path):
    conf = {"spark.sql.streaming.checkpointLocation": str(tmp_path / "default")}
    job = drivers.Job(tmp_path / "job", named=False, checkpoint=None, conf=conf)
    assert "would start from scratch at every restart" in refused(job, fake_agent)
    assert drivers.sink_rows(job).got == 0
    # A name is enough: Spark makes it a folder of the default location.
    named = dataclasses.replace(job, out=tmp_path / "named", named=True)
    with drivers.Driver(named, "a", fake_agent.folder) as driver:
        driver.until(lambda: drivers.sink_rows(named).got > 0, 300)


STATE = "spark.sql.streaming.stateStore"
ROCKSDB = {f"{STATE}.providerClass": "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"}


@pytest.mark.matrix
def test_a_checkpoint_goes_on_in_the_state_format_it_has(fake_agent, tmp_path):
    job = drivers.Job(tmp_path / "job", state="aggregation", conf={**ROCKSDB, f"{STATE}.checkpointFormatVersion": "1"})
    last = -1
    for who, conf in (("before", job.conf), ("now", ROCKSDB)):
        with drivers.Driver(dataclasses.replace(job, conf=conf), who, fake_agent.folder) as driver:
            fake_agent.wait(at_least(last + 2), 300)
            fake_agent.order(drain={"id": who, "timeoutMs": 30_000, "stop": True})
            assert driver.end() == "ended"
        fake_agent.order(drain=None)
        last = drivers.last_ids(job.root())[1]
    commits = [(job.root() / "commits" / str(batch)).read_text() for batch in range(last + 1)]
    assert {text.split()[0] for text in commits} == {"v1"}


@pytest.mark.matrix
def test_a_batch_that_the_sink_has_but_no_commit_tells_of_is_gone_on_from(fake_agent, tmp_path):
    job = drivers.Job(tmp_path / "job", state="dedup", sink="file")
    last = -1
    for who in ("killed", "next"):
        with drivers.Driver(job, who, fake_agent.folder) as driver:
            fake_agent.wait(at_least(last + 3), 300)
            fake_agent.order(drain={"id": who, "timeoutMs": 30_000, "stop": True})
            assert driver.end() == "ended"
        fake_agent.order(drain=None)
        last = drivers.last_ids(job.root())[1]
        if who != "next":
            for name in (f"{last}", f".{last}.crc"):
                (job.root() / "commits" / name).unlink()
    rows = sinks.judge(job, storage.Checkpoint.of(job).consumed(job.source))
    assert (rows.missing, rows.repeated) == (0, 0)


@pytest.mark.matrix
def test_what_does_not_fit_the_checkpoint_is_refused_with_a_sentence_and_writes_nothing(fake_agent, tmp_path):
    job = drivers.Job(tmp_path / "job", state="aggregation")
    with drivers.Driver(job, "a", fake_agent.folder) as driver:
        fake_agent.wait(at_least(2), 300)
        fake_agent.order(drain={"id": "a", "timeoutMs": 30_000, "stop": True})
        assert driver.end() == "ended"
    fake_agent.order(drain=None)
    before = drivers.last_ids(job.root())
    sources = dataclasses.replace(job, state="join")
    assert "it has offsets of 1 sources, the query reads 2" in refused(sources, fake_agent)
    other = dataclasses.replace(job, source="rate")
    assert "from the sources [" in refused(other, fake_agent)
    partitions = dataclasses.replace(job, conf={"spark.sql.shuffle.partitions": "3"})
    assert "its state has 2 partitions, spark.sql.shuffle.partitions is 3" in refused(partitions, fake_agent)
    form = dataclasses.replace(job, conf={"spark.sql.streaming.stateStore.checkpointFormatVersion": "1"})
    assert "its state has format 2" in refused(form, fake_agent)
    operator = dataclasses.replace(job, state="dedup")
    assert "does not fit the state" in refused(operator, fake_agent)
    assert drivers.last_ids(job.root()) == before
