"""Task times of a job, one contract for both sources: from Prometheus, and from the agents beside the drivers."""

import pytest

from fakes import loops
from observe import measured
from observe.measured import POD

BOTH = pytest.mark.parametrize("way", measured.WAYS)


async def look(driver, by, since_s=0.0, after_s=15.0, **asked):
    """What is read now, and then a period passes."""
    by.see()
    found = await by.source.read(driver.asked(since_s, **asked))
    driver.now_s += after_s
    return found


def tasks(found):
    return {(part.query, part.executor): part.tasks for part in found.parts}


@BOTH
@loops.in_a_loop
async def test_each_executor_has_its_tasks_with_mean_and_quantiles(way):
    with measured.begin(way) as (driver, by):
        driver.ran("1", 5)
        driver.ran("2", 5)
        await look(driver, by)
        driver.ran("1", *[96] * 18, 384, 384)
        driver.ran("2", *[192] * 4)
        one, two = (await look(driver, by)).parts
    assert (one.namespace, one.job, one.query, one.executor, one.tasks, one.flaw) == (
        "shop", "clicks", "clicks", "1", 20, "",
    )  # fmt: skip
    assert one.mean_ms == pytest.approx((96 * 18 + 384 * 2) / 20, rel=0.06)
    assert (one.p90_ms, one.p99_ms) == (pytest.approx(100), pytest.approx(200 + 300 * 0.9))
    assert (two.executor, two.tasks, two.mean_ms) == ("2", 4, pytest.approx(192, rel=0.06))
    assert one.at_s == measured.BEGAN_S + 15


@BOTH
@pytest.mark.parametrize(("since_s", "count"), [(0, 12), (14, 12), (15, 7), (29, 7), (30, 0)])
@loops.in_a_loop
async def test_what_ended_before_the_window_does_not_count(way, since_s, count):
    with measured.begin(way) as (driver, by):
        driver.ran("1", 96)
        await look(driver, by)
        driver.ran("1", *[96] * 5)
        await look(driver, by)
        driver.ran("1", *[192] * 7)
        assert tasks(await look(driver, by, since_s=since_s)) == {("clicks", "1"): count}


@BOTH
@loops.in_a_loop
async def test_one_look_tells_nothing_of_a_window(way):
    with measured.begin(way) as (driver, by):
        driver.ran("1", 96, 96)
        found = await look(driver, by)
    assert tasks(found) == {("clicks", "1"): 0}
    assert found.parts[0].mean_ms is found.parts[0].p90_ms is None


@BOTH
@loops.in_a_loop
async def test_no_window_is_much_longer_than_five_minutes(way):
    with measured.begin(way) as (driver, by):
        driver.ran("1", 96)
        await look(driver, by, after_s=200)
        driver.ran("1", *[96] * 5)
        await look(driver, by, after_s=200)
        driver.ran("1", *[96] * 7)
        assert tasks(await look(driver, by)) == {("clicks", "1"): 7}


@BOTH
@loops.in_a_loop
async def test_queries_are_told_apart_whatever_they_are_called(way):
    odd = 'a"} 1\nfake{b="\\'
    with measured.begin(way) as (driver, by):
        for query in ("clicks", odd):
            driver.ran("1", 96, query=query)
        await look(driver, by)
        driver.ran("1", 96, 96, query=odd)
        assert tasks(await look(driver, by)) == {("clicks", "1"): 0, (odd, "1"): 2}


@BOTH
@loops.in_a_loop
async def test_an_agent_that_begins_anew_is_found_out_until_that_is_no_longer_in_the_window(way):
    with measured.begin(way) as (driver, by):
        driver.ran("1", *[96] * 9)
        await look(driver, by)
        driver.restart()
        driver.ran("1", 96, 96)
        assert [part.flaw for part in (await look(driver, by)).parts] == ["Reset"]
        driver.ran("1", 96)
        (part,) = (await look(driver, by, since_s=15)).parts
        assert (part.flaw, part.tasks) == ("", 1)


@BOTH
@loops.in_a_loop
async def test_where_nothing_was_measured_there_is_nothing(way):
    with measured.begin(way) as (driver, by):
        found = await look(driver, by)
    assert (found.parts, found.problem) == ((), "")
    assert found.source.startswith(("Prometheus at http://127.0.0.1:", f"the agent of {POD}"))


