"""A move helped if less leaves its node or batches are shorter, by more than noise; never if they are longer."""

import pytest

from sluice.plan import judgement
from sluice.values import moves

BEFORE = moves.Measures(100, 1000.0, 100_000, 1_000_000, 600_000)


def after(batch_ms=1000.0, cross=600_000, rows=100_000, total=1_000_000):
    return moves.Measures(100, batch_ms, rows, total, cross)


CASES = {
    "nothing changed": (after(), False),
    "less leaves its node": (after(cross=500_000), True),
    "a little less": (after(cross=580_000), False),
    "shorter batches": (after(batch_ms=940.0), True),
    "a little shorter": (after(batch_ms=960.0), False),
    "less leaves, but batches are longer": (after(cross=300_000, batch_ms=1060.0), False),
    "more leaves, but batches are shorter": (after(cross=700_000, batch_ms=900.0), True),
    "twice the load, twice the bytes": (after(batch_ms=1900.0, cross=1_200_000, rows=200_000, total=2_000_000), False),
    "twice the load, and less of it leaves": (
        after(batch_ms=1900.0, cross=800_000, rows=200_000, total=2_000_000),
        True,
    ),
    "shorter batches of half the load": (after(batch_ms=600.0, cross=300_000, rows=50_000, total=500_000), False),
}


@pytest.mark.parametrize(("measured", "better"), CASES.values(), ids=CASES)
def test_a_move_is_judged_by_what_left_its_node_and_by_how_long_batches_took(measured, better):
    found, why = judgement.helped(BEFORE, measured, real_time=False)
    assert found is better
    assert "60.0% of its bytes crossed between nodes before" in why


def test_a_batch_of_real_time_mode_is_as_long_as_its_trigger_says():
    assert not judgement.helped(BEFORE, after(batch_ms=500.0), real_time=True)[0]
    assert judgement.helped(BEFORE, after(batch_ms=1500.0, cross=500_000), real_time=True)[0]


def test_what_shuffled_nothing_is_judged_by_its_batches():
    before = moves.Measures(100, 1000.0, 100_000, 0, 0)
    assert judgement.helped(before, after(batch_ms=900.0, cross=0, total=0), real_time=False)[0]
    assert not judgement.helped(before, after(cross=0, total=0), real_time=False)[0]
