"""What a batch's measures make of the next batch: shares by what each executor carried, a timeout by what stalled."""

import pytest

from agent import plugin
from sluice_agent import balance, batches, heard, orders

CREW = {"1": 1, "2": 1, "3": 1}


@pytest.fixture
def states():
    return heard.Heard(lambda: 0.0)


@pytest.fixture
def balancer(on):
    return balance.Balancer(on)


def ordered(on, **wanted):
    words = {"version": 1, "serial": 1, "drivers": {"d": {"balance": {"act": True, **wanted}}}}
    on.put(orders.read(words, "d"))


def ended(scans, number=1, crew=CREW, **changes):
    """A batch in which each executor read so many rows in so many ms."""
    works = {name: plugin.work(scanRows=rows, scanMs=ms) for name, (rows, ms) in scans.items()}
    return batches.read(plugin.batch(number, executors=works, crew=crew, **changes))


EVEN = {"1": (1000, 500), "2": (1000, 500), "3": (1000, 2000)}


def test_without_orders_spark_cuts_and_watches_by_itself(balancer):
    assert balancer.after(ended(EVEN)) == {"query": "q-1"}


def test_an_executor_gets_of_the_next_batch_what_it_could_carry_of_the_last(on, balancer):
    ordered(on, lever=True)
    shares = balancer.after(ended(EVEN))["shares"]
    assert [round(shares[name], 3) for name in "123"] == [0.444, 0.444, 0.111]


def test_whoever_comes_gets_the_mean_and_whoever_goes_nothing(on, balancer):
    ordered(on, lever=True)
    balancer.after(ended(EVEN))
    shares = balancer.after(ended({"1": (1000, 500), "3": (250, 500)}, crew={"1": 1, "3": 1, "4": 1}))["shares"]
    assert sorted(shares) == ["1", "3", "4"]
    assert shares["4"] == pytest.approx(1 / 3, abs=0.01)


def test_a_batch_of_a_few_rows_tells_nothing_of_who_is_slow(on, balancer):
    ordered(on, lever=True)
    before = balancer.after(ended(EVEN))["shares"]
    after = balancer.after(ended(dict.fromkeys("123", (3, 12))))["shares"]
    assert after == pytest.approx(before, abs=0.2)
    assert after["3"] < after["1"]


def test_an_executor_that_got_no_row_is_asked_again(on, balancer):
    ordered(on, lever=True)
    balancer.after(ended({"1": (1000, 100), "2": (1000, 100), "3": (10, 60_000)}))
    shares = balancer.after(ended({"1": (50, 100), "2": (50, 100)}))["shares"]
    assert shares["3"] * 100 >= 1


def beaten(told, number):
    """A batch cut as told: 600 rows a second each, 60 of the third; twice as long, and a copy beats its task."""
    rows = {name: round(3000 * share) for name, share in told.items()}
    took_ms = {"1": 1000 * rows["1"] / 600, "2": 1000 * rows["2"] / 600, "3": 1000 * rows["3"] / 60}
    beaten_ms = 2 * max(took_ms["1"], took_ms["2"])
    works = {name: plugin.work(scanRows=rows[name], scanMs=took_ms[name]) for name in took_ms}
    if late := took_ms["3"] > beaten_ms:
        works["3"] = plugin.work(scanRows=0, scanMs=0, beatenMs=beaten_ms)
    cut = {"pieces": 3 if number else 0, "own": ""}
    return batches.read(plugin.batch(number, rows=3000, executors=works, crew=CREW, cut=cut)), late


def test_one_that_is_beaten_by_copies_loses_its_part_until_it_can_carry_it_and_the_others_keep_theirs_alike(
    on, balancer
):
    ordered(on, lever=True)
    told, late = dict.fromkeys("123", 1 / 3), []
    for number in range(8):
        batch, was_late = beaten(told, number)
        told = balancer.after(batch)["shares"]
        late.append(was_late)
        assert told["1"] == pytest.approx(told["2"], abs=0.01)
    assert late == [True, True, *[False] * 6]
    assert told["3"] == pytest.approx(60 / 1260, abs=0.01)


