"""How the bench of rebalancing judges beside the papers: bursts, percentiles, Lever's parts, what tasks did."""

import functools
import statistics

import pytest

from bench import (
    rebalance_lever_burst,
    rebalance_lever_parts,
    rebalance_lever_tables,
    rebalance_table3,
    rebalance_tasks,
)

QUIET, SETTLED = [1.0] * 20, [2.0] * 20


def test_bursts_are_the_second_half_of_each_turn():
    one, other = [3.0] * 20, [4.0] * 20
    assert rebalance_lever_burst.bursts([*QUIET, *one, *QUIET, *other]) == [one, other]
    assert rebalance_lever_burst.bursts([*QUIET, *one, *QUIET, 4.0]) == [one]
    assert rebalance_lever_burst.bursts(QUIET) == []


@pytest.mark.parametrize(
    ("begins", "batches"),
    [
        ([], 0),
        ([4.0], 1),
        ([4.0, 3.1, 2.4, 2.1], 3),
        ([2.1, 4.0, 4.0, 4.0], 4),  # one near batch among others is luck
        ([4.0, 2.1, 4.0], 1),  # one late batch among near ones is noise
    ],
)
def test_a_burst_is_over_with_the_first_batch_that_is_near_and_followed_by_others(begins, batches):
    assert rebalance_lever_burst.until_near([*begins, *SETTLED][:20]) == batches


def test_a_burst_that_never_settles_counts_whole():
    falling = [float(20 - at) for at in range(20)]
    assert rebalance_lever_burst.until_near(falling) > 10


@pytest.mark.parametrize(("percent", "value"), [(50.0, 500), (90.0, 900), (99.0, 990), (99.9, 999), (100.0, 1000)])
def test_a_percentile_is_the_least_value_that_so_many_do_not_exceed(percent, value):
    assert rebalance_table3.at(list(range(1000, 0, -1)), percent) == value


def test_the_last_percentile_of_few_values_is_the_largest():
    assert rebalance_table3.at([3.0, 1.0, 2.0], 99.9) == 3.0
    assert rebalance_table3.at([3.0], 0.1) == 3.0


def scan(batch, executor, rows, run_s, locality="PROCESS_LOCAL", waited_s=0.0):
    task = {"batch": batch, "executor": executor, "rows": rows, "run_s": run_s}
    return {**task, "locality": locality, "waited_s": waited_s}


def test_speeds_are_of_batches_in_which_everybody_worked():
    both = [scan(1, "1", 100, 1.0), scan(1, "2", 100, 4.0), scan(1, "2", 100, 1.0)]
    assert rebalance_lever_parts.speeds([*both, scan(2, "1", 100, 1.0)]) == [{"1": 100.0, "2": 40.0}]


SPEEDS = [{"1": 40_000.0, "2": 40_000.0, "3": 18_000.0}] * 12


def mean_s(step):
    return statistics.mean(rebalance_lever_parts.replay(SPEEDS, step, rows=98_000)[1:])


def test_each_part_of_lever_makes_batches_shorter_and_ours_takes_all_there_is():
    parts = rebalance_lever_parts
    quarter = functools.partial(parts.predicted, given=0.25)
    even_s, quarter_s, learned_s, reassigned_s = map(mean_s, (parts.even, quarter, parts.learned, parts.reassigned))
    assert even_s == pytest.approx(98_000 / 3 / 18_000, rel=0.01)
    assert quarter_s == pytest.approx(0.75 * even_s, rel=0.01)
    assert reassigned_s < learned_s < even_s
    assert mean_s(parts.ours) == pytest.approx(1.0, rel=0.01)


def test_the_table_of_parts_has_a_row_for_each():
    scans = [scan(n, name, 1000, 1000 / speed) for n in range(30) for name, speed in SPEEDS[0].items()]
    found = rebalance_lever_parts.table(scans)
    names = ["prediction", "prediction, a larger guess", "with learning", "with reassignment", "Sluice's"]
    assert [row[0] for row in found.rows] == names
    assert "25 batches" in found.title


