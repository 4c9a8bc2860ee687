"""How the bench of redeploys judges: what was seen of a job, where a handover was hit, what came to the sink."""

import json

import pytest

from bench import redeploy_points, redeploy_seen, redeploy_tally
from sluice.values import handoff


def test_objects_that_kubectl_prints_one_after_another_are_told_apart():
    printed = [{"status": {"message": "a }\n}\n{ in words", "handoff": {}}}, {"status": {"handoff": {"phase": "Done"}}}]
    text = "".join(json.dumps(body, indent=4) + "\n" for body in printed)
    begun = '{\n    "status": {\n    }\n'
    assert list(redeploy_seen.bodies((text + begun).splitlines(keepends=True))) == printed


def now(phase, waiting=0, attempt=2):
    return handoff.Handoff(phase=phase, waiting=waiting, attempt=attempt)


@pytest.mark.parametrize(
    ("at", "step"),
    [
        (handoff.Handoff(), ""),
        (now("Preparing"), redeploy_points.STARTS),
        (now("Preparing", waiting=1), redeploy_points.WAITS),
        (now("Draining", waiting=1), redeploy_points.DRAINS),
        (now("Taking", waiting=1), redeploy_points.TAKES),
        (now("Proving"), redeploy_points.PROVES),
        (now("Cancelled", waiting=1), "Cancelled"),
    ],
)
def test_a_step_is_read_from_the_phase_and_from_who_waits_at_the_gate(at, step):
    assert redeploy_points.step_of(at) == step


@pytest.mark.parametrize("step", redeploy_points.STEPS)
def test_a_step_is_reached_in_its_turn_and_whoever_is_past_it_had_it(step):
    in_turn = [now("Preparing"), now("Preparing", 1), now("Draining"), now("Taking"), now("Proving")]
    reached = [redeploy_points.is_reached(step, at) for at in in_turn]
    place = redeploy_points.STEPS.index(step)
    assert reached == [n >= place for n in range(len(in_turn))]
    assert redeploy_points.is_reached(step, now("Cancelled"))
    assert not redeploy_points.is_reached(step, handoff.Handoff())


def test_the_handover_before_is_none_of_this_one():
    status = {"handoff": {key: value for key, value in now("Done", attempt=4).write().items() if value is not None}}
    assert redeploy_seen.handoff_after(4, status) == handoff.Handoff()
    assert redeploy_seen.handoff_after(3, status).phase == "Done"


def test_every_point_has_a_name_of_its_own():
    assert len({point.name for point in redeploy_points.POINTS}) == len(redeploy_points.POINTS) == 21


def test_what_is_lost_or_came_again_counts_for_the_section_in_which_it_is_seen():
    tally = redeploy_tally.Tally()
    tally.add([0, 1, 3, 3, 4, 5])
    assert tally.missing(4) == 1
    assert tally.close(4) == {"records": 4, "lost": 1, "repeated": 1}
    assert tally.missing(7) == 1
    tally.add([6, 1, 7])
    assert tally.close(7) == {"records": 3, "lost": 0, "repeated": 1}
    assert tally.close(8) == {"records": 1, "lost": 0, "repeated": 0}
