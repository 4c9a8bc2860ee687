"""Two StreamJobs never write one checkpoint: who has a driver holds it, then who was first."""

import itertools

import pytest

from observe import bodies
from observe.test_mirror import Seen, again, over, running
from sluice.values import names

A, B, C = (("team", name) for name in "abc")
SHARED = {"checkpoint": {"location": "s3a://state/shared"}}
OTHER = {"checkpoint": {"location": "s3a://state/another"}}


def job(name, age=0, status=None, **spec):
    meta = {"creationTimestamp": f"2026-11-18T10:00:{age:02d}Z"}
    return bodies.streamjob(name, status, meta, **{**SHARED, **spec})


def driver(name, *more):
    return running(bodies.of_job(name, names.DRIVER, "-".join((name, "driver", *more))))


def rivals(seen, *keys):
    return [seen.view(key).rival for key in keys]


def test_the_older_one_starts_and_the_younger_is_told_who():
    seen = Seen(job("a", age=2), job("b", age=1))
    assert rivals(seen, A, B) == ["team/b", ""]


def test_of_one_age_the_uid_decides_so_that_everyone_agrees():
    seen = Seen(job("b"), job("a"))
    assert rivals(seen, A, B) == ["", "team/a"]


def test_who_has_a_driver_holds_it_however_young():
    seen = Seen(job("a", age=1), job("b", age=2), driver("b"))
    assert rivals(seen, A, B) == ["team/b", ""]


def test_who_was_told_that_it_is_free_holds_it_before_the_driver_is_seen():
    seen = Seen(job("a", age=1, suspend=True), job("b", age=2))
    assert rivals(seen, B) == [""]
    seen.see(job("a", age=1))  # resumed while b's driver is being made
    assert rivals(seen, A, B) == ["team/b", ""]


def test_who_waits_for_its_next_attempt_still_holds_it():
    seen = Seen(job("a", age=2), job("b", age=1, suspend=True))
    first = driver("a")
    seen.see(first)
    assert rivals(seen, A) == [""]
    seen.see(over(first), job("b", age=1))
    assert rivals(seen, B, A) == ["team/a", ""]


def test_after_a_restart_of_the_operator_the_status_says_who_had_started():
    seen = Seen(job("a", age=1), job("b", age=2, status={"phase": "Restarting"}))
    assert rivals(seen, A, B) == ["team/b", ""]


RESTING = {
    "suspended": {"suspend": True},
    "completed": {"status": {"phase": "Completed", "observedGeneration": 1}},
    "failed for good": {"status": {"phase": "Failed", "observedGeneration": 1}},
}


@pytest.mark.parametrize("rest", RESTING.values(), ids=RESTING)
def test_who_rests_without_a_driver_holds_nothing(rest):
    seen = Seen(job("a", age=1, **rest), job("b", age=2))
    assert rivals(seen, B) == [""]


@pytest.mark.parametrize("rest", RESTING.values(), ids=RESTING)
def test_who_rests_while_the_driver_still_drains_holds_it(rest):
    seen = Seen(job("a", age=1, **rest), job("b", age=2), driver("a"))
    assert rivals(seen, B) == ["team/a"]


def test_who_has_ended_and_is_changed_wants_it_again():
    ended = {"phase": "Completed", "observedGeneration": 1}
    seen = Seen(job("a", age=1, status=ended), job("b", age=2, status=ended))
    seen.see(again(job("b", age=2, status=ended), metadata={"annotations": {names.RESTARTED: "now"}}))
    assert rivals(seen, A) == ["team/b"]


def test_a_job_that_is_gone_holds_it_until_its_driver_is_gone():
    mine = driver("a")
    seen = Seen(job("a", age=1), job("b", age=2), mine)
    seen.see(again(job("a")), kind="DELETED")
    assert rivals(seen, B) == ["team/a"]
    seen.woken()
    seen.see(again(mine), kind="DELETED")
    assert B in seen.woken()
    assert rivals(seen, B) == [""]


def test_a_driver_writes_where_its_job_pointed_when_it_came():
    old = driver("a", "1")
    seen = Seen(job("a", age=1), job("b", age=2), old)
    seen.see(job("a", age=1, **OTHER), driver("a", "2"))
    assert rivals(seen, A, B) == ["", "team/a"]
    seen.see(over(old))
    assert rivals(seen, A, B) == ["", ""]


ENDS = {
    "its driver is gone": lambda seen: seen.see(again(driver("a")), kind="DELETED"),
    "its driver is over": lambda seen: seen.see(over(driver("a"))),
    "it points elsewhere": lambda seen: seen.see(job("a", **OTHER)),
    "it is suspended": lambda seen: seen.see(job("a", suspend=True)),
    "it is gone": lambda seen: seen.see(again(job("a")), kind="DELETED"),
}


@pytest.mark.parametrize("end", ENDS.values(), ids=ENDS)
def test_the_rival_is_woken_when_the_holder_leaves(end):
    seen = Seen(job("a", age=1), job("b", age=2), driver("a"))
    end(seen)
    assert B in seen.woken()


PLACES = {
    "one path of one claim": ("/c", "state", "/c/", "state", True),
    "two ways to write a path": ("/c//d/../e", "state", "c/e/", "state", True),
    "two paths of one claim": ("/x/c", "state", "/x/d", "state", False),
    "one path of two claims": ("/c", "state", "/c", "other", False),
    "one URI": ("s3a://b/c", "", "s3a://b/c/", "", True),
    "one bucket by two schemes": ("s3a://b/c", "", "s3n://b/c", "", True),
    "two URIs": ("s3a://b/c", "", "s3a://b/d", "", False),
}


@pytest.mark.parametrize(("one", "claim", "two", "other_claim", "same"), PLACES.values(), ids=PLACES)
def test_what_counts_as_one_checkpoint(one, claim, two, other_claim, same):
    def checkpoint(location, name):
        found = {"location": location}
        return {"checkpoint": found | ({"volume": {"persistentVolumeClaim": {"claimName": name}}} if name else {})}

    seen = Seen(job("a", **checkpoint(one, claim)), job("b", age=1, **checkpoint(two, other_claim)))
    assert rivals(seen, B) == (["team/a"] if same else [""])


@pytest.mark.parametrize(("location", "claim", "same"), [("s3a://b/c", "", True), ("/c", "state", False)])
def test_a_uri_is_shared_across_namespaces_and_a_claim_is_not(location, claim, same):
    found = {"location": location} | ({"volume": {"persistentVolumeClaim": {"claimName": claim}}} if claim else {})
    elsewhere = job("a", checkpoint=found)
    elsewhere["metadata"]["namespace"] = "other"
    seen = Seen(elsewhere, job("b", age=1, checkpoint=found))
    assert rivals(seen, B) == (["other/a"] if same else [""])


def test_whatever_the_order_of_news_at_most_one_is_free_to_start():
    news = (job("a", age=1), job("b", age=2), job("c", age=3, suspend=True), job("c", age=3), driver("b"))
    for order in itertools.permutations(news):
        seen = Seen()
        for body in order:
            seen.see(body)
            known = [key for key in (A, B, C) if seen.view(key) and not seen.view(key).job.spec.suspend]
            assert rivals(seen, *known).count("") <= 1
