"""Limits, freezing and accounting on both kinds of cgroups; a folder plays the kernel."""

import pytest

from testbed import cgroups


@pytest.fixture
def v1(tmp_path, monkeypatch):
    """Separate hierarchies, with a group `sluice/node1` in each."""
    monkeypatch.setattr(cgroups, "ROOT", tmp_path)
    for name in ("cpu", "cpuacct", "cpuset", "memory", "pids", "freezer", "unified"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "cgroup.procs").touch()
    for name in ("cpuset.cpus", "cpuset.mems"):
        (tmp_path / "cpuset" / name).write_text("0-1\n")
    return tmp_path


@pytest.fixture
def v2(tmp_path, monkeypatch):
    """The one hierarchy."""
    monkeypatch.setattr(cgroups, "ROOT", tmp_path)
    (tmp_path / "cgroup.controllers").write_text("cpuset cpu io memory pids\n")
    (tmp_path / "cgroup.subtree_control").touch()
    return tmp_path


def test_on_v1_a_group_is_made_in_every_hierarchy_but_the_unified_one(v1):
    cgroups.make("node1/system")
    names = sorted(file.relative_to(v1).parts[0] for file in cgroups.entry_files("node1/system"))
    assert names == ["cpu", "cpuacct", "cpuset", "freezer", "memory", "pids"]
    assert all(file.parent.is_dir() for file in cgroups.entry_files("node1/system"))
    assert not (v1 / "unified" / "sluice").exists()


def test_on_v2_each_level_hands_its_controllers_down(v2):
    cgroups.make("node1/system")
    assert (v2 / "sluice" / "node1" / "system").is_dir()
    for level in (v2, v2 / "sluice", v2 / "sluice" / "node1"):
        assert (level / "cgroup.subtree_control").read_text() == "+cpu +cpuset +memory +pids"


@pytest.mark.parametrize(("cores", "written"), [(0.2, "4000"), (1.5, "30000"), (0.0001, "1000"), (None, "-1")])
def test_on_v1_a_limit_is_a_quota_of_a_short_period(v1, cores, written):
    (v1 / "cpu" / "sluice" / "node1").mkdir(parents=True)
    cgroups.limit_cpu("node1", cores)
    assert (v1 / "cpu" / "sluice" / "node1" / "cpu.cfs_quota_us").read_text() == written
    assert (v1 / "cpu" / "sluice" / "node1" / "cpu.cfs_period_us").read_text() == "20000"


@pytest.mark.parametrize(("cores", "written"), [(0.2, "4000 20000"), (None, "max 20000")])
def test_on_v2_a_limit_is_one_line(v2, cores, written):
    (v2 / "sluice" / "node1").mkdir(parents=True)
    cgroups.limit_cpu("node1", cores)
    assert (v2 / "sluice" / "node1" / "cpu.max").read_text() == written
    assert cgroups.cpu_limit("node1") == cores


def test_processes_are_those_of_a_group_and_below_it_each_once(v1):
    for hierarchy in ("cpu", "memory"):
        inner = v1 / hierarchy / "sluice" / "node1" / "kubepods"
        inner.mkdir(parents=True)
        (inner / "cgroup.procs").write_text("12\n7\n")
        (inner.parent / "cgroup.procs").write_text("3\n")
    assert cgroups.processes("node1") == [3, 7, 12]
    assert cgroups.processes("node2") == []


@pytest.mark.usefixtures("v1")
def test_a_group_is_there_once_it_was_made():
    assert not cgroups.exists("node1/kubepods")
    for file in cgroups.entry_files("node1/kubepods"):
        file.parent.mkdir(parents=True)
        assert not cgroups.exists("node1/kubepods")
        file.write_text("")
    assert cgroups.exists("node1/kubepods")


def test_missing_controllers_are_named(v1, v2):
    (v2 / "cgroup.controllers").write_text("cpu memory\n")
    assert cgroups.missing() == ["cpuset", "pids"]
    (v2 / "cgroup.controllers").unlink()
    assert cgroups.missing() == []
    (v1 / "pids" / "cgroup.procs").unlink()
    assert cgroups.missing() == ["pids"]
