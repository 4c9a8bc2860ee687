"""Rows are cut whole, in proportion, and nobody is forgotten."""

import fractions

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sluice_policies import shares


@pytest.mark.parametrize(
    ("total", "weights", "least", "parts"),
    [
        pytest.param(900, [5, 3, 1], 0, [500, 300, 100], id="a proportion that divides is kept exactly"),
        pytest.param(10, [1, 1, 1], 0, [4, 3, 3], id="what is left goes to the first of equals"),
        pytest.param(10, [6, 3, 2], 0, [5, 3, 2], id="what is left goes to the largest fraction, 5.45 before 2.73"),
        pytest.param(100, [98, 1, 1], 5, [90, 5, 5], id="a floor is paid by those above it"),
        pytest.param(100, [50, 6, 1], 10, [80, 10, 10], id="lifting one pushes the next under the floor"),
        pytest.param(2, [5, 1, 1], 1, [1, 1, 0], id="fewer rows than floors are dealt out in order"),
        pytest.param(0, [5, 1], 1, [0, 0], id="nothing is cut into nothings"),
        pytest.param(7, [0.0, 0.0], 0, [4, 3], id="weights that say nothing mean equal parts"),
        pytest.param(7, [], 0, [], id="nobody gets nothing"),
    ],
)
def test_cut(total, weights, least, parts):
    assert shares.cut(total, weights, least) == parts


def obvious(total, weights, least):
    """The slow twin: exact fractions, and the floor lifted one by one until nobody is below it."""
    exact = [fractions.Fraction(weight) for weight in weights]
    pinned: set[int] = set()
    while True:
        free = sum(exact[i] for i in range(len(exact)) if i not in pinned)
        rest = total - least * len(pinned)
        parts = [fractions.Fraction(least) if i in pinned else exact[i] * rest / free for i in range(len(exact))]
        low = [i for i, part in enumerate(parts) if part < least and i not in pinned]
        if not low:
            break
        pinned |= set(low)
    whole = [int(part) for part in parts]
    for i in sorted((i for i in range(len(parts)) if i not in pinned), key=lambda i: whole[i] - parts[i]):
        if sum(whole) < total:
            whole[i] += 1
    return whole


@settings(max_examples=50, deadline=None)
@given(
    st.integers(0, 10_000),
    st.lists(st.integers(1, 1000), min_size=1, max_size=12),
    st.integers(0, 20),
)
def test_cut_equals_its_slow_twin_wherever_every_one_can_have_the_least(total, weights, least):
    parts = shares.cut(total, [float(weight) for weight in weights], least)
    assert sum(parts) == total
    if len(weights) * least < total:
        assert all(abs(a - b) <= 1 for a, b in zip(parts, obvious(total, weights, least), strict=True))


@settings(max_examples=50, deadline=None)
@given(st.integers(0, 10**15), st.lists(st.floats(0, 1e300), min_size=1, max_size=8), st.integers(0, 3))
def test_no_row_is_lost_or_invented_whatever_the_weights(total, weights, least):
    parts = shares.cut(total, weights, least)
    assert sum(parts) == total
    assert min(parts) >= (least if len(weights) * least < total else 0)
