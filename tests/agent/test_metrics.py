"""What Prometheus gets: the sums, in the names of the README, without those who are gone."""

import json
import math
import re

import pytest
from prometheus_client import parser

from agent import loops, plugin
from house import paths
from sluice_agent import batches, board, heard, metrics, tally

JOB = {"streamjob_namespace": "shop", "streamjob": "clicks"}


@pytest.fixture
def now():
    return [1000.0]


@pytest.fixture
def sums(now):
    return tally.Tally(lambda: now[0])


@pytest.fixture
def states(now):
    return heard.Heard(lambda: now[0])


@pytest.fixture
def shown(sums, states):
    async def make():
        return metrics.Metrics(JOB, sums, states, board.Board(states.ring))

    with loops.Loop() as loop:
        found = loop.run(make())
        found.port = loop.serve(found.service)
        yield found


def samples(found):
    """By name and labels beside the job's."""
    return {
        (
            sample.name,
            *(f"{name}={value}" for name, value in sorted(sample.labels.items()) if name not in JOB),
        ): sample.value
        for family in parser.text_string_to_metric_families(found.text())
        for sample in family.samples
        if {name: sample.labels.get(name) for name in JOB} == JOB
    }


def test_a_batch_is_told_of_its_query_and_of_each_executor(sums, states, shown):
    states.take(heard.read(plugin.state()))
    sums.add(batches.read(plugin.batch(42)))
    sums.add(batches.read(plugin.batch(43, batchMs=700)))
    found = samples(shown)
    of_query = {
        name[0].removeprefix("sluice_query_"): value for name, value in found.items() if name[1:] == ("query=clicks",)
    }
    assert of_query == {
        "batches_total": 2, "rows_total": 400, "dropped_rows_total": 4, "measuring_seconds_total": 0.0014,
        "batch_id": 43, "input_rows_per_second": 200, "processed_rows_per_second": 870.5, "lag_records": 17,
        "watermark_delay_seconds": 1.5, "state_rows": 30, "state_bytes": 4096,
        "batch_seconds_sum": pytest.approx(0.93), "batch_seconds_count": 2,
    }  # fmt: skip
    of_executor = {
        name[0].removeprefix("sluice_executor_"): value
        for name, value in found.items()
        if name[1:] == ("executor=2", "query=clicks")
    }
    assert of_executor == {
        "tasks_total": 8, "failed_tasks_total": 0, "input_rows_total": 200, "input_bytes_total": 2000,
        "run_seconds_total": pytest.approx(0.8), "cpu_seconds_total": pytest.approx(0.6),
        "python_seconds_total": pytest.approx(0.1), "gc_seconds_total": pytest.approx(0.02),
        "lost_seconds_total": pytest.approx(0.06),
        "shuffle_local_bytes_total": 10, "shuffle_remote_bytes_total": 14, "shuffle_wait_seconds_total": 0.04,
        "shuffle_written_bytes_total": 24, "task_seconds_count": 8, "task_seconds_sum": pytest.approx(0.8, rel=0.06),
    }  # fmt: skip
    assert found["sluice_query_part_seconds_total", "part=addBatch", "query=clicks"] == pytest.approx(0.36)
    assert found["sluice_query_phase", "phase=running", "query=clicks"] == 1
    assert found["sluice_driver_phase", "phase=Running"] == 1


def test_a_histogram_counts_up_to_each_edge(sums, shown):
    for took_ms in (50, 51, 400_000):
        sums.add(batches.read(plugin.batch(batchMs=took_ms)))
    found = samples(shown)
    counts = {
        edge: found["sluice_query_batch_seconds_bucket", f"le={edge}", "query=clicks"]
        for edge in ("0.05", "0.1", "+Inf")
    }
    assert counts == {"0.05": 1, "0.1": 2, "+Inf": 3}


def executors(sums):
    return sorted(executor for _, executor in sums.parts)


def test_an_executor_that_is_gone_leaves_and_one_between_two_slow_batches_stays(now, sums):
    sums.add(batches.read(plugin.batch(executors={"1": plugin.work(), "2": plugin.work()})))
    now[0] += 3600
    assert executors(sums) == ["1", "2"]
    sums.add(batches.read(plugin.batch(executors={"1": plugin.work(), "3": plugin.work()})))
    assert executors(sums) == ["1", "3"]


