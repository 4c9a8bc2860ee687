"""The judge of the bench finds one row lost and one row repeated, whatever the state and the sink."""

import json

import pytest

from plugin import drivers, sinks

IDS = set(range(400))
COUNTS = [(key, n, 20 * (n - 1) + key) for n in range(1, 21) for key in range(20)]
WINDOWS = [(start, 50, 50 * start, 50 * start + 49) for start in range(8)]
RIGHT = {
    "none": [(id_,) for id_ in IDS],
    "join": [(id_,) for id_ in IDS],
    "dedup": [(id_,) for id_ in range(100)],
    "aggregation": COUNTS,
    "transformWithState": COUNTS,
}


def judged(tmp_path, state, rows, sink="foreachBatch"):
    job = drivers.Job(tmp_path / "job", state=state, sink=sink)
    folder = job.out / "files0" / "_spark_metadata"
    folder.mkdir(parents=True)
    if sink == "file":
        names = ("start", "n", "least", "most")
        lines = [json.dumps(dict(zip(names, row, strict=True))) for row in rows]
        (job.out / "part.json").write_text("\n".join(lines))
        (folder / "0").write_text("v1\n" + json.dumps({"path": f"file://{job.out}/part.json"}))
    else:
        (job.out / "sink0.jsonl").write_text(json.dumps({"batch": 0, "rows": rows}) + "\n")
    found = sinks.judge(job, IDS)
    return found.missing, found.repeated


@pytest.mark.parametrize("state", RIGHT)
def test_each_row_once_is_right_and_one_lost_or_repeated_is_not(state, tmp_path):
    rows = RIGHT[state]
    assert judged(tmp_path / "right", state, rows) == (0, 0)
    assert judged(tmp_path / "lost", state, rows[:-1]) == (1, 0)
    assert judged(tmp_path / "repeated", state, [*rows, rows[-1]]) == (0, 1)


def test_a_row_that_no_committed_batch_has_read_is_one_too_many(tmp_path):
    assert judged(tmp_path, "none", [*RIGHT["none"], (400,)]) == (0, 1)


@pytest.mark.parametrize(("state", "last"), [("none", 399), ("dedup", 99)])
def test_rows_have_left_a_batch_that_runs_when_some_are_of_no_committed_one(state, last, tmp_path):
    job = drivers.Job(tmp_path, state=state, sink="lines")
    (tmp_path / "lines0-a.0").write_text(f"0\n{last}\n")
    assert not sinks.is_ahead(job, IDS)
    (tmp_path / "lines0-a.1").write_text(f"{last + 1}\n")
    assert sinks.is_ahead(job, IDS)


def test_windows_that_miss_a_row_inside_or_between_them_or_count_one_twice_are_wrong(tmp_path):
    def windows(n, row):
        return judged(tmp_path / str(n), "aggregation", [*WINDOWS[:4], row, *WINDOWS[5:]], "file")

    assert windows(0, WINDOWS[4]) == (0, 0)
    assert windows(1, (4, 49, 200, 249)) == (1, 0)
    assert windows(2, (4, 49, 201, 249)) == (1, 0)
    assert windows(3, (4, 51, 200, 249)) == (0, 1)
    assert judged(tmp_path / "twice", "aggregation", [*WINDOWS, WINDOWS[4]], "file") == (0, 1)
