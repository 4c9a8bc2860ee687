"""Kubernetes' own ways of writing a number."""

import pytest

from sluice.values import quantities


@pytest.mark.parametrize(
    ("text", "millicores"),
    [("1", 1000), ("500m", 500), (".5", 500), ("1.", 1000), ("100u", 1), ("1e1", 10000), (2, 2000), ("0.0001", 1)],
)
def test_cpu_is_read_in_millicores_and_rounded_up(text, millicores):
    assert quantities.cpu_m(text) == millicores


@pytest.mark.parametrize(
    ("text", "size"), [("1Gi", 1 << 30), ("1.5Gi", 3 << 29), ("128M", 128_000_000), ("1e3", 1000), ("1500m", 2)]
)
def test_memory_is_read_in_bytes(text, size):
    assert quantities.whole(text) == size


@pytest.mark.parametrize("text", ["", "Gi", "1Gb", "-1", "1 Gi", "1e999", "٣"])
def test_what_is_no_quantity_is_named(text):
    with pytest.raises(ValueError, match="allowed is a quantity"):
        quantities.whole(text)


@pytest.mark.parametrize(
    ("text", "seconds"), [("90s", 90), ("5m", 300), ("1h30m", 5400), ("500ms", 0.5), ("2s500ms", 2.5), ("0s", 0)]
)
def test_a_duration_is_read_in_seconds(text, seconds):
    assert quantities.duration_s(text) == seconds


@pytest.mark.parametrize("text", ["", "5", "s", "1d", "-5s", "1.5h", "5m1h"])
def test_what_is_no_duration_is_named(text):
    with pytest.raises(ValueError, match="allowed is a duration"):
        quantities.duration_s(text)
