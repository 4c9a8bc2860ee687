"""A drain ends the batch in flight and begins no other; the next driver goes on as if nothing had been."""

import dataclasses
import os
import random
import signal
import time

import pytest

from plugin import agent, drivers

SMALLEST = {"source": "tick", "sink": "foreachBatch", "state": "none"}
PAIRS = [
    pytest.param(SMALLEST),
    *(
        pytest.param(kinds, marks=pytest.mark.matrix)
        for kinds in (
            {"source": "rate", "sink": "file", "state": "none"},
            {"source": "tick", "sink": "file", "state": "dedup"},
            {"source": "tick", "sink": "foreachBatch", "state": "join"},
        )
    ),
]


def committed(state: agent.Document) -> list[int]:
    """The last committed batch of every query that has come to its gate."""
    return [query["committed"] for query in state["queries"]]


def at_least(batch: int):
    return lambda state: state["queries"] and min(committed(state)) >= batch


def a_random_moment() -> None:
    time.sleep(random.random() * 0.5)


def assert_at_rest(job: drivers.Job) -> None:
    for query in range(job.queries):
        begun, ended = drivers.last_ids(job.root(query))
        assert begun == ended


@pytest.mark.parametrize("kinds", PAIRS, ids=lambda kinds: "-".join(kinds.values()))
def test_drivers_drained_one_after_another_lose_and_repeat_nothing(kinds, fake_agent, tmp_path):
    job = drivers.Job(tmp_path / "job", **kinds)
    last = -1
    for who in "ab":
        with drivers.Driver(job, who, fake_agent.folder) as driver:
            fake_agent.wait(at_least(last + 3), 300)
            a_random_moment()
            fake_agent.order(drain={"id": who, "timeoutMs": 30_000, "stop": True})
            assert driver.end() == "ended"
        fake_agent.order(drain=None)
        assert_at_rest(job)
        last = drivers.last_ids(job.root())[1]
    rows = drivers.sink_rows(job)
    assert (rows.missing, rows.repeated) == (0, 0)
    assert rows.got > 0


@pytest.mark.matrix
def test_an_aggregation_counts_every_row_once_across_drains(fake_agent, tmp_path):
    job = drivers.Job(tmp_path / "job", state="aggregation")
    last = -1
    for who in "ab":
        with drivers.Driver(job, who, fake_agent.folder) as driver:
            fake_agent.wait(at_least(last + 3), 300)
            fake_agent.order(drain={"id": who, "timeoutMs": 30_000, "stop": True})
            assert driver.end() == "ended"
        fake_agent.order(drain=None)
        assert_at_rest(job)
        last = drivers.last_ids(job.root())[1]
    counts = {key: (n, most) for call in drivers.calls(job.out) for key, n, most in call["rows"]}
    top = max(most for _, most in counts.values())
    expected = {key: range(key, top + 1, 20) for key in range(20)}
    assert counts == {key: (len(rows), rows[-1]) for key, rows in expected.items()}
    # A new checkpoint has the state format whose files a late writer cannot overwrite.
    assert (job.root() / "commits" / "0").read_text().startswith("v2")


def test_sigterm_drains_within_the_pods_grace_period(fake_agent, tmp_path):
    job = drivers.Job(tmp_path / "job", sink_s=0.5)
    with drivers.Driver(job, "a", fake_agent.folder) as driver:
        fake_agent.wait(at_least(3), 300)
        a_random_moment()
        os.kill(driver.jvm(), signal.SIGTERM)
        driver.end()
    assert_at_rest(job)
    rows = drivers.sink_rows(job)
    assert (rows.missing, rows.repeated) == (0, 0)
    # The Python program ends before its JVM does, and that has the last word.
    fake_agent.wait(lambda state: state["drain"]["state"] == "stopped")


@pytest.mark.matrix
def test_one_driver_drains_and_goes_on_again_and_again(fake_agent, tmp_path):
    job = drivers.Job(tmp_path / "job", queries=2)
    quiet_ms = []
    with drivers.Driver(job, "a", fake_agent.folder):
        fake_agent.wait(lambda state: len(state["queries"]) == 2 and min(committed(state)) >= 2, 300)
        for n in range(10):
            a_random_moment()
            began_s = time.monotonic()
            fake_agent.order(drain={"id": f"d{n}", "timeoutMs": 30_000, "stop": False})
            before = fake_agent.wait(
                lambda state, n=n: state["drain"] == {"id": f"d{n}", "state": "quiet", "problem": ""}
            )
            quiet_ms.append((time.monotonic() - began_s) * 1000)
            assert_at_rest(job)
            fake_agent.order(drain=None)
            fake_agent.wait(at_least(max(committed(before)) + 1))
        fake_agent.order(drain={"id": "last", "timeoutMs": 30_000, "stop": True})
        fake_agent.wait(lambda state: state["drain"]["state"] == "stopped")
    print(f"ms to quiet: {sorted(round(ms) for ms in quiet_ms)}")
    for query in range(2):
        rows = drivers.sink_rows(job, query)
        assert (rows.missing, rows.repeated) == (0, 0)


