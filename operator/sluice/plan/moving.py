"""One executor of a job goes to another node, is watched there, and comes back if that did not help. For plan.life.

Moving: it is recorded, then plan.rolling replaces it as any other that is to go, and plan.destined sends what comes
instead to the node (in Real-Time Mode: a handover brings all of them anew). Watched: as many batches as were measured
before, then plan.judgement. A way back is not judged: it was undone once, and is left alone for a day. Pure.
"""

import dataclasses

from sluice.plan import changes, crew, handover, judgement, placed, restraint, retry_place, rolling, sampled, verdicts
from sluice.values import handoff, moves, records, traffic, views

_DEADLINE_S = 240.0  # to arrive: a roll that takes longer is called stuck
_HANDOVER_S = 1800.0  # the same by a handover
_LONGEST_S = 12 * 3600.0  # a stream with few batches is not judged after all
_WINDOW = 50  # batches that an agent tells of at least, once there were so many; a hundred at most
_AT_REST = ("Stopping", "Suspended", "Completed", "Failed")


def follow(view: views.JobView, verdict: verdicts.Verdict) -> verdicts.Verdict:
    """The verdict with what becomes of the move that is under way, or with one that begins."""
    record = moves.read(view.job.status)
    now = record.now
    if now is None:
        return _begun(view, verdict, record)
    if why := _void(view, verdict, now):
        return _over(view, verdict, record, moves.MISSED if now.phase == moves.MOVING else moves.UNJUDGED, why)
    return _arrive(view, verdict, record, now) if now.phase == moves.MOVING else _judge(view, verdict, record, now)


def by_handover(view: views.JobView, driver: records.Pod) -> str:
    """Why another driver is to take over now: in Real-Time Mode executors come and go with theirs alone."""
    now = moves.read(view.job.status).now
    if not view.job.spec.real_time or now is None or now.phase != moves.MOVING or now.driver != driver.name:
        return ""
    return f"{now.wish.executor} moves from {now.wish.source} to {now.wish.target}"


def _begun(view: views.JobView, verdict: verdicts.Verdict, record: moves.Record) -> verdicts.Verdict:
    wish = view.wish
    if wish is None or not _may_begin(view, verdict, wish) or restraint.holds(view.job, view.now_s):
        return verdict
    if (wish.source, wish.target) in restraint.left_alone(record, view.now_s):
        return verdict
    if view.job.spec.placement.mode == "Observe":
        past = moves.Past(view.now_s, view.now_s, wish.source, wish.target, moves.OBSERVED)
        what = f"would go from {wish.source} to {wish.target}, but placement.mode is Observe"
        return _noted(
            view, verdict, record, None, past, verdicts.Decision(view.now_s, "Move", wish.executor, what, wish.why)
        )
    now = _first(view, wish, verdict.driver.pod)
    what = f"goes from {wish.source} to {wish.target}"
    begun = _noted(
        view, verdict, record, now, None, verdicts.Decision(view.now_s, "Move", wish.executor, what, wish.why)
    )
    return dataclasses.replace(begun, look_again_s=0.0)


def _may_begin(view: views.JobView, verdict: verdicts.Verdict, wish: moves.Wish) -> bool:
    """All is as wanted, the driver does as it is told, and the executor is where the plan saw it."""
    driver = handover.pod(view, verdict.driver.pod)
    rests = verdict.phase == "Running" and verdict.ready and not (verdict.moves or verdict.stuck or verdict.told)
    if (
        driver is None
        or not rests
        or verdict.driver.revision != changes.revision(view.job)
        or _hands_over(view, verdict)
    ):
        return False
    there = sampled.numbered(view.pods, driver.name).values()
    is_there = any((pod.name, pod.node) == (wish.executor, wish.source) for pod in there)
    return is_there and len(there) == view.job.spec.executors.count and _obeys(view, driver)


def _obeys(view: views.JobView, driver: records.Pod) -> bool:
    """A roll works at once; a handover only where nothing keeps it from beginning."""
    by_roll = not view.job.spec.real_time
    can = by_roll or (view.job.spec.update.strategy == "Handover" and not handover.pause_s(view))
    return can and rolling.obeys(view, driver)


