"""Plugin and agent beside each other: a job on a real Spark, steered by status.orders on a fake API server."""

import pathlib
import signal

import pytest

from agent import fake_api, processes, waiting
from plugin import drivers

POD, ADDRESS = "clicks-5f3a9c-1", "127.76.65.54"
pytestmark = pytest.mark.timeout(400)


@pytest.fixture
def api():
    with fake_api.serving() as fake:
        yield fake


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "seed.json").write_text("{}")
    (tmp_path / "agent").mkdir()
    return tmp_path / "agent"


def beside(api, folder: pathlib.Path):
    return processes.start(
        api.url, folder.parent, SLUICE_POD=POD, SLUICE_POD_UID="u-1", SLUICE_POD_IP=ADDRESS,
        SLUICE_AGENT_DIR=str(folder), SLUICE_EXECUTOR_TEMPLATE=str(folder.parent / "seed.json"),
    )  # fmt: skip


def order(api, serial, **ours):
    api.order({"version": 1, "serial": serial, "drivers": {POD: ours}})


def stopped(process):
    process.kill()
    process.communicate()


def test_a_job_waits_runs_while_its_agent_is_dead_or_frozen_and_drains_as_the_streamjob_says(api, folder, tmp_path):
    order(api, 1, gate={"open": False})
    agent = beside(api, folder)
    waiting.until((folder / "port").exists)
    with drivers.Driver(drivers.Job(tmp_path / "job"), "a", folder) as driver:
        driver.until(lambda: api.said_by(POD).get("phase") == "Waiting" and api.said_by(POD)["order"] == 1)
        order(api, 2, gate={"open": True})
        driver.until(lambda: api.said_by(POD)["phase"] == "Running" and api.said_by(POD)["order"] == 2)
        assert api.lease["spec"]["holderIdentity"] == f"{POD}_u-1"
        driver.until(lambda: committed(driver) > 2)
        stopped(agent)
        agent = beside(api, folder)
        goes_on(driver)
        agent.send_signal(signal.SIGSTOP)
        goes_on(driver)
        agent.send_signal(signal.SIGCONT)
        order(api, 3, gate={"open": True}, drain={"id": "d-1", "timeoutMs": 60_000, "stop": True})
        driver.until(lambda: api.said_by(POD)["phase"] in ("Quiet", "Stopped") and api.said_by(POD)["order"] == 3)
        driver.end()
    stopped(agent)
    said = api.said_by(POD)["queries"][0]
    assert (said["committed"], said["inFlight"]) == (committed(driver), -1)
    assert (api.lease["spec"]["leaseTransitions"], api.said_by(POD)["refused"]) == (1, "")


def goes_on(driver: drivers.Driver) -> None:
    """Batches are committed, whatever the agent does."""
    before = committed(driver)
    driver.until(lambda: committed(driver) > before + 2)


def committed(driver: drivers.Driver) -> int:
    """The last batch on storage."""
    found = (driver.job.root() / "commits").glob("[0-9]*")
    return max((int(file.name) for file in found), default=-1)