def test_a_drain_that_times_out_leaves_the_job_running_and_says_which_batch(fake_agent, tmp_path):
    job = drivers.Job(tmp_path / "job", sink_s=3.0)
    with drivers.Driver(job, "a", fake_agent.folder):
        fake_agent.wait(lambda state: any(query["inFlight"] >= 1 for query in state["queries"]), 300)
        fake_agent.order(drain={"id": "short", "timeoutMs": 100, "stop": True})
        state = fake_agent.wait(lambda state: state["drain"]["state"] == "timed-out")
        assert "of query 'q0' was still running when the time was up" in state["drain"]["problem"]
        fake_agent.wait(at_least(max(committed(state)) + 2))


def test_a_query_without_data_is_quiet_at_once(fake_agent, tmp_path):
    job = drivers.Job(tmp_path / "job", most=50)
    with drivers.Driver(job, "a", fake_agent.folder) as driver:
        driver.until(lambda: drivers.sink_rows(job).got == 50, 300)
        fake_agent.order(drain={"id": "idle", "timeoutMs": 5_000, "stop": True})
        assert driver.end() == "ended"
    assert_at_rest(job)


@pytest.mark.matrix
def test_a_real_time_query_that_was_parked_for_long_stops_as_cleanly(fake_agent, tmp_path):
    job = drivers.Job(tmp_path / "job", sink="lines", master="local[4]", real_time="5 seconds")
    with drivers.Driver(job, "a", fake_agent.folder) as driver:
        fake_agent.wait(at_least(0), 300)
        fake_agent.order(drain={"id": "long", "timeoutMs": 30_000, "stop": False})
        fake_agent.wait(lambda state: state["drain"]["state"] == "quiet")
        time.sleep(5)  # the empty batches that Spark still runs fill the queue to the thread that writes their log
        fake_agent.order(drain={"id": "long", "timeoutMs": 30_000, "stop": True})
        assert driver.end() == "ended"
    assert_at_rest(job)


def test_a_real_time_batch_is_ended_though_one_of_its_partitions_has_no_rows(fake_agent, tmp_path):
    job = drivers.Job(tmp_path / "job", sink="lines", master="local[4]", real_time="60 seconds", idle=1)
    for who in "ab":
        with drivers.Driver(job, who, fake_agent.folder) as driver:
            got = drivers.sink_rows(job).got
            driver.until(lambda got=got: drivers.sink_rows(job).got > got + 300, 300)
            began_s = time.monotonic()
            fake_agent.order(drain={"id": who, "timeoutMs": 30_000, "stop": True})
            fake_agent.wait(lambda state: state["drain"]["state"] in ("quiet", "stopped"))
            assert time.monotonic() - began_s < 10, "the batch went on to its own end"
            assert driver.end() == "ended"
        fake_agent.order(drain=None)
        assert_at_rest(job)
    rows = drivers.sink_rows(job)
    assert (rows.missing, rows.repeated) == (0, 0)
    assert dataclasses.astuple(rows)[0] > 600


@pytest.mark.matrix
def test_a_real_time_query_drains_though_an_executor_reads_nothing(fake_agent, tmp_path):
    # One slot each: one executor reads, one has only the shuffle's end and the sink, one has nothing to do.
    cluster = {"master": "local-cluster[3,1,1024]", "partitions": 1, "state": "shuffled"}
    job = drivers.Job(tmp_path / "job", sink="lines", real_time="15 seconds", **cluster)
    with drivers.Driver(job, "a", fake_agent.folder) as driver:
        driver.until(lambda: drivers.sink_rows(job).got > 300, 300)
        began_s = time.monotonic()
        fake_agent.order(drain={"id": "a", "timeoutMs": 10_000, "stop": False})
        state = fake_agent.wait(lambda state: state["drain"]["state"] in ("quiet", "timed-out"))
        print(f"{state['drain']} after {time.monotonic() - began_s:.1f} s")
        assert state["drain"]["state"] == "quiet", state["drain"]
        fake_agent.order(drain=None)
        got = drivers.sink_rows(job).got
        driver.until(lambda: drivers.sink_rows(job).got > got + 300, 60)
        fake_agent.order(drain={"id": "b", "timeoutMs": 10_000, "stop": True})
        assert driver.end() == "ended"
    assert_at_rest(job)
    rows = drivers.sink_rows(job)
    assert (rows.missing, rows.repeated) == (0, 0)