def test_a_query_leaves_when_it_has_ended_and_takes_its_executors_along(now, sums, shown):
    sums.add(batches.read(plugin.batch()))
    now[0] += 301
    sums.keep(heard.read(plugin.state()))
    assert list(sums.queries) == ["clicks"]
    sums.keep(heard.read(plugin.state(queries=[plugin.query(phase="ended")])))
    assert (sums.queries, sums.parts) == ({}, {})
    assert not [name for name in samples(shown) if "query=clicks" in name]


def test_however_many_names_are_made_up_the_sums_stay_bounded(now, sums):
    for number in range(60):
        now[0] += 1
        work = {str(number * 100 + one): plugin.work() for one in range(100)}
        sums.add(batches.read(plugin.batch(name=f"q{number}", executors=work)))
    assert (len(sums.queries), len(sums.parts)) == (heard.MOST_QUERIES, tally.MOST_PARTS)
    assert ("q59", "5999") in sums.parts


def test_a_name_cannot_break_out_of_its_label(sums, shown):
    name = 'a"} 1\nfake{b="\\'
    sums.add(batches.read(plugin.batch(name=name)))
    assert samples(shown)["sluice_query_batches_total", f"query={name}"] == 1


@pytest.mark.parametrize("odd", ["\ud800", "é", "☃"])
def test_what_is_not_ascii_is_shown_or_replaced(sums, shown, odd):
    sums.add(batches.read(plugin.batch(name=odd)))
    shown.text().encode()


def test_what_spark_does_not_know_is_not_shown(sums, shown):
    bare = {"query": "q-1", "name": None, "batch": 0}
    sums.add(batches.read(bare))
    names = {name[0] for name in samples(shown)}
    assert not names & {name for name, _ in metrics.QUERY_GAUGES.values()}
    assert samples(shown)["sluice_query_batches_total", "query=q-1"] == 1


def test_a_clock_that_went_back_takes_nothing_from_a_sum(sums):
    sums.add(batches.read(plugin.batch(executors={"1": plugin.work(pythonMs=-5)}, watermarkDelayMs=-200)))
    assert sums.parts["clicks", "1"].sums["pythonMs"] == 0
    assert sums.queries["clicks"].last.gauges["delay"] == -0.2


def test_the_agent_tells_of_itself(now, states, shown):
    states.take(heard.read(plugin.state()))
    now[0] += 7
    found = samples(shown)
    assert found["sluice_agent_plugin_silent_seconds",] == 7
    assert 5e6 < found["process_resident_memory_bytes",] < 1e9
    assert math.isfinite(found["process_cpu_seconds_total",])


def test_every_metric_stands_in_the_readme_as_it_is():
    text = (paths.ROOT / "images/agent/README.md").read_text()
    documented = re.findall(r"^\| `(\w+)` \| (gauge|counter|histogram) \| (.+) \|$", text, re.MULTILINE)
    known = {name: ("gauge", about) for name, about in metrics.QUERY_GAUGES.values()}
    known |= {name: ("counter", about) for name, about in metrics.EXECUTOR_COUNTERS.values()} | metrics.OTHERS
    assert {name: (kind, about) for name, kind, about in documented} == known


@pytest.mark.parametrize(
    ("line", "status"),
    [
        ("GET /metrics HTTP/1.1", 200),
        ("GET /healthz HTTP/1.0", 200),
        ("GET / HTTP/1.1", 404),
        ("POST /metrics HTTP/1.1", 405),
    ],
)
def test_who_scrapes_gets_them_and_nobody_else_gets_anything(shown, line, status):
    answer = plugin.raw(shown.port, f"{line}\r\nHost: x\r\n\r\n".encode())
    assert answer.startswith(f"HTTP/1.1 {status} ".encode())


def test_traffic_is_told_in_exact_pairs_over_the_last_batches(shown, sums):
    for number in range(120):
        sums.add(batches.read(plugin.batch(number)))
    found = json.loads(plugin.raw(shown.port, b"GET /v1/traffic HTTP/1.1\r\n\r\n").partition(b"\r\n\r\n")[2])
    told = found["queries"]["clicks"]
    assert (told["batches"], told["pairs"]) == (70, {"1": {"2": 70 * 7}})
    assert told["executors"]["1"] == {"runMs": 70 * 400, "rows": 70 * 100}
    assert told["batchMs"] == pytest.approx([230.0, 230.0])


def test_a_query_that_is_gone_sends_nothing(sums, now):
    sums.add(batches.read(plugin.batch()))
    now[0] += 301.0
    sums.keep(heard.read(plugin.state(queries=[])))
    assert sums.traffic.document("")["queries"] == {}
