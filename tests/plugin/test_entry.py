"""Only `spark.jars` and `spark.plugins` are set; what Spark is not as expected stays plain, and is said."""

import pytest

from plugin import drivers
from plugin.test_drain import at_least

OTHER_MANAGER = "org.apache.spark.sql.execution.streaming.checkpointing.FileSystemBasedCheckpointFileManager"


def test_without_an_agent_a_job_runs_and_is_fenced_all_the_same(tmp_path):
    job = drivers.Job(tmp_path / "job")
    with drivers.Driver(job, "a", None) as driver:
        driver.until(lambda: drivers.last_ids(job.root())[1] >= 2, 300)
    assert [file.name for file in (job.root() / "_sluice" / "epochs").iterdir()] == ["1"]


@pytest.mark.parametrize("only_managed", [True, pytest.param(False, marks=pytest.mark.matrix)])
def test_where_spark_is_not_as_expected_a_driver_stays_plain_and_one_beside_another_ends(
    only_managed, fake_agent, tmp_path
):
    folder = tmp_path / "shadow" / "dev" / "sluice" / "entry"
    folder.mkdir(parents=True)
    (folder / "shapes.txt").write_text("org.apache.spark.Elsewhere\n")
    conf = {"spark.driver.extraClassPath": str(tmp_path / "shadow")}
    env = {"SLUICE_ONLY_MANAGED": "true"} if only_managed else {}
    job = drivers.Job(tmp_path / "job", conf=conf, env=env)
    with drivers.Driver(job, "a", fake_agent.folder) as driver:
        if only_managed:
            assert driver.end() == "no ending, exit 1"
        else:
            driver.until(lambda: drivers.last_ids(job.root())[1] >= 0)
    end = "this driver, which would write beside another one, ends" if only_managed else "this job runs as plain Spark"
    why = f"this Spark 4.3.0 has no org.apache.spark.Elsewhere, which Sluice builds on, so {end}"
    assert fake_agent.unmanaged == [why]
    assert why in driver.log.read_text()
    assert (job.root() / "_sluice").exists() is False


@pytest.mark.matrix
def test_user_code_that_replaces_the_file_manager_is_noticed_at_its_queries_start(fake_agent, tmp_path):
    job = drivers.Job(tmp_path / "job", replaced_manager=OTHER_MANAGER, queries=2, roles=("fails", "idle"))
    with drivers.Driver(job, "a", fake_agent.folder):
        state = fake_agent.wait(lambda state: len(state["unprotected"]) == 2)
        fake_agent.wait(lambda state: len(state["unprotected"]) == 1)  # until they end
    assert all("does not go through Sluice's file manager" in why for why in state["unprotected"].values())


def test_a_query_that_would_pass_by_a_closed_gate_is_not_started(fake_agent, tmp_path):
    fake_agent.order(gate={"open": False})
    job = drivers.Job(tmp_path / "job", replaced_manager=OTHER_MANAGER)
    with drivers.Driver(job, "a", fake_agent.folder) as driver:
        assert "does not go through Sluice's file manager" in driver.end()
        said = fake_agent.state
    (query,) = said["queries"]
    assert (query["phase"], query["committed"], said["unprotected"]) == ("ended", -1, {})
    assert "another driver may still run" in query["problem"]
    assert drivers.ids(job.root() / "offsets") == []


@pytest.mark.matrix
def test_the_users_own_file_manager_stays_in_use_as_the_delegate(fake_agent, tmp_path):
    # Hadoop's FileSystem, unlike FileContext as Spark sets it, leaves a checksum beside each file.
    job = drivers.Job(tmp_path / "job", conf={"spark.sql.streaming.checkpointFileManagerClass": OTHER_MANAGER})
    with drivers.Driver(job, "a", fake_agent.folder):
        state = fake_agent.wait(at_least(1), 300)
    assert state["unprotected"] == {}
    assert (job.root() / "offsets" / ".0.crc").exists()


def test_an_agent_that_talks_nonsense_is_refused_and_costs_the_job_nothing(fake_agent, tmp_path):
    job = drivers.Job(tmp_path / "job")
    with drivers.Driver(job, "a", fake_agent.folder):
        fake_agent.wait(at_least(1), 300)
        fake_agent.order(drain={"id": "a b", "timeoutMs": 1})
        state = fake_agent.wait(lambda state: state["refusedOrders"])
        assert state["refusedOrders"] == (
            "orders: drain.id is 'a b', allowed is 1 to 64 letters, digits, '.', '_' or '-'"
        )
        fake_agent.order(drain=None, version=2)
        state = fake_agent.wait(lambda state: "version" in state["refusedOrders"])
        assert state["refusedOrders"] == "the agent's answer has version '2', this plugin reads 1"
        fake_agent.wait(at_least(max(query["committed"] for query in state["queries"]) + 3))


def test_the_users_own_plugin_and_extension_go_on_working_beside_ours(fake_agent, tmp_path):
    own = "dev.sluice.testing.UsersOwn"
    conf = {"spark.plugins": f"{own},{drivers.PLUGIN['spark.plugins']}", "spark.sql.extensions": own}
    job = drivers.Job(tmp_path / "job", state="aggregation", key="users_own() + id % 20", conf=conf)
    with drivers.Driver(job, "a", fake_agent.folder):
        state = fake_agent.wait(at_least(1), 300)
    assert state["queries"][0]["epoch"] == 1
    assert {row[0] for call in drivers.calls(job.out) for row in call["rows"]} <= set(range(1000, 1020))
