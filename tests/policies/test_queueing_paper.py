"""Du & Gupta, DCC 2016, section 3.2, sentence by sentence."""

import pytest

from sluice_policies import queueing
from sluice_policies.queueing import Demand

USES = (0.2, 0.4, 0.6, 0.8, 0.95)


def wait_at(use, servers):
    """Mean wait in units of one service."""
    return queueing.mean_wait_s(Demand(use * servers, 1.0), servers)


@pytest.mark.parametrize("use", USES)
def test_for_a_given_utilisation_more_servers_mean_a_lower_queueing_time(use):
    """Reference: section 3.2, Figure 3."""
    waits = [wait_at(use, servers) for servers in (1, 2, 3, 4, 5, 10)]
    assert waits == sorted(waits, reverse=True)


def test_the_decrease_is_larger_under_higher_utilisation():
    """Reference: section 3.2."""
    gains = [wait_at(use, 1) - wait_at(use, 4) for use in USES]
    assert gains == sorted(gains)


def test_utilisation_is_lambda_over_c_mu():
    """Reference: section 3.2, Eq. 1; section 5.1.2: 350 and 450 tuples/s are 78 %."""
    assert queueing.step(Demand(350, 450), queueing.Args()).utilisation == pytest.approx(0.78, abs=0.005)


def test_four_executors_of_350_and_450_tuples_per_s_wait_less_in_one_queue():
    """Reference: section 5.1.2. Measured there: 2.07 ms to 0.516 ms, a quarter; M/M/c says a fifth.

    The waits differ because neither arrivals nor service were Markovian on their testbed; the direction is the claim.
    """
    demand = Demand(4 * 350, 450)  # offered 3.111: 3.111**4 = 93.68, and 1 + 3.111 + 4.840 + 5.019 = 13.970
    assert 1000 * queueing.separate_wait_s(demand, 4) == pytest.approx(7.78, abs=0.01)
    assert 1000 * queueing.mean_wait_s(demand, 4) == pytest.approx(
        93.68 / 24 / 0.2222 / (13.970 + 17.565) / 0.4, abs=0.01
    )
    assert queueing.mean_wait_s(demand, 4) / queueing.separate_wait_s(demand, 4) < 0.516 / 2.07


def test_eq_2_as_printed_is_a_probability_and_not_erlangs():
    """Reference: Eq. 2. Right for one server only, and no time: no rate stands in it."""
    assert queueing.printed_eq_2(0.78, 1) == pytest.approx(queueing.erlang_c(0.78, 1))
    assert queueing.printed_eq_2(0.78, 4) == pytest.approx(0.0404, abs=0.0001)
    assert queueing.erlang_c(4 * 0.78, 4) == pytest.approx(0.56, abs=0.01)