def sums(**run_s):
    executors = {name[1:]: {"rows": 1.0, "run_s": ran, "lost_s": 0.5, "cpu_s": ran / 2} for name, ran in run_s.items()}
    return {"batches": 10.0, "add_s": 10.0, "executors": executors}


def test_who_has_no_task_is_idle_and_who_is_beaten_is_not():
    found = sums(_1=4.5, _2=9.5)
    assert rebalance_tasks.idle(found, "1") == pytest.approx(0.5)
    assert rebalance_tasks.idle(found, "2") == pytest.approx(0.0)
    assert rebalance_tasks.idle(found, "3") == 1.0
    assert rebalance_tasks.used(found) == pytest.approx(0.7)
    assert rebalance_tasks.busy_cores(found) == pytest.approx(0.7)
    assert rebalance_tasks.ran_s(found) == pytest.approx(1.5)


def stage(said, **task):
    metrics = {"executorRunTime": 1500, "inputMetrics": {"bytesRead": 0, "recordsRead": 7}}
    usual = {
        "executorId": "2", "status": "SUCCESS", "taskLocality": "ANY", "launchTime": "2026-11-19T10:00:01.250GMT",
        "taskMetrics": metrics,
    }  # fmt: skip
    return {"description": said, "submissionTime": "2026-11-19T10:00:01.000GMT", "tasks": {"0": {**usual, **task}}}


SAID = "wordcount stock\nid = 1\nrunId = 2\nbatch = 34"


def test_tasks_are_read_from_sparks_pages_by_the_name_of_their_query():
    wanted = scan(34, "2", 7, 1.5, "ANY", 0.25)
    assert list(rebalance_tasks.read([stage(SAID)], "wordcount stock")) == [wanted]
    assert list(rebalance_tasks.read([stage(SAID)], "wordcount")) == []


@pytest.mark.parametrize(
    "other",
    [
        stage(None),
        stage("something of the user's"),
        stage(SAID, status="KILLED"),
        stage(SAID, taskMetrics=None),
        stage(SAID, taskMetrics={"executorRunTime": 1, "inputMetrics": {"recordsRead": 0}}),
    ],
)
def test_what_read_no_input_of_a_batch_is_left_out(other):
    assert list(rebalance_tasks.read([other], "wordcount stock")) == []


def test_tasks_that_are_elsewhere_or_wait_long_are_counted():
    scans = [scan(1, "1", 1, 1.0), scan(1, "2", 1, 1.0, "ANY"), scan(1, "3", 1, 1.0, waited_s=1.6)]
    assert rebalance_lever_tables.placed(scans) == (pytest.approx(2 / 3), pytest.approx(1 / 3))


def test_the_tables_of_workloads_say_for_each_what_the_paper_has():
    ways = [f"{kind} {how}" for kind in rebalance_lever_tables.KINDS for how in ("stock", "lever")]
    ways += ["wordcount speculation", "wordcount lever and speculation"]
    found = {
        "took_s": {way: [1.0 if "lever" in way else 2.0] for way in ways},
        "sums": {way: sums(_1=4.5, _2=4.5, _3=9.5) for way in ways},
        "scans": {way: [scan(1, "1", 1, 1.0)] for way in ways},
        "nodes": {"1": "node2", "2": "node1", "3": "node3"},
        "order": ["node1", "node2", "node3"],
    }
    workloads, speculation, idle, locality = rebalance_lever_tables.tables(90_000, found, found)
    assert [row[0] for row in workloads.rows] == list(rebalance_lever_tables.KINDS)
    assert {row[4] for row in workloads.rows} == {"50.0 %"}
    assert (len(speculation.rows), len(idle.rows), len(locality.rows)) == (8, 6, 8)
    for one in (workloads, speculation, idle, locality):
        assert {len(row) for row in one.rows} == {len(one.header)}
