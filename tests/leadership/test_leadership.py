"""One operator leads; it is followed soon when it ends, and never before it has stopped writing."""

import asyncio
import random

import pytest

from leadership import virtual
from sluice import leadership


def candidates(count, server=None):
    names = range(1, count + 1) if server else range(count)
    server = server or virtual.Server()
    return [virtual.Candidate(server, f"operator-{n}", clock_ahead_s=-5000.0 * n) for n in names]


async def end(*everybody):
    for one in everybody:
        await one.end()


def test_the_first_leads_and_the_others_wait_whatever_their_clocks_show():
    async def scene():
        first = candidates(1)[0]
        await first.leads()
        second, third = candidates(2, first.line.server)
        await asyncio.sleep(120)
        assert first.election.still_leads()
        assert not second.election.still_leads()
        assert not second.began.is_set() and not third.began.is_set()
        await end(first, second, third)

    virtual.play(scene())


@pytest.mark.parametrize("after_s", [0.0, 0.7, 1.3, 1.9, 2.3, 30.1])
def test_a_leader_that_is_killed_is_followed_within_15_seconds(after_s):
    async def scene():
        first = candidates(1)[0]
        await first.leads()
        second = candidates(1, first.line.server)[0]
        await asyncio.sleep(after_s)
        killed_s = virtual.now_s()
        first.line.cut = True
        first.task.cancel()
        assert 0 < await second.leads() - killed_s <= 15
        await end(first, second)

    virtual.play(scene())


def test_a_leader_that_is_told_to_end_is_followed_at_the_next_look():
    async def scene():
        first = candidates(1)[0]
        await first.leads()
        second = candidates(1, first.line.server)[0]
        await asyncio.sleep(5)
        ended_s = virtual.now_s()
        await first.end()
        assert await second.leads() - ended_s <= 1.3
        assert first.writes_s[-1] < second.writes_s[0]
        assert first.why == ""
        await end(second)

    virtual.play(scene())


def test_a_block_that_ends_by_itself_releases_too_and_its_own_error_is_kept():
    async def scene():
        server = virtual.Server()
        election = leadership.Election(virtual.Line(server), "one", now_s=virtual.now_s)
        with pytest.raises(KeyError):
            async with election.lead():
                raise KeyError("the block's own")
        assert server.claim.holder == ""
        assert not election.still_leads()

    virtual.play(scene())


def test_a_leader_cut_off_stops_writing_before_another_begins_and_says_why():
    async def scene():
        first = candidates(1)[0]
        await first.leads()
        second = candidates(1, first.line.server)[0]
        await asyncio.sleep(5)
        first.line.cut = True
        await second.leads()
        await first.task
        assert first.writes_s[-1] < first.cancelled_s < second.began_s
        assert first.why == "operator-0 could not renew its lead for 9 s, or stood still"
        await end(second)

    virtual.play(scene())


def test_a_leader_that_stood_still_refuses_to_write_at_once_and_sends_nothing_more():
    async def scene():
        first = candidates(1)[0]
        await first.leads()
        await asyncio.sleep(5)
        before = len(first.line.server.history)
        asyncio.get_running_loop().now_s += 9.1
        assert not first.election.still_leads()
        await first.task
        assert "stood still" in first.why
        # All it may still say is good-bye, and that only while nobody else has followed.
        assert [claim.holder for claim in first.line.server.history[before:]] == [""]

    virtual.play(scene())


def test_the_lead_lasts_from_when_it_was_asked_for_and_not_from_the_late_answer():
    async def scene():
        first = candidates(1)[0]
        first.line.back_s = 3.9
        await first.leads()
        first.line.cut = True
        assert first.election.still_leads()
        await asyncio.sleep(9 - 3.9)
        assert not first.election.still_leads()
        await first.task

    virtual.play(scene())


def test_a_renewal_whose_answer_was_lost_counts_when_it_is_seen_to_stand():
    async def scene():
        first = candidates(1)[0]
        await first.leads()
        first.line.back_s = 100
        await asyncio.sleep(4)
        first.line.back_s = 0.005
        await asyncio.sleep(20)
        assert first.election.still_leads()
        assert {claim.holder for claim in first.line.server.history} == {"operator-0"}
        await end(first)

    virtual.play(scene())


def test_a_leader_that_finds_another_name_in_the_lease_ends_at_once():
    async def scene():
        first = candidates(1)[0]
        await first.leads()
        server = first.line.server
        server.put(leadership.Claim("somebody", 12.0, version=server.claim.version))
        await first.task
        assert first.why == "somebody leads now, and not operator-0"
        assert server.claim.holder == "somebody"

    virtual.play(scene())


def test_a_lease_that_was_deleted_is_made_again_by_its_leader():
    async def scene():
        first = candidates(1)[0]
        await first.leads()
        first.line.server.claim = None
        await asyncio.sleep(3)
        assert first.election.still_leads()
        assert first.line.server.claim.holder == "operator-0"
        await end(first)

    virtual.play(scene())


@pytest.mark.parametrize("seed", range(12))
def test_whatever_breaks_no_two_write_at_the_same_time(seed):
    dice = random.Random(seed)

    async def scene():
        everybody = candidates(3)
        for _ in range(150):
            one = dice.choice(everybody)
            one.line.cut = dice.random() < 0.4
            one.line.there_s, one.line.back_s = dice.choice([0.005, 2.0, 5.0]), dice.choice([0.005, 2.0, 5.0])
            await asyncio.sleep(dice.uniform(0, 5))
            for n, gone in enumerate(everybody):
                if gone.task.done():
                    everybody.append(virtual.Candidate(gone.line.server, f"{gone.name}x", dice.uniform(-9, 9)))
                    ended.append(everybody.pop(n))
        await end(*everybody)
        spans = [(one.writes_s[0], one.writes_s[-1]) for one in everybody + ended if one.writes_s]
        assert len(spans) > 1
        for earlier, later in zip(sorted(spans), sorted(spans)[1:], strict=False):
            assert earlier[1] < later[0]

    ended = []
    virtual.play(scene())
