"""`suspend`, `resume` and `restart`: one small patch each, and none where there is nothing to do."""

import pytest

from cli import fakes
from sluice.values import names


@pytest.mark.parametrize(
    ("verb", "before", "patch", "says"),
    [
        (
            "suspend",
            {},
            {"spec": {"suspend": True}},
            "clicks is told to stop; `sluice resume clicks` starts it where it stopped",
        ),
        ("resume", {"suspend": True}, {"spec": {"suspend": False}}, "clicks is told to start"),
        (
            "restart",
            {},
            {"metadata": {"annotations": {names.RESTARTED: "2026-11-18T13:30:00Z"}}},
            "clicks is told to restart; `sluice status clicks` shows how far it is",
        ),
    ],
)
def test_a_change_is_one_patch(desk, verb, before, patch, says):
    desk.holds(fakes.stream_job(spec=before))
    assert desk.type(verb, "clicks") == says + "\n"
    assert desk.custom.patches == [("ads", "clicks", patch)]


@pytest.mark.parametrize(
    ("verb", "before", "says"),
    [
        ("suspend", {"suspend": True}, "clicks is suspended already"),
        ("resume", {}, "clicks is not suspended"),
        ("resume", {"suspend": False}, "clicks is not suspended"),
    ],
)
def test_what_is_so_already_is_said_and_not_written(desk, verb, before, says):
    desk.holds(fakes.stream_job(spec=before))
    assert desk.type(verb, "clicks") == says + "\n"
    assert desk.custom.patches == []


def test_a_suspended_job_is_not_restarted(desk):
    desk.holds(fakes.stream_job(spec={"suspend": True}))
    assert desk.complaint("restart", "clicks") == "clicks is suspended; `sluice resume clicks` starts it"
    assert desk.custom.patches == []


@pytest.mark.parametrize("verb", ["suspend", "resume", "restart"])
def test_a_job_that_is_not_there_is_not_changed(desk, verb):
    assert "StreamJob clicks in namespace lab: there is none" in desk.complaint(verb, "clicks", "-n", "lab")
