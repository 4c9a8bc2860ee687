"""One driver takes over from another: what goes on meanwhile, and what becomes of it when something goes wrong."""

import pytest

from cycle import play
from cycle.talking import begin, image, node_of, phase, readiness, started
from fakes.clock import by_the_clock
from sluice.values import names

pytestmark = pytest.mark.timeout(20)
NEW = {"image": "clicks:2"}
KEY = (play.TEAM, "clicks")


def events(at):
    return {body["reason"] for body in at.kube.objects("Event", play.TEAM) if body["reason"].startswith("HandOver")}


@by_the_clock
async def test_a_new_image_takes_over_beside_the_old_one_which_goes_on_until_then():
    async with begin() as at:
        old = await started(at)
        ready = readiness(at)
        at.apply(play.job(count=2, **NEW))
        await at.until(lambda: phase(at) == "Proving")
        (new,) = set(at.drivers()) - {old}
        handoff = at.status()["handoff"]
        assert (handoff["from"]["pod"], handoff["to"]["pod"]) == (old, new)
        assert (handoff["fromBatch"], handoff["toBatch"]) == (0, 1)
        assert 0 < handoff["pauseMs"] < 10_000
        await at.until(lambda: at.drivers() == [new])
        assert image(at, new) == "clicks:2"
        await at.later(60)
        assert at.ready()
        assert len(at.executors()) == 2
        assert set(ready) == {"True"}
        at.world.inside.batches(KEY, 20)
        await at.until(lambda: phase(at) == "Done")
        assert at.condition("Progressing") == ("False", "Running")
        assert at.status()["orders"]["drivers"].keys() == {new}
        assert events(at) == {f"HandOver{one}" for one in ("Preparing", "Draining", "Taking", "Proving", "Done")}


@by_the_clock
async def test_before_anything_happens_an_event_says_what_the_change_asks_for():
    async with begin() as at:
        await started(at)
        at.apply(play.job(count=2, **NEW))
        await at.until(lambda: phase(at) == "Preparing")
        (told,) = [body for body in at.kube.objects("Event", play.TEAM) if body["reason"] == "HandOverPreparing"]
        assert "image: clicks:1 → clicks:2" in told["message"]


def hold(at, new):
    waiting = {"waiting": {"reason": "ImagePullBackOff", "message": "no such image"}}
    at.kube.change("Pod", play.TEAM, new, status={"containerStatuses": [{"name": "driver", "state": waiting}]})


FAILING = {
    "its image cannot be pulled": (hold, "no such image"),
    "it ends at once": (lambda at, new: at.world.end(at.kube.get("Pod", play.TEAM, new), 1), "exit code 1"),
    "it hangs before its first query": (lambda at, new: at.world.inside.never_warm.add(new), "10 minutes"),
    "its query is refused at the gate": (
        lambda at, new: at.world.inside.fails_at_gate.update({new: "the sources differ"}),
        "the sources differ",
    ),
}


@pytest.mark.parametrize(("fail", "why"), FAILING.values(), ids=FAILING)
@by_the_clock
async def test_a_new_driver_that_fails_before_its_turn_is_given_up_and_the_old_one_never_noticed(fail, why):
    async with begin() as at:
        old = await started(at)
        uid = at.world.pods(names.DRIVER, "clicks")[0]["metadata"]["uid"]
        at.apply(play.job(count=2, **NEW))
        new = f"clicks-{await wanted(at)}-2"
        at.world.inside.never_warm.add(new)
        await at.until(lambda: new in at.drivers())
        fail(at, new)
        await at.until(lambda: phase(at) == "Cancelled")
        await at.until(lambda: at.drivers() == [old])
        await at.later(3600)
        assert at.world.pods(names.DRIVER, "clicks")[0]["metadata"]["uid"] == uid
        assert why in at.status()["givenUp"]["why"]
        assert at.condition() == ("True", "Running")
        assert at.condition("Progressing") == ("False", "GivenUp")
        at.apply(play.job(count=2, image="clicks:3"))
        await at.until(lambda: phase(at) == "Proving")
        assert "givenUp" not in at.status()


