"""How often a call is made again, and when."""

import pytest

from sluice.transport import retries


@pytest.mark.parametrize("status", [0, 429, 500, 502, 503, 504])
def test_what_says_nothing_about_the_call_is_tried_again_up_to_a_bound(status):
    pauses = [retries.pause_s(retries.Try(n, status), 0.5) for n in range(1, retries.MOST_TRIES + 1)]
    assert pauses[-1] is None
    assert None not in pauses[:-1]


@pytest.mark.parametrize("status", [200, 201, 400, 401, 403, 404, 409, 410, 422])
def test_an_answer_is_an_answer(status):
    assert retries.pause_s(retries.Try(1, status), 0.5) is None


def test_the_crowd_spreads_over_a_time_that_grows():
    spread = [retries.pause_s(retries.Try(n, 503), dice) for n in (1, 2, 3) for dice in (0.0, 0.5)]
    assert spread == [0.0, 0.2, 0.0, 0.4, 0.0, 0.8]


@pytest.mark.parametrize(("asked_s", "waits"), [(1.0, True), (10.0, True), (11.0, False)])
def test_the_server_is_given_the_time_it_asks_for_but_not_any_time(asked_s, waits):
    pause_s = retries.pause_s(retries.Try(1, 429, asked_s), 0.5)
    assert (pause_s is not None and pause_s >= asked_s) is waits
