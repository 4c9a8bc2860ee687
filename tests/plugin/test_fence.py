"""A driver that stood still while another took over writes nothing more that anybody reads."""

import hashlib
import os
import pathlib
import signal

import pytest

from plugin import agent, drivers
from plugin.test_drain import at_least


def files(folder: pathlib.Path) -> dict[str, str]:
    """Every file below a folder, by content and time; a state's orphan tables are not part of what a reader finds."""
    found = {}
    for file in sorted(folder.rglob("*")):
        if file.is_file() and file.suffix not in (".crc", ".sst", ".tmp"):
            digest = hashlib.sha256(file.read_bytes()).hexdigest()[:8]
            found[str(file.relative_to(folder))] = f"{digest} {file.stat().st_mtime_ns}"
    return found


def test_a_driver_begins_no_batch_after_a_higher_epoch(fake_agent, tmp_path):
    job = drivers.Job(tmp_path / "job")
    with drivers.Driver(job, "a", fake_agent.folder) as driver:
        fake_agent.wait(at_least(1))
        higher = job.root() / "_sluice" / "epochs" / "99"
        higher.touch()
        assert "epoch 99 has taken the checkpoint" in driver.end()
    late = [file for file in job.root().rglob("*") if file.stat().st_mtime_ns > higher.stat().st_mtime_ns]
    assert [file for file in late if file.is_file() and file.suffix not in (".crc", ".tmp")] == []


@pytest.mark.matrix
@pytest.mark.parametrize("master", ["local[2]", "local-cluster[1,2,1024]"])
def test_a_frozen_driver_and_its_executors_change_nothing_after_a_higher_epoch(master, fake_agent, tmp_path):
    job = drivers.Job(tmp_path / "job", state="aggregation", sink_s=0.5, master=master)
    with agent.FakeAgent(tmp_path / "new-agent") as new_agent, drivers.Driver(job, "a", fake_agent.folder) as old:
        fake_agent.wait(at_least(3), 300)
        old.until(lambda: drivers.last_ids(job.root())[0] > drivers.last_ids(job.root())[1])
        frozen = old.jvms()
        for pid in frozen:
            os.kill(pid, signal.SIGSTOP)
        with drivers.Driver(job, "b", new_agent.folder) as new:
            new_agent.wait(at_least(drivers.last_ids(job.root())[1] + 4), 300)
            new_agent.order(drain={"id": "b", "timeoutMs": 30_000, "stop": True})
            assert new.end() == "ended"
        before = files(job.root())
        for pid in frozen:
            os.kill(pid, signal.SIGCONT)
        ending = old.end(120)
    assert ending.startswith("failed")
    assert files(job.root()) == before


@pytest.mark.matrix
def test_tasks_whose_state_was_loaded_at_the_gate_are_fenced_like_all_others(fake_agent, tmp_path):
    job = drivers.Job(tmp_path / "job", state="dedup", sink="file", row_ms=20, master="local-cluster[1,2,1024]")
    with agent.FakeAgent(tmp_path / "new-agent") as new_agent, drivers.Driver(job, "a", fake_agent.folder) as old:
        fake_agent.wait(at_least(2), 300)
        new_agent.order(gate={"open": False}, preload=True)
        with drivers.Driver(job, "b", new_agent.folder) as new:
            new_agent.wait(lambda state: "loaded 1 operators' state" in state["warmUp"], 300)
            fake_agent.order(drain={"id": "over", "timeoutMs": 60_000, "stop": True})
            assert old.end() == "ended"
            new_agent.order(gate={"open": True})
            new_agent.wait(at_least(drivers.last_ids(job.root())[1] + 2), 300)
            begun = drivers.last_ids(job.root())[0]
            new.until(lambda: drivers.last_ids(job.root())[0] > begun)
            higher = job.root() / "_sluice" / "epochs" / "99"
            higher.touch()
            assert new.end().startswith("failed")
            assert "epoch 99 has taken the checkpoint" in new.log.read_text()
    late = [file for file in (job.root() / "state").rglob("*") if file.stat().st_mtime > higher.stat().st_mtime]
    assert [file.name for file in late if file.is_file() and file.suffix not in (".crc", ".sst", ".tmp")] == []