async def wanted(at):
    """The revision that is on its way."""
    await at.until(lambda: phase(at) == "Preparing")
    return at.status()["handoff"]["to"]["revision"]


@by_the_clock
async def test_an_old_driver_whose_batch_does_not_end_in_time_goes_on():
    async with begin() as at:
        old = await started(at, update={"drainTimeout": "5s"})
        at.world.inside.never_quiet.add(old)
        at.apply(play.job(count=2, update={"drainTimeout": "5s"}, **NEW))
        await at.until(lambda: phase(at) == "Cancelled")
        await at.until(lambda: at.drivers() == [old])
        assert "drain" not in at.status()["orders"]["drivers"][old]
        assert "givenUp" not in at.status()


@by_the_clock
async def test_a_revision_that_fails_at_its_first_batch_is_rolled_back():
    async with begin() as at:
        await started(at)
        at.apply(play.job(count=2, **NEW))
        new = f"clicks-{await wanted(at)}-2"
        at.world.inside.fails_after[new] = "no such column"
        await at.until(lambda: phase(at) == "RolledBack")
        await at.until(lambda: at.ready() and new not in at.drivers())
        (back,) = at.drivers()
        assert image(at, back) == "clicks:1"
        assert at.status()["givenUp"]["why"].endswith("no such column")
        await at.later(3600)
        assert at.drivers() == [back]


@by_the_clock
async def test_a_revision_that_dies_after_it_took_over_is_rolled_back():
    async with begin() as at:
        old = await started(at)
        at.apply(play.job(count=2, **NEW))
        await at.until(lambda: phase(at) == "Proving" and old not in at.drivers())
        at.world.end(at.kube.get("Pod", play.TEAM, at.drivers()[0]), 1)
        await at.until(lambda: phase(at) == "RolledBack")
        await at.until(at.ready)
        assert image(at, at.drivers()[0]) == "clicks:1"


@by_the_clock
async def test_a_revision_that_misses_the_slo_the_old_one_met_is_handed_back():
    slo = {"slo": {"batchLatency": "1s"}, "update": {"rollback": {"batches": 5}}}
    async with begin() as at:
        await started(at, **slo)
        at.apply(play.job(count=2, **slo, **NEW))
        new = f"clicks-{await wanted(at)}-2"
        at.world.inside.slow[new] = 3000
        await at.until(lambda: phase(at) == "Proving")
        for _ in range(12):
            at.world.inside.batches(KEY, 1)
            await at.later(30)
        await at.until(lambda: at.status()["handoff"]["to"]["attempt"] == 3 and phase(at) in ("Proving", "Done"))
        assert image(at, at.drivers()[-1]) == "clicks:1"
        assert "took 3000 ms" in at.status()["givenUp"]["why"]


@by_the_clock
async def test_a_spec_that_changes_again_while_the_new_driver_comes_up_begins_anew():
    async with begin() as at:
        old = await started(at)
        at.apply(play.job(count=2, **NEW))
        at.world.inside.never_warm.add(f"clicks-{await wanted(at)}-2")
        await at.until(lambda: len(at.drivers()) == 2)
        at.apply(play.job(count=2, image="clicks:3"))
        await at.until(lambda: phase(at) == "Proving" and old not in at.drivers())
        assert [image(at, driver) for driver in at.drivers()] == ["clicks:3"]


@by_the_clock
async def test_where_the_cluster_has_no_room_for_both_the_old_driver_ends_first():
    async with begin() as at:
        await started(at)
        at.world.full = {"node1", "node2", "node3"}
        at.apply(play.job(count=2, **NEW))
        await at.until(lambda: phase(at) == "Cancelled")
        assert "no room for both" in at.status()["handoff"]["message"]
        await at.until(lambda: len(at.drivers()) == 1 and at.drivers()[0].endswith("-3"))
        at.world.full = set()
        await at.until(at.ready)
        assert image(at, at.drivers()[0]) == "clicks:2"


