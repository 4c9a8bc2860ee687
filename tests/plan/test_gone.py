"""What is left of a deleted StreamJob goes in order: the driver, then its executors, then the Lease."""

import dataclasses

import pytest

from plan import made
from sluice.plan import gone
from sluice.values import names, records, steps

LEASE = records.Lease(made.NAMESPACE, "clicks", "uid-lease")
DRIVER = made.driver()
EXECUTOR = records.Pod(
    made.NAMESPACE, "e1", "uid-e1", labels={names.JOB: "clicks", names.ROLE: names.EXECUTOR}, owner_uid=DRIVER.uid
)
GOING = dataclasses.replace(DRIVER, deleting=True)
OVER = dataclasses.replace(DRIVER, phase="Failed")


@pytest.mark.parametrize(
    ("pods", "deleted"),
    [
        pytest.param([DRIVER, EXECUTOR], ["uid-1"], id="a driver needs its executors to finish its batch"),
        pytest.param([GOING, EXECUTOR], [], id="once is enough"),
        pytest.param([OVER, EXECUTOR], ["uid-1", "uid-e1"], id="a driver that ended needs nobody"),
        pytest.param([EXECUTOR], ["uid-e1"], id="executors without a driver"),
        pytest.param([], ["uid-lease"], id="the Lease comes last"),
    ],
)
def test_what_is_left_goes_in_order(pods, deleted):
    planned = gone.plan(pods, LEASE)
    assert [step.uid for stage in planned.stages for step in stage] == deleted
    assert planned.look_again_s == (30.0 if pods else None)


def test_a_lease_goes_by_its_uid_so_that_a_namesakes_stays():
    assert gone.plan([], LEASE) == steps.Steps(((steps.Delete("Lease", "team", "clicks", "uid-lease"),),))


def test_where_nothing_is_left_nothing_is_done():
    assert gone.plan([], None) == steps.Steps()