@BOTH
@loops.in_a_loop
async def test_who_never_answers_is_not_waited_for(way):
    with measured.begin(way) as (driver, by):
        by.mute()
        found = await look(driver, by)
    assert found.parts == ()
    assert found.problem == f"{found.source} does not answer within 0.3 s"


ODD = {
    "an error": (500, b"out of memory"),
    "not there": (404, b"nothing here"),
    "elsewhere": (302, b"go away"),
    "no text": (200, b"\xff\xfe\x00"),
    "half of it": (200, b'sluice_executor_task_seconds_sum{executor="1'),
    "words": (200, b"sluice_executor_task_seconds_sum fast"),
}


@BOTH
@pytest.mark.parametrize(("status", "answer"), ODD.values(), ids=ODD)
@loops.in_a_loop
async def test_an_answer_that_makes_no_sense_is_told_as_a_sentence(way, status, answer):
    with measured.begin(way) as (driver, by):
        by.spoil(status, answer)
        found = await look(driver, by)
    assert found.parts == ()
    assert found.source in found.problem
    assert len(found.problem) < 400


@BOTH
@loops.in_a_loop
async def test_where_nobody_listens_that_is_told(way):
    with measured.begin(way) as (driver, by):
        gone, source = driver.asked(), by.source
    found = await source.read(gone)
    assert found.problem.startswith(f"{found.source} cannot be asked: ")


@loops.in_a_loop
async def test_prometheus_is_asked_for_one_job_alone():
    with measured.begin("Prometheus") as (driver, by):
        await look(driver, by, window_s=45)
        names = "sluice_executor_task_seconds_(bucket|sum|count)"
        asked = f'{{__name__=~"{names}",streamjob_namespace="shop",streamjob="clicks"}}[45s]'
        assert by.fake.asked == [asked]


TARGETS = {
    "its pod": ({"pod": POD}, True),
    "another pod": ({"pod": "clicks-5f3a9c-0"}, False),
    "its address": ({"instance": "127.0.0.1:7080"}, True),
    "another address": ({"instance": "10.9.9.9:7080"}, False),
    "another address, as IPv6": ({"instance": "[fd00::9]:7080"}, False),
    "a name of its own": ({"instance": "shop/clicks"}, True),
    "nothing at all": ({}, True),
}


@pytest.mark.parametrize(("target", "counts"), TARGETS.values(), ids=TARGETS)
@loops.in_a_loop
async def test_two_drivers_of_one_job_number_their_executors_alike_and_are_told_apart(target, counts):
    with measured.begin("Prometheus") as (driver, by):
        driver.ran("1", 96)
        by.fake.scrape(driver.page(), **target)
        found = await by.source.read(driver.asked())
    assert bool(found.parts) is counts


@loops.in_a_loop
async def test_where_nothing_tells_them_apart_both_count_for_nothing():
    with measured.begin("Prometheus") as (driver, by):
        driver.ran("1", 96)
        for prober in ("a", "b"):
            by.fake.scrape(driver.page(), replica=prober)
        found = await by.source.read(driver.asked())
    assert [part.flaw for part in found.parts] == ["Twice"]


@loops.in_a_loop
async def test_an_agent_that_sends_without_end_is_cut_off():
    with measured.begin("the agents") as (driver, by):
        by.spoil(200, b"x" * (17 << 20))
        found = await look(driver, by)
    assert found.problem.endswith("makes no sense: more than 16 MiB")


@loops.in_a_loop
async def test_an_agent_that_says_a_thing_twice_is_found_out():
    line = b'sluice_executor_task_seconds_count{streamjob="clicks",query="clicks",executor="1"} 4\n'
    with measured.begin("the agents") as (driver, by):
        by.spoil(200, line + line)
        found = await look(driver, by)
    assert [part.flaw for part in found.parts] == ["Twice"]


@loops.in_a_loop
async def test_of_an_agent_only_the_pages_of_the_window_are_kept_and_those_of_a_driver_that_is_gone_are_not():
    with measured.begin("the agents") as (driver, by):
        driver.ran("1", 96)
        for period in range(6):
            await look(driver, by, since_s=15 * (period - 1))
        assert [at_s - measured.BEGAN_S for at_s, _ in by.source._pages["uid-1"]] == [60, 75]
        driver.now_s += 400
        await look(driver, by, uid="uid-2")
        assert list(by.source._pages) == ["uid-2"]
