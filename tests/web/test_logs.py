"""A log line is one JSON object."""

import io
import json
import logging

import pytest

from sluice import logs


@pytest.fixture
def written():
    root, ours = logging.root, logging.getLogger("sluice")
    before = root.handlers, root.level, ours.level
    stream = io.StringIO()
    yield lambda level: logs.set_up(level, stream) or (lambda: [*map(json.loads, stream.getvalue().splitlines())])
    root.handlers = before[0]
    root.setLevel(before[1])
    ours.setLevel(before[2])


def test_a_line_says_when_how_grave_from_where_and_what(written):
    lines = written("info")
    logging.getLogger("sluice.cycle").warning("job %s\nwaits", "clicks", extra={"job": "ads/clicks"})
    (line,) = lines()
    assert line.pop("at").endswith("+00:00")
    assert line == {"level": "WARNING", "logger": "sluice.cycle", "message": "job clicks\nwaits", "job": "ads/clicks"}


def test_an_error_brings_its_trace_in_the_same_line(written):
    lines = written("info")
    try:
        raise ValueError("ünlucky")
    except ValueError:
        logging.getLogger("sluice.act").exception("failed")
    (line,) = lines()
    assert "ValueError: ünlucky" in line["trace"]


def test_below_the_level_and_from_libraries_below_a_warning_nothing_is_written(written):
    lines = written("info")
    logging.getLogger("sluice.cycle").debug("no")
    logging.getLogger("kopf.objects").info("no")
    logging.getLogger("kopf.objects").warning("yes", extra={"k8s_ref": {"name": "clicks"}, "settings": object()})
    assert [(line["logger"], line["message"], "settings" in line) for line in lines()] == [
        ("kopf.objects", "yes", False)
    ]


def test_debug_shows_all_of_ours(written):
    lines = written("debug")
    logging.getLogger("sluice.cycle").debug("yes")
    assert [line["message"] for line in lines()] == ["yes"]
