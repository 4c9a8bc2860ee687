"""Du & Gupta, DCC 2016, section 3.3, sentence by sentence, on the published variant."""

import pytest

from sluice_policies import latency
from sluice_policies.latency import Args
from sluice_policies.latency_types import Observed, State, Task

PUBLISHED = Args(variant="published")


def weights_after(latencies, before=None):
    tasks = () if before is None else tuple(Task(name, weight, None) for name, weight in before.items())
    observed = [Observed(name, value) for name, value in latencies.items()]
    return dict(latency.step(State(tasks), observed, PUBLISHED).weights)


def test_the_parameters_are_0_5_and_1_2_and_5_s_and_1_percent():
    """Reference: section 4."""
    assert (PUBLISHED.alpha, PUBLISHED.thres, PUBLISHED.period_s, PUBLISHED.unit) == (0.5, 1.2, 5.0, 0.01)


def test_the_aged_latency_is_alpha_of_the_new_and_the_rest_of_the_old():
    """Reference: Algorithm 2 line 5."""
    state = latency.step(State((Task("a", 1.0, 10.0),)), [Observed("a", 30.0)], PUBLISHED).state
    assert state.tasks[0].aged_ms == 20.0


def test_one_unit_goes_from_the_slowest_to_the_fastest_and_from_the_second_slowest_to_the_second_fastest():
    """Reference: lines 7-11; an odd one in the middle keeps what it has."""
    after = weights_after({"a": 50.0, "b": 10.0, "c": 40.0, "d": 20.0, "e": 30.0})
    assert after == pytest.approx({"a": 0.19, "b": 0.21, "c": 0.19, "d": 0.21, "e": 0.2})


def test_pairing_stops_at_the_first_pair_within_the_threshold():
    """Reference: lines 9-14; the outer pair is 5 : 1, the inner one 1.2 : 1, which is not above thres."""
    after = weights_after({"a": 50.0, "b": 10.0, "c": 24.0, "d": 20.0})
    assert after == pytest.approx({"a": 0.24, "b": 0.26, "c": 0.25, "d": 0.25})


def test_the_outer_pair_within_the_threshold_means_nothing_moves():
    """Reference: line 9."""
    assert weights_after({"a": 12.0, "b": 10.0}) == {"a": 0.5, "b": 0.5}


def test_load_shifts_by_one_unit_per_period_however_large_the_gap():
    """Reference: section 3.3, "shifting one unit of traffic ... at a time"."""
    assert weights_after({"a": 9000.0, "b": 1.0})["a"] == pytest.approx(0.49)


def test_latencies_of_tasks_converge_over_a_period_of_time():
    """Reference: section 3.3, last paragraph; two queues of unequal speed."""
    state, speed = State(), {"a": 0.3, "b": 1.0}
    for _ in range(60):
        known = {task.name: task.weight for task in state.tasks} or {"a": 0.5, "b": 0.5}
        times = {name: 1 / max(speed[name] - known[name], 0.001) for name in "ab"}
        state = latency.step(state, [Observed(name, value) for name, value in times.items()], PUBLISHED).state
    assert max(times.values()) / min(times.values()) < 1.4