@by_the_clock
async def test_where_both_cannot_have_the_same_volume_the_old_driver_ends_first():
    claim = {"volume": {"persistentVolumeClaim": {"claimName": "state"}}, "location": "/state/clicks"}
    async with begin() as at:
        old = await started(at, checkpoint=claim)
        at.world.for_one_node = {"state"}
        at.world.full = {node_of(at, old)}
        at.apply(play.job(count=2, checkpoint=claim, **NEW))
        await at.until(lambda: phase(at) == "Cancelled", within_s=90)
        assert "cannot mount state" in at.status()["handoff"]["message"]
        await at.until(lambda: at.drivers() not in ([], [old]) and old not in at.drivers() and at.ready())
        assert image(at, at.drivers()[0]) == "clicks:2"
        assert "givenUp" not in at.status()


@by_the_clock
async def test_recreate_ends_the_old_driver_first():
    async with begin() as at:
        await started(at, update={"strategy": "Recreate"})
        at.apply(play.job(count=2, update={"strategy": "Recreate"}, **NEW))
        await at.until(lambda: at.ready() and at.status()["driver"]["attempt"] == 2)
        await at.until(lambda: phase(at) == "Proving")
        handoff = at.status()["handoff"]
        assert (handoff["fromBatch"], handoff["toBatch"]) == (0, 1)
        assert events(at) == {"HandOverReplacing", "HandOverProving"}


@by_the_clock
async def test_a_job_suspended_in_the_midst_of_it_ends_both():
    async with begin() as at:
        await started(at)
        at.apply(play.job(count=2, **NEW))
        at.world.inside.never_warm.add(f"clicks-{await wanted(at)}-2")
        await at.until(lambda: len(at.drivers()) == 2)
        at.apply(play.job(count=2, suspend=True, **NEW))
        await at.until(lambda: at.status()["phase"] == "Suspended")
        assert at.drivers() == []
        assert phase(at) == "Cancelled"
        at.apply(play.job(count=2, **NEW))
        await at.until(at.ready)
        assert image(at, at.drivers()[0]) == "clicks:2"


@by_the_clock
async def test_an_old_driver_that_dies_meanwhile_is_followed_by_the_one_that_waits():
    async with begin() as at:
        old = await started(at)
        at.apply(play.job(count=2, **NEW))
        new = f"clicks-{await wanted(at)}-2"
        at.world.inside.never_warm.add(new)
        await at.until(lambda: new in at.drivers() and at.status()["queries"] != [])
        at.world.end(at.kube.get("Pod", play.TEAM, old), 1)
        await at.until(lambda: phase(at) == "Proving")
        assert at.drivers() == [new]


@by_the_clock
async def test_an_operator_killed_at_every_look_ends_where_an_undisturbed_one_does():
    async with begin() as at:
        old = await started(at)
        at.apply(play.job(count=2, **NEW))
        for _ in range(12):
            await at.restart(down_s=0.5)
            await at.later(0.5)
        await at.until(lambda: phase(at) == "Proving" and old not in at.drivers())
        await at.later(30)
        assert len(at.drivers()) == 1
        assert at.ready()


@by_the_clock
async def test_a_driver_whose_node_does_not_answer_is_followed_at_once_and_ends_when_it_is_back():
    async with begin() as at:
        old = await started(at)
        node = at.kube.get("Pod", play.TEAM, old)["spec"]["nodeName"]
        at.world.silence(node)
        await at.until(lambda: at.status()["driver"]["attempt"] == 2 and at.ready(), within_s=30)
        await at.until(lambda: [query.get("batch") for query in at.status()["queries"]] == [1], within_s=10)
        at.world.hear(node)
        await at.until(lambda: old not in at.drivers())
        assert len(at.drivers()) == 1
        assert at.ready()


@by_the_clock
async def test_a_driver_whose_node_is_cordoned_is_followed_by_one_elsewhere_and_nothing_stands_still():
    async with begin() as at:
        old = await started(at)
        ready = readiness(at)
        node = at.kube.get("Pod", play.TEAM, old)["spec"]["nodeName"]
        at.world.cordon(node)
        await at.until(lambda: phase(at) == "Proving" and at.drivers() != [old] and len(at.drivers()) == 1)
        (new,) = at.drivers()
        assert at.kube.get("Pod", play.TEAM, new)["spec"]["nodeName"] != node
        await at.until(lambda: set(at.executors().values()).isdisjoint({node}))
        assert set(ready) == {"True"}
