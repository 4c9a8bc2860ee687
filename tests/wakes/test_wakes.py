"""The queue: each key at most once in it, never by two workers, and looked at again when it is time."""

import asyncio

import pytest

from fakes.clock import by_the_clock
from sluice import wakes


class Ended(Exception):
    """What ends a worker."""


class Looks:
    """Workers that note who was looked at, and when."""

    def __init__(self, queue, workers=2):
        self.began, self.at_once, self.most_at_once = [], set(), 0
        self.answer, self.takes_s = {}, 0.0
        self.tasks = [asyncio.create_task(queue.work(self.look, Ended)) for _ in range(workers)]

    async def look(self, key, waited_s):
        assert key not in self.at_once
        self.at_once.add(key)
        self.began.append((key, round(asyncio.get_running_loop().time(), 3), round(waited_s, 3)))
        await asyncio.sleep(self.takes_s)
        self.at_once.discard(key)
        answer = self.answer.get(key)
        if isinstance(answer, Exception):
            raise answer
        return answer

    async def end(self):
        for task in self.tasks:
            task.cancel()
        await asyncio.gather(*self.tasks, return_exceptions=True)

    def keys(self):
        return [key for key, _, _ in self.began]

    def moments_s(self):
        return [at_s for _, at_s, _ in self.began]


@by_the_clock
async def test_a_key_that_is_woken_often_is_looked_at_once():
    queue = wakes.Wakes()
    for key in ("a", "b", "a", "a"):
        queue.wake(key)
    assert queue.depth() == 2
    looks = Looks(queue)
    await asyncio.sleep(1)
    assert looks.keys() == ["a", "b"]
    await looks.end()


@by_the_clock
async def test_a_key_that_is_woken_while_it_is_looked_at_is_looked_at_again_afterwards():
    queue = wakes.Wakes()
    looks = Looks(queue)
    looks.takes_s = 2.0
    queue.wake("a")
    await asyncio.sleep(1)
    queue.wake("a")
    queue.wake("a")
    await asyncio.sleep(10)
    assert [(key, at_s) for key, at_s, _ in looks.began] == [("a", 0.0), ("a", 2.0)]
    await looks.end()


@by_the_clock
async def test_a_look_says_when_to_look_again():
    queue = wakes.Wakes()
    looks = Looks(queue)
    looks.answer["a"] = 30.0
    queue.wake("a")
    await asyncio.sleep(100)
    assert looks.moments_s() == [0, 30, 60, 90]
    await looks.end()


@by_the_clock
async def test_who_is_woken_before_his_time_is_not_looked_at_for_the_old_time_too():
    queue = wakes.Wakes()
    looks = Looks(queue)
    looks.answer["a"] = 30.0
    queue.wake("a")
    await asyncio.sleep(10)
    looks.answer["a"] = None
    queue.wake("a")
    await asyncio.sleep(100)
    assert looks.moments_s() == [0, 10]
    await looks.end()


@by_the_clock
async def test_a_look_that_fails_is_tried_ever_more_slowly_until_it_succeeds(caplog):
    queue = wakes.Wakes()
    looks = Looks(queue)
    looks.answer["a"] = RuntimeError("no")
    queue.wake("a")
    await asyncio.sleep(40)
    assert looks.moments_s() == [0, 1, 3, 7, 15, 31]
    looks.answer["a"] = None
    await asyncio.sleep(60)
    looks.answer["a"] = RuntimeError("again")
    queue.wake("a")
    await asyncio.sleep(1.5)
    assert looks.moments_s()[6:] == [63, 100, 101]
    assert "a: looked in vain" in caplog.text
    await looks.end()


@by_the_clock
async def test_one_that_fails_does_not_hold_up_the_others():
    queue = wakes.Wakes()
    looks = Looks(queue, workers=1)
    looks.answer["bad"] = RuntimeError("no")
    for key in ("bad", "good"):
        queue.wake(key)
    await asyncio.sleep(0.5)
    assert looks.keys() == ["bad", "good"]
    await looks.end()


@by_the_clock
async def test_only_what_ends_the_operator_ends_a_worker():
    queue = wakes.Wakes()
    looks = Looks(queue, workers=1)
    looks.answer["a"] = Ended()
    queue.wake("a")
    with pytest.raises(Ended):
        await looks.tasks[0]


@by_the_clock
async def test_what_comes_in_quick_succession_is_gathered_into_one_look():
    queue = wakes.Wakes(settle_s=0.1)
    looks = Looks(queue)
    for _ in range(5):
        queue.wake("a")
        await asyncio.sleep(0.01)
    await asyncio.sleep(1)
    assert looks.began == [("a", 0.1, 0.1)]
    await looks.end()


@by_the_clock
async def test_the_queue_knows_its_oldest_and_whether_anything_moves():
    queue = wakes.Wakes()
    await asyncio.sleep(50)
    assert (queue.depth(), queue.oldest_s(), queue.stalled_s()) == (0, 0.0, 0.0)
    queue.wake("a")
    await asyncio.sleep(5)
    queue.wake("b")
    assert (queue.depth(), queue.oldest_s(), queue.stalled_s()) == (2, 5.0, 5.0)
    looks = Looks(queue, workers=1)
    looks.takes_s = 3.0
    await asyncio.sleep(4)
    assert (queue.depth(), queue.stalled_s()) == (0, 1.0)
    await asyncio.sleep(10)
    assert queue.stalled_s() == 0.0
    await looks.end()