def test_to_be_beaten_soon_is_no_proof_of_speed(on, balancer):
    ordered(on, lever=True)
    before = balancer.after(ended(EVEN))["shares"]
    works = {name: plugin.work(scanRows=1300, scanMs=650) for name in "12"}
    works["3"] = plugin.work(scanRows=0, scanMs=0, beatenMs=100)
    after = balancer.after(batches.read(plugin.batch(rows=3000, executors=works, crew=CREW)))["shares"]
    assert after == pytest.approx(before, abs=0.02)


def test_under_observe_it_is_decided_and_not_told(on, balancer):
    ordered(on, lever=True, timeout=True, act=False)
    assert balancer.after(ended(EVEN)) == {"query": "q-1"}
    assert balancer.queries["q-1"].shares[-1]["3"] < 0.2


def test_the_operators_weights_alone_cut_by_weight(on, balancer):
    ordered(on, weights={"1": 0.5, "2": 0.3, "3": 0.2})
    assert balancer.after(ended(EVEN))["shares"] == pytest.approx({"1": 0.5, "2": 0.3, "3": 0.2})


def test_the_operators_weights_bend_what_was_learned(on, balancer):
    ordered(on, lever=True, weights={"1": 0.2, "2": 0.4, "3": 0.4})
    shares = balancer.after(ended(EVEN))["shares"]
    assert shares["1"] / shares["2"] == pytest.approx(0.5, abs=0.01)


def test_shares_are_settled_once_they_hardly_change_any_more(on, balancer):
    ordered(on, lever=True)
    for number in range(6):
        assert not balancer.queries or not balancer.queries["q-1"].settled
        balancer.after(ended(EVEN, number))
    assert balancer.queries["q-1"].settled
    balancer.after(ended({**EVEN, "1": (1000, 4000)}, 6))
    assert not balancer.queries["q-1"].settled


def test_shares_that_differ_from_batch_to_batch_as_noise_has_it_are_settled(on, balancer):
    ordered(on, lever=True)
    for number in range(8):
        noisy = {**EVEN, "1": (1000, 850 if number % 2 else 1150)}
        balancer.after(ended(noisy, number))
    assert balancer.queries["q-1"].settled


def test_who_gets_less_than_half_of_an_equal_part_counts_as_slow_until_it_has_most_of_one_again(on, balancer):
    ordered(on, lever=True)
    found = []
    for number, third_ms in enumerate([500] * 3 + [2000] * 4 + [900] * 6 + [500] * 6):
        balancer.after(ended({**EVEN, "3": (1000, third_ms)}, number))
        found.append("".join(balancer.queries["q-1"].slow))
    assert (found[:3], found[6], found[12], found[-1]) == ([""] * 3, "3", "3", "")


def test_where_nothing_is_cut_any_more_nobody_is_slow(on, balancer):
    ordered(on, lever=True)
    for number in range(4):
        balancer.after(ended(EVEN, number))
    assert balancer.queries["q-1"].slow == {"3"}
    ordered(on, timeout=True)
    balancer.after(ended(EVEN, 5))
    assert not balancer.queries["q-1"].slow


def test_a_task_counts_as_a_straggler_from_where_the_last_ones_had_their_tail(on, balancer):
    ordered(on, timeout=True)
    found = balancer.after(ended(EVEN, stretch=[[100, 80], [200, 17], [2500, 3]]))["speculation"]
    assert found["multiplier"] == pytest.approx(2, rel=0.05)
    assert 0 < found["quantile"] < 1


def test_tasks_as_alike_as_they_were_cut_to_be_do_not_run_twice_for_a_trifle(on, balancer):
    ordered(on, timeout=True)
    found = balancer.after(ended(EVEN, stretch=[[90, 30], [100, 40], [115, 27], [2500, 3]]))["speculation"]
    assert found["multiplier"] == 1.5


def test_too_few_tasks_make_no_timeout(on, balancer):
    ordered(on, timeout=True)
    assert balancer.after(ended(EVEN, stretch=[[100, 5]])) == {"query": "q-1"}


def test_queries_that_are_gone_make_room(on, balancer):
    ordered(on, lever=True)
    for number in range(heard.MOST_QUERIES + 10):
        balancer.after(ended(EVEN, query=f"q-{number}"))
    assert len(balancer.queries) == heard.MOST_QUERIES
    assert f"q-{heard.MOST_QUERIES + 9}" in balancer.queries