def _hands_over(view: views.JobView, verdict: verdicts.Verdict) -> bool:
    return (verdict.handoff or handoff.read(view.job.status)).on


def _void(view: views.JobView, verdict: verdicts.Verdict, now: moves.Move) -> str:
    """Why nothing can come of it any more; nothing as long as it can."""
    if verdict.phase in _AT_REST:
        return f"the job is {verdict.phase}"
    if view.job.status.get("revision") != changes.revision(view.job):
        return "the spec was changed"
    by_its_handover = view.job.spec.real_time and now.phase == moves.MOVING
    if verdict.driver.pod != now.driver and not by_its_handover:
        return f"{verdict.driver.pod} runs the job now"
    if now.phase == moves.WATCHED:
        return _disturbed(view, verdict, now)
    if view.job.spec.placement.mode != "Act":
        return f"placement.mode is {view.job.spec.placement.mode}"
    late_s = _HANDOVER_S if view.job.spec.real_time else _DEADLINE_S
    return f"it did not arrive within {late_s / 60:.0f} minutes" if view.now_s - now.since_s > late_s else ""


def _disturbed(view: views.JobView, verdict: verdicts.Verdict, now: moves.Move) -> str:
    """What makes before and after two different things."""
    if verdict.moves or (_hands_over(view, verdict) and not view.job.spec.real_time):
        return "other executors come or go"
    if now.replacement not in {pod.name for pod in view.pods if not (pod.over or pod.deleting)}:
        return f"{now.replacement} is gone"
    return "too few batches ended to judge it" if view.now_s - now.since_s > _LONGEST_S else ""


def _arrive(view: views.JobView, verdict: verdicts.Verdict, record: moves.Record, now: moves.Move) -> verdicts.Verdict:
    """Until its replacement works on the node and it is gone itself."""
    if view.job.spec.real_time:
        return _arrive_with_driver(view, verdict, record, now)
    present = [pod for pod in _executors(view, now.driver) if not (pod.over or pod.deleting)]
    new = [pod for pod in present if int(crew.number(pod)) > now.newest]
    there = [pod for pod in new if _home(pod) == now.wish.target]
    stays = any(pod.name == now.wish.executor for pod in present)
    if there and not stays and not verdict.moves and verdict.ready:
        return _arrived(view, verdict, record, now, there[-1].name)
    turned_away = now.wish.target in {one.node for one in retry_place.avoided(view)}
    elsewhere = bool(new) and not there and all(_home(pod) for pod in new)
    if turned_away or elsewhere or (not stays and not verdict.moves):
        return _over(view, verdict, record, moves.MISSED, f"{now.wish.target} did not take its replacement")
    return verdict


def _arrive_with_driver(
    view: views.JobView, verdict: verdicts.Verdict, record: moves.Record, now: moves.Move
) -> verdicts.Verdict:
    last = verdict.handoff or handoff.read(view.job.status)
    if verdict.driver.pod == now.driver:
        failed = last.phase == handoff.CANCELLED and last.since_s >= now.at_s
        return _over(view, verdict, record, moves.MISSED, last.message) if failed else verdict
    if last.before or last.phase == handoff.TAKING or not verdict.ready:
        return verdict
    crowd = sampled.numbered(view.pods, verdict.driver.pod)
    there = [pod.name for pod in crowd.values() if pod.node == now.wish.target]
    if not there:
        return _over(view, verdict, record, moves.MISSED, f"{now.wish.target} took none of the new executors")
    return _arrived(view, verdict, record, dataclasses.replace(now, driver=verdict.driver.pod), there[-1])


def _arrived(
    view: views.JobView, verdict: verdicts.Verdict, record: moves.Record, now: moves.Move, replacement: str
) -> verdicts.Verdict:
    if now.undoes:
        return _noted(view, verdict, record, None, _past(view, now, moves.UNDO), None)
    watched = dataclasses.replace(now, phase=moves.WATCHED, since_s=view.now_s, replacement=replacement)
    return _noted(view, verdict, record, watched, None, None)


