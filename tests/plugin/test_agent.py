"""Plugin and agent beside each other: a job on a real Spark, steered by status.orders on a fake API server."""

import signal

import pytest

from agent import fake_api
from plugin import beside, drivers

pytestmark = pytest.mark.timeout(400)


@pytest.fixture
def api():
    with fake_api.serving() as fake:
        yield fake


@pytest.fixture
def folder(tmp_path):
    return beside.folder(tmp_path / "shared")


def test_a_job_waits_runs_while_its_agent_is_dead_or_frozen_and_drains_as_the_streamjob_says(api, folder, tmp_path):
    beside.order(api, 1, gate={"open": False})
    agent = beside.start(api, folder)
    with drivers.Driver(drivers.Job(tmp_path / "job"), "a", folder) as driver:
        driver.until(
            lambda: api.said_by(beside.POD).get("phase") == "Waiting" and api.said_by(beside.POD)["order"] == 1
        )
        beside.order(api, 2, gate={"open": True})
        driver.until(lambda: api.said_by(beside.POD)["phase"] == "Running" and api.said_by(beside.POD)["order"] == 2)
        assert api.lease["spec"]["holderIdentity"] == f"{beside.POD}_u-1"
        driver.until(lambda: committed(driver) > 2)
        beside.kill(agent)
        agent = beside.start(api, folder)
        goes_on(driver)
        agent.send_signal(signal.SIGSTOP)
        goes_on(driver)
        agent.send_signal(signal.SIGCONT)
        beside.order(api, 3, gate={"open": True}, drain={"id": "d-1", "timeoutMs": 60_000, "stop": True})
        driver.until(
            lambda: api.said_by(beside.POD)["phase"] in ("Quiet", "Stopped") and api.said_by(beside.POD)["order"] == 3
        )
        driver.end()
    beside.kill(agent)
    said = api.said_by(beside.POD)["queries"][0]
    assert (said["committed"], said["inFlight"]) == (committed(driver), -1)
    assert (api.lease["spec"]["leaseTransitions"], api.said_by(beside.POD)["refused"]) == (1, "")


def goes_on(driver: drivers.Driver) -> None:
    """Batches are committed, whatever the agent does."""
    before = committed(driver)
    driver.until(lambda: committed(driver) > before + 2)


def committed(driver: drivers.Driver) -> int:
    """The last batch on storage."""
    found = (driver.job.root() / "commits").glob("[0-9]*")
    return max((int(file.name) for file in found), default=-1)