def _judge(view: views.JobView, verdict: verdicts.Verdict, record: moves.Record, now: moves.Move) -> verdicts.Verdict:
    """Once as many batches have ended as were measured before, all of them since it arrived."""
    found = view.traffic
    if found is None or found.begins_s < now.since_s or _remembers(view, found, now.wish.executor):
        return verdict
    where = sampled.homes(sampled.numbered(view.pods, now.driver))
    peers = sampled.peers(found).get(now.replacement.rpartition("-")[2], {})
    after = sampled.measures(found, where, peers, now.wish.target)
    if after.batches < min(now.wish.before.batches, _WINDOW):
        return verdict
    is_better, why = judgement.helped(now.wish.before, after, real_time=view.job.spec.real_time)
    if is_better:
        decision = verdicts.Decision(view.now_s, "Keep", now.replacement, f"stays on {now.wish.target}", why)
        return _noted(view, verdict, record, None, _past(view, now, moves.BETTER), decision)
    return _undone(view, verdict, record, now, why)


def _remembers(view: views.JobView, found: traffic.Traffic, executor: str) -> bool:
    """Whether a batch is among them in which who left still worked; another driver's agent begins with nothing."""
    gone = executor.rpartition("-")[2]
    return not view.job.spec.real_time and any(gone in one.run_ms for one in found.queries)


def _undone(
    view: views.JobView, verdict: verdicts.Verdict, record: moves.Record, now: moves.Move, why: str
) -> verdicts.Verdict:
    """The way back, within the budget; what did not help is remembered with its first step."""
    back = moves.Wish(
        now.replacement, now.wish.target, now.wish.source, now.wish.cause, f"it did not help: {why}", now.wish.before
    )
    can = restraint.has_budget(view.job, record, view.now_s) and _may_begin(view, verdict, back)
    if not can or view.job.spec.placement.mode != "Act":
        return verdict
    way = dataclasses.replace(_first(view, back, now.driver), undoes=True)
    what = f"goes back from {back.source} to {back.target}"
    decision = verdicts.Decision(view.now_s, "Undo", back.executor, what, why)
    begun = _noted(view, verdict, record, way, _past(view, now, moves.UNDONE), decision)
    return dataclasses.replace(begun, look_again_s=0.0)


def _over(
    view: views.JobView, verdict: verdicts.Verdict, record: moves.Record, outcome: str, why: str
) -> verdicts.Verdict:
    """It came to nothing."""
    now = record.now
    assert now is not None
    who = now.replacement or now.wish.executor
    what = "is not judged" if outcome == moves.UNJUDGED else f"does not go to {now.wish.target}"
    decision = verdicts.Decision(view.now_s, "Abandon", who, what, why)
    ended = _noted(view, verdict, record, None, _past(view, now, moves.UNDO if now.undoes else outcome), decision)
    return dataclasses.replace(ended, look_again_s=0.0)


def _past(view: views.JobView, now: moves.Move, outcome: str) -> moves.Past:
    return moves.Past(now.at_s, view.now_s, now.wish.source, now.wish.target, outcome)


def _noted(
    view: views.JobView,
    verdict: verdicts.Verdict,
    record: moves.Record,
    now: moves.Move | None,
    past: moves.Past | None,
    decision: verdicts.Decision | None,
) -> verdicts.Verdict:
    """The verdict with another record."""
    kept = restraint.remembered((*record.past, *((past,) if past else ())), view.now_s)
    decisions = (*verdict.decisions, *((decision,) if decision else ()))
    return dataclasses.replace(verdict, moved=moves.Record(now, kept), decisions=decisions)


def _first(view: views.JobView, wish: moves.Wish, driver: str) -> moves.Move:
    newest = max(int(crew.number(pod)) for pod in _executors(view, driver))
    return moves.Move(wish, moves.MOVING, view.now_s, view.now_s, driver, newest)


def _executors(view: views.JobView, driver: str) -> list[records.Pod]:
    mine = (pod for pod in view.pods if pod.name.rpartition("-exec-")[0] == driver)
    return [pod for pod in mine if crew.number(pod).isdecimal()]


def _home(pod: records.Pod) -> str:
    """Where it is, or is sent."""
    place = placed.read(pod)
    return pod.node or (place.node if place else "")
